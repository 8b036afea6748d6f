package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestShippedDefinitions(t *testing.T) {
	t.Parallel()
	var names []string
	for _, d := range shippedRunners() {
		names = append(names, d.Name)
	}
	if diff := cmp.Diff(RunnerNames(), names); diff != "" || names[0] != goRunner {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

const sound = `name: mine
markers: [{file: mine.ini}]
programs: [mine]
tests:
  - alone: ["--one", "{name}"]
    order: ["--all"]
`

// TestLoad reads definitions of users.
func TestLoad(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mine.yaml")
	must.Do(t, os.WriteFile(file, []byte(sound), 0o600))
	if d, err := LoadDefinition(file); err != nil || d.Name != "mine" {
		t.Errorf("%+v, %v", d, err)
	}
	for name, want := range map[string]string{
		"mine":        `"mine" is neither a file nor a shipped runner (go, `,
		file + "x":    "no such file",
		"./mine.yaml": "no such file",
	} {
		if _, err := LoadDefinition(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestParseNamesEveryFault at once, with its place.
func TestParseNamesEveryFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{
			`my.yaml:1:1: the file is empty [syntax]`,
		}},
		{"unknown fields and wrong ones", sound + "shell: rm\nkeep: [../x, .git]\nprograms: [a/../../b]\n", []string{
			`my.yaml:7:1: shell: unknown key; known are allow, build, env, files, folders, install, installs, keep, markers, name, outcomes, programs, reports, seconds, tests, trace, version [unknown_key]`,
			`my.yaml:8:8: keep[0]: "../x": use a name or a pattern of names, without folders [out_of_range]`,
			`my.yaml:8:14: keep[1]: ".git": use a name or a pattern of names, without folders [out_of_range]`,
			`my.yaml:9:1: programs: "programs" was given in line 3 already [duplicate_key]`,
		}},
		{"an unknown field", sound + "shell: rm\nkeep: [../x, .git]\nreports: [/etc/passwd, \"{name}\"]\n", []string{
			`my.yaml:7:1: shell: unknown key; known are allow, build, env, files, folders, install, installs, keep, markers, name, outcomes, programs, reports, seconds, tests, trace, version [unknown_key]`,
			`my.yaml:8:8: keep[0]: "../x": use a name or a pattern of names, without folders [out_of_range]`,
			`my.yaml:8:14: keep[1]: ".git": use a name or a pattern of names, without folders [out_of_range]`,
			`my.yaml:9:11: reports[0]: "/etc/passwd": use {report}, or a pattern of paths within the project [out_of_range]`,
			`my.yaml:9:24: reports[1]: "{name}": use {report}, or a pattern of paths within the project [out_of_range]`,
		}},
		{"an unknown trace", sound + "trace: ruby\n", []string{`my.yaml:7:8: trace: "ruby": there are pytest jest vitest surefire gradle [out_of_range]`}},
		{"placeholders", "name: mine\nmarkers: [{file: a/b}]\nprograms: [-x]\ntests: [{name: '(?P<method>x)', alone: ['{method} {shell}'], order: []}]\n", []string{
			`my.yaml:2:18: markers[0].file: "a/b": use the name of a file, without folders [out_of_range]`,
			`my.yaml:3:12: programs[0]: "-x": use the name of a program, or its path within the project [out_of_range]`,
			`my.yaml:4:41: tests[0].alone[0]: unknown placeholder {shell} in "{method} {shell}": there are class, name, names, file, rest, folder, module, report, scratch, program, method [out_of_range]`,
			`my.yaml:4:69: tests[0].order: is missing [missing]`,
		}},
		{"an expression", strings.Replace(sound, "- alone", "- name: '('\n    alone", 1), []string{
			"my.yaml:5:11: tests[0].name: error parsing regexp: missing closing ): `(?m)(` [syntax]",
		}},
		{"the runner that is built in", strings.Replace(sound, "mine\n", "go\n", 1), []string{
			`my.yaml:1:7: name: "go" is built in [out_of_range]`,
		}},
		{"two definitions", sound + "---\n" + sound, []string{
			`my.yaml:7:1: a second document; a file holds one [syntax]`,
		}},
		{"no YAML", "a: [", []string{
			`my.yaml:1:1: not YAML: did not find expected node content [syntax]`,
		}},
		{"no YAML from its first line on", "a: b: c", []string{
			`my.yaml:1:1: not YAML: mapping values are not allowed in this context [syntax]`,
		}},
		{"a character", "name: m\nx: \x01", []string{
			`my.yaml:2:4: control character '\x01' is not allowed [encoding]`,
		}},
		{"an anchor", "name: m\nmarkers: *x", []string{
			`my.yaml:1:1: not YAML: unknown anchor 'x' referenced [syntax]`,
		}},
		{"values of wrong types", "install: x\nname: [x]\nmarkers: y\nprograms: {a: b}\nseconds: {start: z}\n", []string{
			`my.yaml:1:1: tests: is missing [missing]`,
			`my.yaml:2:7: name: want a text, not a list [wrong_type]`,
			`my.yaml:3:10: markers: want a list of markers, not the text "y" [wrong_type]`,
			`my.yaml:4:11: programs: want a list of texts, not a mapping [wrong_type]`,
			`my.yaml:5:18: seconds.start: want a number, not the text "z" [wrong_type]`,
		}},
		{"placeholders of a build, and of another form", strings.Replace(sound, "{name}", "{name|regex} {a} {b}", 1) + "build: [[x, '{file}', '{scratch}{x}']]\n", []string{
			`my.yaml:5:22: tests[0].alone[1]: unknown placeholder {a} in "{name|regex} {a} {b}": there are class, name, names, file, rest, folder, module, report, scratch, program [out_of_range]`,
			`my.yaml:5:22: tests[0].alone[1]: unknown placeholder {b} in "{name|regex} {a} {b}": there are class, name, names, file, rest, folder, module, report, scratch, program [out_of_range]`,
			`my.yaml:5:22: tests[0].alone[1]: unknown form {name|regex} in "{name|regex} {a} {b}": there are {name|regexp} and {name|titles} [out_of_range]`,
			`my.yaml:7:13: build[0][1]: unknown placeholder {file} in "{file}": there are scratch, program [out_of_range]`,
			`my.yaml:7:23: build[0][2]: unknown placeholder {x} in "{scratch}{x}": there are scratch, program [out_of_range]`,
		}},
		{"folders", sound + "folders: [{variable: A B, default: x}]\nenv: {A=B: '{project} {scratch} {x}'}\nfiles: {a/b: x}\nseconds: {start: -1}\nallow: ['-']\n", []string{
			`my.yaml:7:22: folders[0].variable: "A B" is no name of a variable [out_of_range]`,
			`my.yaml:7:36: folders[0].default: "x": use an absolute path, or one that begins with ~/ [out_of_range]`,
			`my.yaml:8:7: env["A=B"]: "A=B" is no name of a variable [out_of_range]`,
			`my.yaml:9:9: files["a/b"]: "a/b": use the name of a file, without folders [out_of_range]`,
			`my.yaml:10:10: seconds: use numbers from 0 to 3600 [out_of_range]`,
			`my.yaml:11:9: allow[0]: "-" is no name of a variable [out_of_range]`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseDefinition("my.yaml", []byte(c.text))
			if err == nil {
				t.Fatal("it was taken")
			}
			if diff := cmp.Diff(c.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzParse: whatever stands in a definition, it is taken or every fault names the file.
func FuzzParse(f *testing.F) {
	f.Add(sound)
	f.Add("name: go\ntests: [{alone: ['{x}']}]")
	f.Add("&a [*a, *a]")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDefinition("my.yaml", []byte(text))
		if err == nil {
			if d.Name == "" || len(d.Tests) == 0 || len(d.Programs) == 0 {
				t.Errorf("taken: %+v", d)
			}
			return
		}
		if !strings.HasPrefix(err.Error(), "my.yaml:") {
			t.Errorf("%v", err)
		}
	})
}
