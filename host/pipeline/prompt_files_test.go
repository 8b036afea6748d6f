package pipeline_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// asking is a pipeline whose persona has its prompt in a file beside it.
const asking = `pipeline: p
personas:
  bulwark: {role: bench, alignment: bench, element: diamond, module: m, prompt_file: prompts/bench.md}
nodes:
  - {name: d, family: discover}
edges:
  - {id: E, from: d, to: _done, evaluator: always}
start: d
`

// Prompt files are read beside the pipeline, however its bytes were read.
func TestPromptFilesAreReadBesideThePipeline(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "p.yaml")
	write(t, path, asking)
	write(t, filepath.Join(dir, "prompts", "bench.md"), "Read the items.")
	for name, load := range map[string]func() (*pipeline.Definition, error){
		"Load":      func() (*pipeline.Definition, error) { return pipeline.Load(path) },
		"LoadFS":    func() (*pipeline.Definition, error) { return pipeline.LoadFS(os.DirFS(dir), "p.yaml") },
		"LoadBytes": func() (*pipeline.Definition, error) { return pipeline.LoadBytes(path, []byte(asking)) },
	} {
		def, err := load()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		check.Equal(t, def.Personas[0].Prompt, "Read the items.", name, "the prompt")
	}
	check.Fails(t, check.Err(pipeline.Parse(path, []byte(asking))), "where the pipeline lies is not known", "Parse")
}

func TestFaultsOfPromptFiles(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		`"prompts/bench.md" can't be read: no such file or directory [unreadable]`: "-",
		`"prompts/bench.md" is empty [missing]`:                                    "",
		`"prompts/bench.md" is not UTF-8 [encoding]`:                               "\xff",
		`"prompts/bench.md" is larger than 65536 bytes [too_large]`:                strings.Repeat("x", pipeline.MaxPromptBytes+1),
	} {
		path := filepath.Join(t.TempDir(), "p.yaml")
		if text != "-" {
			write(t, filepath.Join(filepath.Dir(path), "prompts", "bench.md"), text)
		}
		_, err := pipeline.LoadBytes(path, []byte(asking))
		if want = path + `:3:86: personas["bulwark"].prompt_file: ` + want; err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// A prompt that would fail each call of its module is a fault of the pipeline, with the lines of both files.
func TestFaultsWithinPrompts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p.yaml")
	prompt := filepath.Join(filepath.Dir(path), "prompts", "bench.md")
	write(t, prompt, "# system\nYou judge.\n\n# settings\nsamples: 65\nsample: 3\n\n# discovery\nRead {documentz}.\n# discover\nRead {documentz}.\n")
	text := strings.Replace(asking, "module: m,", "module: reader,", 1)
	_, err := pipeline.LoadBytes(path, []byte(text))
	var faults pipeline.Errors
	if !errors.As(err, &faults) || len(faults) != 5 {
		t.Fatal(err)
	}
	at := path + `:3:91: personas["bulwark"].prompt_file: prompts/bench.md:`
	for i, want := range []string{
		`5: the setting "samples: 65" makes no sense: samples is a whole number from 1 to 64 [bad_prompt]`,
		`6: unknown setting "sample: 3"; known are samples, temperature, answer_tokens, document_tokens [bad_prompt]`,
		`8: unknown section "discovery"; known are system, settings, indict, discover, defend, hearing, verdict [bad_prompt]`,
		`9: unknown placeholder {documentz}; known are `, `11: unknown placeholder {documentz}; known are `,
	} {
		if got := faults[i].Error(); !strings.HasPrefix(got, at+want) {
			t.Errorf("got %s\nwant %s", got, at+want)
		}
	}
	must.Get(pipeline.LoadBytes(path, []byte(asking)))(t, "a module with a format of its own")
	inline := strings.Replace(text, "prompt_file: prompts/bench.md", `prompt: "# settings\ntemperature: 5"`, 1)
	if _, err := pipeline.Parse(path, []byte(inline)); err == nil || !strings.HasPrefix(err.Error(), path+`:3:86: personas["bulwark"].prompt: line 2: the setting "temperature: 5"`) {
		t.Error(err)
	}
}

// A pipeline of somebody else sends no other file of this machine to a provider.
func TestPromptFilesStayWithinTheFolder(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "court")
	write(t, filepath.Join(top, "secret.md"), "a secret")
	write(t, filepath.Join(dir, "prompts", "bench.md"), "Read the items.")
	for link, to := range map[string]string{
		"link.md":  filepath.Join(top, "secret.md"),
		"up.md":    "../secret.md",
		"folder":   "..",
		"inner.md": "prompts/bench.md",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	path := filepath.Join(dir, "p.yaml")
	const remedy = ": write a path within the folder of the pipeline's file, such as prompts/reader.md [outside]"
	for file, want := range map[string]string{
		"prompts/bench.md":                 "",
		"prompts/../prompts/bench.md":      "",
		"inner.md":                         "",
		"../secret.md":                     `"../secret.md" leads out of the folder of the pipeline's file` + remedy,
		"prompts/../../court/../secret.md": `"prompts/../../court/../secret.md" leads out of the folder of the pipeline's file` + remedy,
		filepath.ToSlash(filepath.Join(top, "secret.md")): `" is an absolute path` + remedy,
		"/etc/passwd":      `"/etc/passwd" is an absolute path` + remedy,
		"link.md":          `"link.md" can't be read: a symbolic link leads out of the folder of the pipeline's file [outside]`,
		"up.md":            `"up.md" can't be read: a symbolic link leads out of the folder of the pipeline's file [outside]`,
		"folder/secret.md": `"folder/secret.md" can't be read: a symbolic link leads out of the folder of the pipeline's file [outside]`,
		"prompts":          `"prompts" can't be read: it is not a regular file [unreadable]`,
	} {
		text := strings.Replace(asking, "prompts/bench.md", file, 1)
		def, err := pipeline.LoadBytes(path, []byte(text))
		switch {
		case want == "" && (err != nil || def.Personas[0].Prompt != "Read the items."):
			t.Errorf("%s: %v", file, err)
		case want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)):
			t.Errorf("%s: got %v\nwant %s", file, err, want)
		}
	}
	write(t, path, strings.Replace(asking, "prompts/", "../", 1))
	write(t, filepath.Join(top, "bench.md"), "a secret")
	for name, load := range map[string]func() (*pipeline.Definition, error){
		"Load":   func() (*pipeline.Definition, error) { return pipeline.Load(path) },
		"LoadFS": func() (*pipeline.Definition, error) { return pipeline.LoadFS(os.DirFS(top), "court/p.yaml") },
	} {
		check.Fails(t, check.Err(load()), "leads out", name)
	}
}

// A definition whose prompts came from files can be validated again.
func TestAPromptFileIsReadOnce(t *testing.T) {
	t.Parallel()
	text := "pipeline: p\npersonas:\n  bulwark: {role: bench, alignment: bench, element: diamond, module: m, prompt_file: p.md}\n" +
		"nodes:\n  - {name: d, family: discover}\nedges:\n  - {id: E, from: d, to: _done, evaluator: always}\nstart: d\n"
	def := must.Get(pipeline.LoadFS(fstest.MapFS{"p.yaml": {Data: []byte(text)}, "p.md": {Data: []byte("Read.")}}, "p.yaml"))(t)
	if _, err := pipeline.NewGraph(def); err != nil || def.Personas[0].Prompt != "Read." {
		t.Errorf("%q: %v", def.Personas[0].Prompt, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}
