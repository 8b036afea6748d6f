//go:build !windows

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/publish/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

const (
	ciToken = "ghs_secret0123456789"
	ciBot   = "github-actions[bot]"
	// ciHostile means something to GitHub, to Markdown and to GitLab.
	ciHostile = "\n/close\n::set-output name=verdict::none\n```\n<!-- shadowcourt:alibi -->\n@everyone <img src=x> ${{ github.token }} $(id)\n"
)

// ciShop is a module in which a change breaks TestTotal. TestOld fails before and after it, and TestRain by chance.
func ciShop() (main, change, fixed map[string]string) {
	product := "package cart\n\nfunc Total(prices ...int) (sum int) { for _, p := range prices { sum += p }; return sum }\n"
	tests := `package cart

import ("math/rand/v2"; "os"; "testing")

func TestTotal(t *testing.T) {
	t.Run("of::error::<b>@all|three", func(t *testing.T) {
		if got := Total(1, 2); got != 3 {
			t.Errorf("Total is %d, want 3` + strings.NewReplacer("\n", `\n`, "`", "\\x60").Replace(ciHostile) + `", got)
		}
	})
}
func TestOld(t *testing.T) { t.Error("it was always so") }
func TestRain(t *testing.T) { if rand.IntN(2) == 0 || os.Getenv("WEATHER") == "bad" { t.Error("it rains") } }
`
	return map[string]string{"go.mod": goModule, "cart/cart.go": product, "cart/cart_test.go": tests},
		map[string]string{"cart/cart.go": strings.Replace(product, "range prices", "range prices[1:]", 1)},
		map[string]string{"cart/cart.go": product + "\n// Repaired.\n"}
}

// newJob is a job for the pull request of a checkout.
func newJob(t *testing.T, c *checkout, h *testkit.Host) *job {
	t.Helper()
	j := &job{a: readAction(t), workspace: c.dir, temp: t.TempDir(), bin: t.TempDir()}
	// The program is on the PATH: the tests built it.
	writeProgram(t, filepath.Join(j.bin, "make"), `echo "$@" > "`+j.file("made")+`"; for a; do case $a in GOBIN=*) mkdir -p "${a#GOBIN=}";; esac; done`)
	event := j.file("event.json")
	writeFiles(t, j.temp, map[string]string{"event.json": `{"pull_request": {"number": 1, "head": {"sha": "` + c.head + `"}}}`})
	j.env = map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": h.URL, "GITHUB_REPOSITORY": "acme/shop", "GITHUB_RUN_ID": "77",
		"GITHUB_REF": "refs/pull/1/merge", "GITHUB_BASE_REF": "main", "GITHUB_EVENT_PATH": event, "TOKEN": ciToken,
	}
	return j
}

func writeProgram(t *testing.T, name, script string) {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte("#!/bin/sh\nset -eu\n"+script+"\n"), 0o755))
}

// TestAccept_IG1_TheActionOnAPullRequest runs the steps of the action in a plain shell: one failure is the change's, one is flaky, one is older.
func TestAccept_IG1_TheActionOnAPullRequest(t *testing.T) {
	t.Parallel()
	tier.Long(t, "action.yml", "host/alibi", "host/experiment")
	main, change, fixed := ciShop()
	c := newCheckout(t, main, change, "Leave out the first ::warning::price <!-- shadowcourt:alibi --> @all\n\n/close")
	h := testkit.NewGitHub(t, ciBot, ciToken)
	h.NotMine = true
	const theirs = "I was here first\n<!-- shadowcourt:alibi -->"
	h.Add("mallory", theirs)
	j := newJob(t, c, h)
	step := func(inputs map[string]string, wantCode int, wantOutputs string) map[string]said {
		t.Helper()
		inputs["version"] = "source"
		code, outputs, printed := j.run(t, inputs)
		said := fmt.Sprintf("%s: yours %s, open %s, not yours %s: %s", outputs["verdict"], outputs["yours"], outputs["open"], outputs["not-yours"], outputs["conclusion"])
		if code != wantCode || said != wantOutputs {
			t.Errorf("code %d, want %d\n%s\n%s\n%v", code, wantCode, said, wantOutputs, printed)
		}
		return printed
	}
	comment := func(n int) string {
		t.Helper()
		all := h.Comments()
		if len(all) != n || all[0].Body != theirs {
			t.Fatalf("%d comments, want %d: %+v", len(all), n, all)
		}
		return all[n-1].Body
	}

	runShell(t, c.dir, "WEATHER=bad go test -json ./... > report.json || true", nil)
	printed := step(map[string]string{"reports": "report*.json"}, 3, "yours: yours 1, open 0, not yours 2: 1 failure is yours, 2 not yours, 0 open.")
	first, _, _ := strings.Cut(comment(2), "\n")
	if !strings.HasPrefix(first, "**1 failure is yours, 2 not yours, 0 open.**") {
		t.Errorf("the first line: %s", first)
	}
	checkBody(t, comment(2))
	body := comment(2)
	for _, want := range []string{"[run](<https://github.com/acme/shop/actions/runs/77>)", "Commit `" + c.head[:12] + "`"} {
		check.Contains(t, body, want, "the comment")
	}
	tree := git(t, c.dir, "git rev-parse 'HEAD^{tree}'")
	check.Equal(t, j.with["key"], "shadowcourt-Linux-X64-"+tree, "the cache", j.with)
	if results, err := filepath.Glob(filepath.Join(j.with["path"], "experiments", "*")); err != nil || len(results) == 0 {
		t.Errorf("the cache has no results of runs: %v", err)
	}
	if got := textOf(t, j.file("github_step_summary")); !strings.HasPrefix(got, first+"\n") || strings.Contains(got, "\n<!-- shadowcourt:alibi -->\n\n") {
		t.Errorf("summary:\n%s", got)
	}
	checkAnnotations(t, printed["Publish the answers"].out)

	// The change is repaired: the comment says so, and is no other.
	c.push(t, fixed, "Put the first price back")
	c.update(t)
	writeFiles(t, j.temp, map[string]string{"event.json": `{"pull_request": {"number": 1, "head": {"sha": "` + c.head + `"}}}`})
	step(map[string]string{"command": "go test -run 'TestTotal|TestOld' ./..."}, 0, "none: yours 0, open 0, not yours 1: No failure is yours, 1 not yours, 0 open.")
	if got := comment(2); !strings.HasPrefix(got, "**No failure is yours, 1 not yours, 0 open.**") || !strings.Contains(got, c.head[:12]) {
		t.Errorf("not updated:\n%s", got)
	}
	green := map[string]string{"command": "go test -run TestTotal ./...", "fail-on": "none"}
	step(green, 0, "none: yours 0, open 0, not yours 0: Nothing failed.")
	if got := comment(2); !strings.HasPrefix(got, "**Nothing failed.**") {
		t.Errorf("not updated:\n%s", got)
	}
	writes := len(h.Writes())
	step(green, 0, "none: yours 0, open 0, not yours 0: Nothing failed.")
	if now := h.Writes(); len(now) != writes {
		t.Errorf("an unchanged comment was sent again: %v", now[writes:])
	}
	check.Contains(t, textOf(t, j.file("made")), "install GOBIN="+j.file("shadowcourt/bin"), "built by make")
	nowhere(t, ciToken, printed, j.temp, c.dir)
}

// checkBody checks that nothing hostile in a comment is markup.
func checkBody(t *testing.T, body string) {
	t.Helper()
	if strings.Count(body, "\n<!-- shadowcourt:alibi -->") != 1 || !strings.HasSuffix(body, "\n<!-- shadowcourt:alibi -->") {
		t.Errorf("markers:\n%s", body)
	}
	prose := regexp.MustCompile("(?s)````+text\n.*?\n````+\n|```text\n.*?\n```\n|``[^`\n]+``|`[^`\n]+`").ReplaceAllString(strings.TrimSuffix(body, "<!-- shadowcourt:alibi -->"), "")
	check.Equal(t, regexp.MustCompile(`<!--|<img|<b>|@all|@everyone|\n/close`).FindString(prose), "", "live in", prose)
}

// checkAnnotations checks that each line is one annotation or none.
func checkAnnotations(t *testing.T, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "::error file=cart/cart_test.go,line=8,title=TestTotal/of%3A%3Aerror%3A%3A<b>@all|three%3A yours::") {
		t.Errorf("annotations:\n%s", text)
	}
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "::notice ") {
			t.Errorf("annotation: %s", line)
		}
	}
}

// nowhere checks that a secret is in nothing that was printed or written.
func nowhere(t *testing.T, secret string, printed map[string]said, folders ...string) {
	t.Helper()
	for step, r := range printed {
		if strings.Contains(r.out+r.errors, secret) {
			t.Errorf("%s prints the token", step)
		}
	}
	files := 0
	for _, folder := range folders {
		for _, name := range filesIn(t, folder) {
			files++
			if strings.Contains(readFile(t, name), secret) {
				t.Errorf("%s has the token", name)
			}
		}
	}
	if files < 10 {
		t.Errorf("only %d files were read", files)
	}
}

// TestAccept_IG1_StrictAndForks: a shallow clone is an error with strict; a token that may not write is one, too, and a warning without.
func TestAccept_IG1_StrictAndForks(t *testing.T) {
	t.Parallel()
	main, change, _ := ciShop()
	c := newCheckout(t, main, change, "Leave out the first price")
	h := testkit.NewGitHub(t, ciBot, ciToken)
	h.NotMine = true
	j := newJob(t, c, h)
	j.workspace = filepath.Join(t.TempDir(), "shallow")
	git(t, c.dir, "git clone -q --depth 1 file://"+c.remote+" "+j.workspace)
	code, outputs, printed := j.run(t, map[string]string{"command": "go test ./...", "strict": "true", "version": "source"})
	if said := printed["Ask whether the change did it"].errors; code != 2 || outputs["verdict"] != "" || !strings.Contains(said, "shallow") || len(h.Log()) > 0 {
		t.Errorf("code %d, %v, %v\n%s", code, outputs, h.Log(), said)
	}
	// A workflow_run publishes the document of a pull request from a fork.
	answers := filepath.Join(repositoryRoot(t), "internal", "render", "testdata", "answers.json")
	head := strings.Repeat("ab", 20)
	h.Pulls = map[string]string{"ann:change": head}
	writeFiles(t, j.temp, map[string]string{"event.json": `{"workflow_run": {"head_sha": "` + head + `", "head_branch": "change", "head_repository": {"owner": {"login": "ann"}},
		"html_url": "https://github.com/acme/shop/actions/runs/76", "pull_requests": []}}`})
	delete(j.env, "GITHUB_BASE_REF")
	j.env["GITHUB_REF"] = "refs/heads/main"
	// The folder has what the fork's artifact had: a repository whose missing objects git would fetch by a program of its own.
	ran := filepath.Join(t.TempDir(), "ran")
	j.workspace = t.TempDir()
	writeFiles(t, j.workspace, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": strings.Repeat("1f", 20) + "\n", ".git/objects/info/x": "",
		".git/config": "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = " + c.remote +
			"\n\tpromisor = true\n\tuploadpack = \"touch " + ran + "; false\"\n",
	})
	defer func() {
		if _, err := os.Stat(ran); err == nil {
			t.Error("a program of the artifact ran")
		}
	}()
	inputs := map[string]string{"answers": answers, "version": "source", "name": "windows"}
	if code, outputs, printed := j.run(t, inputs); code != 0 || outputs["verdict"] != "yours" {
		t.Errorf("code %d, %v\n%v", code, outputs, printed)
	}
	all := h.Comments()
	if len(all) != 1 || !strings.HasSuffix(all[0].Body, "[run](<https://github.com/acme/shop/actions/runs/76>), job windows\n\n<!-- shadowcourt:windows -->") {
		t.Fatalf("%+v", all)
	}
	h.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"message": "Resource not accessible by integration"}`)
		return true
	}
	inputs["name"] = "another"
	code, _, printed = j.run(t, inputs)
	said := printed["Publish the answers"].errors
	if code != 0 || !strings.Contains(said, "warning: comment on acme/shop#1: ") || !strings.Contains(said, "workflow_run") || !strings.Contains(printed["Publish the answers"].out, "::error ") {
		t.Errorf("code %d\n%s", code, said)
	}
	inputs["strict"] = "true"
	if code, _, printed := j.run(t, inputs); code != 1 || strings.Contains(printed["Publish the answers"].errors, "warning") {
		t.Errorf("strict: code %d\n%v", code, printed)
	}
}

// TestAccept_IG1_InputsAreNoCode: no text of a workflow's inputs gets into a script, and only the last steps see the token.
func TestAccept_IG1_InputsAreNoCode(t *testing.T) {
	t.Parallel()
	a := readAction(t)
	scripts := 0
	for i := range a.Runs.Steps {
		s := &a.Runs.Steps[i]
		if s.Run == "" {
			continue
		}
		scripts++
		if strings.Contains(s.Run, "${{") || !strings.HasPrefix(s.Run, "set -eu\n") && strings.Count(s.Run, "\n") > 3 || strings.Count(s.Run, "\n") > 18 || s.Shell != "bash" {
			t.Errorf("%s: put inputs into env, begin with set -eu, and be short:\n%s", s.Name, s.Run)
		}
		for name, value := range s.Env {
			if strings.Contains(value, "token") && s.ID != "publish" {
				t.Errorf("%s has the token as %s", s.Name, name)
			}
		}
	}
	if a.Runs.Using != "composite" || scripts != 5 {
		t.Errorf("%s with %d scripts", a.Runs.Using, scripts)
	}
	for name, in := range a.Inputs {
		used := false
		for i := range a.Runs.Steps {
			s := &a.Runs.Steps[i]
			used = used || strings.Contains(fmt.Sprint(s.Env, s.If, s.Dir), "inputs."+name)
		}
		if !used || in.Description == "" {
			t.Errorf("the input %s is not used, or not described", name)
		}
	}
}
