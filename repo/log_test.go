package repo_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/repo"
)

// output runs git with an input and gives what it writes.
func output(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = gitEnv()
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// TestLineOfAHostileHistory: titles are what they are, names that git quotes are left out, and the program that shall check a signature does
// not run.
func TestLineOfAHostileHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, map[string]string{"a.go": "1"})
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	base := output(t, dir, "", "rev-parse", "HEAD")
	write(t, dir, map[string]string{"a.go": "2", "new\nline.go": "", `quo"te.go`: "", "é.go": ""})
	git(t, dir, "add", ".")
	title := "fake \x01" + base + "\x02 \t title \x1b[31m"
	git(t, dir, "commit", "-qm", title)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "config", "gpg.program", program)
	git(t, dir, "config", "log.showSignature", "true")
	second := output(t, dir, "", "rev-parse", "HEAD")
	signed := output(t, dir, "tree "+output(t, dir, "", "rev-parse", "HEAD^{tree}")+"\nparent "+second+"\nauthor a <a@example.com> 0 +0000\ncommitter a <a@example.com> 0 +0000\n"+
		"gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n", "hash-object", "-t", "commit", "-w", "--stdin")
	r := open(t, dir)
	first, list, err := r.Line(t.Context(), base, signed, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []repo.Commit{
		{ID: second, Author: list[0].Author, Title: title, Paths: []string{"a.go", "é.go"}},
		{ID: signed, Author: "a", Title: "signed"},
	}
	if diff := cmp.Diff(want, list); diff != "" || first != base {
		t.Errorf("from %s: (-want +got)\n%s", first, diff)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program of the configuration ran")
	}
	if _, _, err := r.Line(t.Context(), base, signed, 1); !errors.Is(err, repo.ErrLine) || !strings.Contains(err.Error(), "more than 1 from") {
		t.Errorf("got %v", err)
	}
	if _, err := repo.Bounded(r, t.Context(), 10, "log"); !errors.Is(err, repo.ErrTooLong) {
		t.Errorf("got %v", err)
	}
	if _, err := repo.Bounded(r, t.Context(), 1<<20, "log", base+"x"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

// TestLineOfAShallowClone says what to do.
func TestLineOfAShallowClone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	for _, text := range []string{"1", "2", "3", "4"} {
		write(t, dir, map[string]string{"a.go": text})
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-qm", text)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, "clone", "-q", "--depth", "2", "file://"+dir, clone)
	r := open(t, clone)
	if _, _, err := r.Line(t.Context(), "HEAD~3", "HEAD", 10); !errors.Is(err, repo.ErrRevision) || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf("got %v", err)
	}
	if _, list, err := r.Line(t.Context(), "HEAD~1", "HEAD", 10); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v", list, err)
	}
}

// TestAccept_IG1_LineOfAPullRequest: what GitHub checks out is one merge into the target, and the commits of the change are searched.
func TestAccept_IG1_LineOfAPullRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	commit := func(name string) string {
		write(t, dir, map[string]string{name: name})
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-qm", name)
		return output(t, dir, "", "rev-parse", "HEAD")
	}
	git(t, dir, "init", "-q", "-b", "main")
	fork := commit("fork")
	git(t, dir, "checkout", "-q", "-b", "change")
	one, two := commit("one"), commit("two")
	git(t, dir, "checkout", "-q", "main")
	target := commit("target")
	git(t, dir, "merge", "-q", "--no-ff", "-m", "Merge change into main", "change")
	merge := output(t, dir, "", "rev-parse", "HEAD")
	after := commit("after")
	r := open(t, dir)
	for _, tt := range []struct {
		name, base, head, first string
		want                    []string
	}{
		{"the merge alone", target, merge, fork, []string{one, two, merge}},
		{"the merge and more", target, after, target, []string{merge, after}},
		{"the change alone", fork, two, fork, []string{one, two}},
	} {
		first, list, err := r.Line(t.Context(), tt.base, tt.head, 10)
		var ids []string
		for i := range list {
			ids = append(ids, list[i].ID)
		}
		if diff := cmp.Diff(tt.want, ids); err != nil || diff != "" || first != tt.first {
			t.Errorf("%s: from %s, %v\n%s", tt.name, first, err, diff)
		}
	}
}
