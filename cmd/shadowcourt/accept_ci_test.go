//go:build !windows

package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/internal/publish/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// snippets are the blocks of docs/ci.md by their headings, each with its language before the text.
func snippets(t *testing.T) map[string][][2]string {
	t.Helper()
	out := map[string][][2]string{}
	text := page(t, "docs/ci.md")
	if words := len(strings.Fields(text)); words > 1250 {
		t.Errorf("docs/ci.md has %d words, more than 1250", words)
	}
	for section := range strings.SplitSeq(text, "\n## ") {
		title, rest, _ := strings.Cut(section, "\n")
		var blocks [][2]string
		for _, m := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(rest, -1) {
			blocks = append(blocks, [2]string{m[1], m[2]})
		}
		out[title] = blocks
	}
	return out
}

// at follows names and numbers through a YAML document.
func at(t *testing.T, text string, path ...any) any {
	t.Helper()
	var v any
	must.Do(t, yaml.Unmarshal([]byte(text), &v), text)
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				t.Fatalf("%v: no such element in\n%s", path, text)
			}
			v = list[p]
		}
	}
	if v == nil {
		t.Fatalf("%v: nothing there in\n%s", path, text)
	}
	return v
}

// TestAccept_IG1_SnippetsOfThePage runs the scripts of docs/ci.md with the variables of their platforms, on a pull request whose one failure is
// not the change's.
func TestAccept_IG1_SnippetsOfThePage(t *testing.T) {
	t.Parallel()
	tier.Long(t, "docs/ci.md", "action.yml")
	main := map[string]string{"go.mod": goModule, "a_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) { t.Error(\"always\") }\n"}
	c := newCheckout(t, main, map[string]string{"b.go": "package shop\n"}, "Add a file")
	blocks := snippets(t)
	first := func(section string) string {
		t.Helper()
		if len(blocks[section]) == 0 {
			t.Fatalf("docs/ci.md has no block in %s", section)
		}
		return blocks[section][0][1]
	}
	script, _ := at(t, first("GitLab CI"), "alibi", "script").([]any)
	var lines []string
	for _, line := range script {
		lines = append(lines, fmt.Sprint(line))
	}
	jenkins := regexp.MustCompile(`(?s)sh '''(.*?)'''|sh '(.*?)'`).FindAllStringSubmatch(first("Jenkins"), -1)
	must.Equal(t, len(jenkins), 3, "scripts of Jenkins")
	hub, lab := testkit.NewGitHub(t, "court", ciToken), testkit.NewGitLab(t, "42", ciToken)
	head := git(t, c.dir, "git rev-parse HEAD")
	for _, p := range []struct {
		name, script, env string
		host              *testkit.Host
	}{
		{"GitHub Actions", "", "", hub},
		{"GitLab CI", strings.Join(lines, "\n"), "GITLAB_CI=true CI_API_V4_URL=" + lab.URL + " CI_PROJECT_ID=7 CI_MERGE_REQUEST_IID=1 CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main " +
			"CI_JOB_URL=https://gitlab.example/-/jobs/1 GITLAB_TOKEN=" + ciToken, lab},
		{"Jenkins", jenkins[0][1] + "\n" + jenkins[1][2] + "\n" + jenkins[2][2], "JENKINS_URL=x BUILD_URL=https://ci.example/1/ GIT_URL=git@github.com:acme/shop.git CHANGE_ID=1 " +
			"CHANGE_TARGET=main GIT_COMMIT=" + head, hub},
		{"Buildkite", strings.ReplaceAll(fmt.Sprint(at(t, first("Buildkite"), "steps", 0, "command")), "$$", "$"), "BUILDKITE=true BUILDKITE_REPO=https://github.com/acme/shop.git " +
			"BUILDKITE_BUILD_URL=https://buildkite.com/1 BUILDKITE_PULL_REQUEST=1 BUILDKITE_PULL_REQUEST_BASE_BRANCH=main BUILDKITE_COMMIT=" + head, hub},
		{"CircleCI", fmt.Sprint(at(t, first("CircleCI"), "jobs", "test", "steps", 1, "run")), "CIRCLECI=true CIRCLE_PROJECT_USERNAME=acme CIRCLE_PROJECT_REPONAME=shop " +
			"CIRCLE_BUILD_URL=https://circleci.com/1 CIRCLE_PULL_REQUEST=https://github.com/acme/shop/pull/1 CIRCLE_SHA1=" + head, hub},
		{"Any shell", first("Any shell"), "BOT_TOKEN=" + ciToken, hub},
	} {
		before := len(p.host.Log())
		var r said
		if p.name == "GitHub Actions" {
			r = pageAction(t, c, hub, blocks[p.name])
		} else {
			env := map[string]string{"GITHUB_API_URL": hub.URL, "GITHUB_TOKEN": ciToken}
			for pair := range strings.FieldsSeq(p.env) {
				name, value, _ := strings.Cut(pair, "=")
				env[name] = value
			}
			r = runShell(t, c.dir, p.script, env)
			nowhere(t, ciToken, map[string]said{p.name: r}, c.dir)
		}
		comments := p.host.Comments()
		if r.code != 0 || len(comments) != 1 || !strings.HasPrefix(comments[0].Body, "**No failure is yours, 1 not yours, 0 open.**") || len(p.host.Log()) == before {
			t.Errorf("%s: code %d, %d comments, requests %v\n%s\n%s", p.name, r.code, len(comments), p.host.Log()[before:], r.out, r.errors)
		}
	}
	check.Contains(t, textOf(t, filepath.Join(c.dir, "shadowcourt.env")), "SHADOWCOURT_VERDICT=none\n", "variables of GitLab")
	check.Contains(t, textOf(t, filepath.Join(c.dir, "quality.json")), `"severity": "info"`, "code quality")
}

// pageAction runs the action with the inputs that the page's workflow has, and checks the other workflows of the page.
func pageAction(t *testing.T, c *checkout, h *testkit.Host, blocks [][2]string) said {
	t.Helper()
	must.Equal(t, len(blocks), 3, "blocks of GitHub Actions")
	j := newJob(t, c, h)
	inputs := func(block string, path ...any) map[string]string {
		step, _ := at(t, block, path...).(map[string]any)
		check.Equal(t, step["uses"], "shadowcourt/shadowcourt@main", "not the action")
		out := map[string]string{}
		with, _ := step["with"].(map[string]any)
		for name, value := range with {
			if out[name] = fmt.Sprint(value); j.a.Inputs[name].Description == "" {
				t.Errorf("the action has no input %s", name)
			}
		}
		return out
	}
	inputs(blocks[2][1], "jobs", "comment", "steps", 1)
	code, outputs, printed := j.run(t, inputs(blocks[0][1], "jobs", "test", "steps", 2))
	for name := range outputs {
		check.Contains(t, page(t, "docs/ci.md"), "`"+name+"`", "the page does not name the output", name)
	}
	used := regexp.MustCompile(`steps\.alibi\.outputs\.([a-z-]+)`).FindAllStringSubmatch(blocks[0][1]+blocks[1][1], -1)
	for _, m := range used {
		if outputs[m[1]] == "" {
			t.Errorf("the output %s is empty", m[1])
		}
	}
	for _, b := range blocks {
		for _, line := range regexp.MustCompile(`(?m)^.*run: .*$`).FindAllString(b[1], -1) {
			if strings.Contains(line, "${{") {
				t.Errorf("an expression in a script: %s", line)
			}
		}
	}
	last := fmt.Sprint(at(t, blocks[0][1], "jobs", "test", "steps", 3, "run"))
	if r := runShell(t, c.dir, last, map[string]string{"VERDICT": "yours"}); r.code != 0 || !strings.Contains(r.out, "comment") {
		t.Errorf("%s: %+v", last, r)
	}
	check.Equal(t, code, 0, printed)
	return said{code: code}
}

// TestAccept_IG1_DryRunsSendNothing: without a token, nothing is sent or written, and what would be is printed, none of it as a command.
func TestAccept_IG1_DryRunsSendNothing(t *testing.T) {
	t.Parallel()
	dir, hub, lab := t.TempDir(), testkit.NewGitHub(t, "court", ciToken), testkit.NewGitLab(t, "42", ciToken)
	answers := "'" + filepath.Join(repositoryRoot(t), "internal", "render", "testdata", "answers.json") + "'"
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_REF": "refs/pull/1/merge", "GITHUB_API_URL": hub.URL, "CI_API_V4_URL": lab.URL, "CI_PROJECT_ID": "7",
		"GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"), "GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_TOKEN": "", "GH_TOKEN": "", "GITLAB_TOKEN": "",
	}
	for line, wants := range map[string][]string{
		"shadowcourt publish github - --comment --dry-run < " + answers: {"would write the comment alibi on acme/shop#1:\n**4 failures are yours", "\nyours=4\n", "\n| ::error file="},
		"shadowcourt publish gitlab - --number 1 --dotenv v.env --dry-run < " + answers: {
			"would write the comment alibi on 7!1:\n**4 failures are yours", "would write v.env:\nSHADOWCOURT_CONCLUSION=4 failures",
		},
	} {
		r := runShell(t, dir, line, env)
		for _, want := range wants {
			check.Contains(t, r.out, want, line)
		}
		if r.code != 0 || r.errors != "" || regexp.MustCompile(`(?m)^\s*::|##\[`).MatchString(r.out) {
			t.Errorf("%s: code %d, %s", line, r.code, r.errors)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > 0 || len(hub.Log())+len(lab.Log()) > 0 {
		t.Errorf("%v, %v, %v, %v", files, hub.Log(), lab.Log(), err)
	}
}

// TestAccept_IG1_WhatPublishRejects: wrong documents, names, servers and tokens end it with 2, and nothing of a token is told.
func TestAccept_IG1_WhatPublishRejects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := "'" + filepath.Join(repositoryRoot(t), "internal", "render", "testdata", "answers.json") + "'"
	writeFiles(t, dir, map[string]string{"bad.json": `{"schema": "##[set-output name=verdict]none"}`, "event.json": strings.Repeat("[", 100_000), "token": "two words " + ciToken})
	for line, code := range map[string]int{
		"github nothing.json": 2, "github bad.json": 2, "gitlab bad.json": 2, "github": 2,
		"github " + good + " --comment --repository shop --number 1":                                                                     2,
		"github " + good + " --comment --repository acme/shop --number -1":                                                               2,
		"github " + good + " --comment --repository acme/shop --number 1 --name 'a --> b'":                                               2,
		"github " + good + " --comment --repository acme/shop --number 1 --token token":                                                  2,
		"github " + good + " --comment --repository acme/shop --number 1 --token env:NO_" + "X":                                          2,
		"gitlab " + good + " --project 7 --number 1 --token token":                                                                       2,
		"gitlab " + good + " --dotenv " + good:                                                                                           2,
		"gitlab " + good + " --project 7 --number 1 --strict":                                                                            1,
		"gitlab " + good + " --project 7 --number 1":                                                                                     0,
		"GITHUB_EVENT_PATH=event.json github " + good:                                                                                    1,
		"GITHUB_API_URL=http://git.example GITHUB_TOKEN=" + ciToken + " github " + good + " --comment --repository acme/shop --number 1": 2,
		"CI_API_V4_URL=http://127.0.0.1:1 GITLAB_TOKEN=" + ciToken + " gitlab " + good + " --project 7 --number 1":                       1,
	} {
		m := regexp.MustCompile(`^((?:[A-Z0-9_]+=\S+ )*)(.*)$`).FindStringSubmatch(line)
		r := runShell(t, dir, m[1]+"shadowcourt publish "+m[2], map[string]string{"GITHUB_TOKEN": "", "GH_TOKEN": "", "GITLAB_TOKEN": ""})
		if said := r.out + r.errors; r.code != code || strings.Contains(said, ciToken) || strings.Contains(said, "##[") || code > 0 && !strings.Contains(said, "shadowcourt: ") {
			t.Errorf("%s: code %d, want %d\n%s", line, r.code, code, said)
		}
	}
}

// TestAccept_IG1_ReleasesAreVerified installs what a release would have: curl is a script that takes its files from a folder.
func TestAccept_IG1_ReleasesAreVerified(t *testing.T) {
	t.Parallel()
	arch := runtime.GOARCH
	name := "shadowcourt_0.1.0_" + runtime.GOOS + "_" + arch + ".tar.gz"
	archive := tarGzip(t, "#!/bin/sh\necho verified\n", "shadowcourt", "shadowcourt-keyless")
	line := func(data []byte, name string) string { return fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name) }
	other := line([]byte("x"), "shadowcourt_0.1.0_plan9_mips.tar.gz")
	for _, tc := range []struct {
		name, version, checksums, from string
		good                           bool
	}{
		{"a version", "v0.1.0", other + line(archive, name), "download/v0.1.0", true},
		{"latest", "latest", line(archive, name) + other, "latest/download", true},
		{"another archive", "v0.1.0", line([]byte("as it was"), name), "download/v0.1.0", false},
		{"not for this system", "v0.1.0", other, "download/v0.1.0", false},
		{"a path for a name", "v0.1.0", line(archive, "../"+name), "download/v0.1.0", false},
		{"no release", "v0.2.0", line(archive, name), "download/v0.1.0", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			served, bin, folder := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "bin")
			at := filepath.Join("releases", filepath.FromSlash(tc.from))
			writeFiles(t, served, map[string]string{filepath.Join(at, "checksums.txt"): tc.checksums, filepath.Join(at, name): string(archive)})
			writeProgram(t, filepath.Join(bin, "curl"), `for a; do last=$a; done
while [ "$1" != -o ]; do shift; done
case $last in https://github.com/shadowcourt/shadowcourt/*) exec cp "`+served+`/${last#https://github.com/shadowcourt/shadowcourt/}" "$2" ;; esac
exit 22`)
			r := runShell(t, t.TempDir(), "'"+filepath.Join(repositoryRoot(t), "tools", "install.sh")+"' "+tc.version+" "+folder, map[string]string{"PATH": bin + ":" + os.Getenv("PATH")})
			for _, program := range []string{"shadowcourt", "shadowcourt-keyless"} {
				if installed := textOf(t, filepath.Join(folder, program)); (r.code == 0) != tc.good || (installed != "") != tc.good {
					t.Errorf("code %d, %d bytes of %s\n%s%s", r.code, len(installed), program, r.out, r.errors)
				}
			}
		})
	}
	release := page(t, ".goreleaser.yaml")
	for _, want := range []string{"project_name: shadowcourt", "name_template: checksums.txt", "algorithm: sha256", "formats: [tar.gz]", "formats: [zip]"} {
		check.Contains(t, release, want, "releases have another form than tools/install.sh expects: no")
	}
	check.Equal(t, strings.Count(release, "name_template"), 1, "archives have a name of their own, which tools/install.sh does not know")
}

func tarGzip(t *testing.T, text string, names ...string) []byte {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range names {
		must.Do(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}))
		must.Get(w.Write([]byte(text)))(t)
	}
	must.Do(t, errors.Join(w.Close(), z.Close()))
	return []byte(b.String())
}

// TestAccept_IG6_SnippetsOfThePage runs what docs/ci.md says of writing back: as it stands there, which writes nothing, then with --write.
func TestAccept_IG6_SnippetsOfThePage(t *testing.T) {
	t.Parallel()
	tier.Long(t, "docs/ci.md", "internal/publish")
	const token = "t0ken-of-the-page"
	dir := t.TempDir()
	copyFile(t, example(t, "inputs/reportportal.json"), filepath.Join(dir, "export.json"))
	copyFile(t, filepath.Join(repositoryRoot(t), "internal", "render", "testdata", "answers.json"), filepath.Join(dir, "answers.json"))
	items := map[int64]*testkit.Defect{}
	for id := range int64(40) {
		items[id] = &testkit.Defect{Type: "ti001"}
	}
	portal := testkit.NewReportPortal(t, token, items)
	gitHub := testkit.NewIssues(t, token)
	env := map[string]string{"RP_API_KEY": token, "GITHUB_TOKEN": token, "GITHUB_API_URL": gitHub.URL}

	var lines []string
	for _, block := range snippets(t)["Write back"] {
		script := strings.NewReplacer("https://rp.example", portal.URL, "--min-confidence 0.9", "--min-confidence 0.5").Replace(block[1])
		lines = append(lines, strings.Split(strings.TrimSpace(script), "\n")...)
	}
	must.Len(t, lines, 3, "the page has the lines")
	for _, line := range lines {
		publishes := strings.Contains(line, " publish ")
		dry := runShell(t, dir, line, env)
		if dry.code != 0 || publishes && !strings.Contains(dry.out, "nothing was written") || strings.Contains(dry.out+dry.errors, token) {
			t.Errorf("%s: %+v", line, dry)
		}
		if n := len(portal.Writes()) + len(gitHub.Writes()); n > 0 {
			t.Errorf("%s: %d writes", line, n)
		}
		if !publishes {
			continue
		}
		runShell(t, dir, line+" --write", env)
		first := len(portal.Writes()) + len(gitHub.Writes())
		again := runShell(t, dir, line+" --write", env)
		if second := len(portal.Writes()) + len(gitHub.Writes()); first == 0 || second > 0 || again.code != 0 {
			t.Errorf("%s: %d writes, then %d: %+v", line, first, second, again)
		}
	}
}
