package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// snapshot is a small repository with two branches, as a folder of snapshots has it, and the commits by their messages.
func snapshot(t *testing.T) (snapshots string, commits map[string]string) {
	t.Helper()
	snapshots, commits = t.TempDir(), map[string]string{}
	folder := filepath.Join(snapshots, "owner+name", "repo")
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(message string, files map[string]string) {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A")
		git("commit", "-qm", message)
		commits[message] = git("rev-parse", "HEAD")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	commit("one", map[string]string{"go.mod": "module example.com/p\n", "p.go": "package p\n\nfunc F() int { return 1 }\n", "p_test.go": "package p\n"})
	commit("two", map[string]string{"p.go": "package p\n\nfunc F() int { return 2 }\n", "ä b.txt": "text\n"})
	commit("three", map[string]string{"p_test.go": "package p\n\nvar x = F()\n"})
	git("checkout", "-q", "-b", "other", commits["two"])
	commit("apart", map[string]string{"q.go": "package p\n"})
	commit("both", map[string]string{"q.go": "package p\n\nconst q = 2\n", "q_test.go": "package p\n"})
	git("checkout", "-q", "main")
	// A snapshot is a git directory without a working tree.
	bare := filepath.Join(snapshots, "bare")
	git("clone", "-q", "--bare", folder, bare)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(bare, folder); err != nil {
		t.Fatal(err)
	}
	return snapshots, commits
}

// recipes are eleven trees: one for each way to make one, and mixtures of them.
func recipes(c map[string]string) []history.Tree {
	take := history.Step{Take: c["one"], Paths: []string{"p.go", "ä b.txt"}}
	pick, merge := history.Step{Pick: c["apart"]}, history.Step{Merge: c["apart"]}
	plain := func(name string, steps ...history.Step) history.Tree {
		return history.Tree{Start: c[name], Steps: steps}
	}
	return []history.Tree{
		plain("one"), plain("three"), plain("three", take), plain("three", pick), plain("three", merge), plain("apart", history.Step{Pick: c["three"]}),
		plain("three", take, pick), plain("three", pick, take), plain("three", merge, take), plain("one", history.Step{Take: c["three"], Paths: []string{"p_test.go"}}),
		plain("apart", history.Step{Pick: c["both"], Paths: []string{"q.go"}}),
	}
}

// TestAccept_RH1_TreesBecomeTheSameCommits: trees are made again from a snapshot, in another folder, with equal ids; what became
// otherwise, and what can't be made, is told.
func TestAccept_RH1_TreesBecomeTheSameCommits(t *testing.T) {
	t.Parallel()
	snapshots, commits := snapshot(t)
	first, err := history.OpenRepository(t.Context(), (&folders{snapshots: snapshots}).snapshot("owner/name"), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	repo := history.Repo{Name: "owner/name", Half: history.Learning}
	seen := map[string]bool{}
	for i, tree := range recipes(commits) {
		if tree.Commit, err = first.Make(t.Context(), &tree); err != nil {
			t.Fatalf("tree %d: %v", i, err)
		}
		seen[tree.Commit] = true
		one := saved(t, "owner/name", i, history.Environment, history.Surroundings, "time zone", "PPPPPPPPPP", "PPPPPPPPPP")
		one.Planted, one.Trees = true, map[history.Role]history.Tree{history.Base: {Start: commits["one"], Commit: commits["one"]}, history.Head: tree}
		one.ID = "owner/name/environment/" + string(rune('a'+i))
		repo.Cases = append(repo.Cases, one)
	}
	if len(seen) < 9 {
		t.Errorf("only %d different trees", len(seen))
	}
	part := repo.Cases[10].Trees[history.Head].Commit
	if files, err := first.Git(t.Context(), "diff", "--name-only", commits["apart"], part); err != nil || files != "q.go\n" {
		t.Errorf("a part of a change, made again, changes %q, %v", files, err)
	}
	saved := t.TempDir()
	again := func() (string, error) {
		if err := history.Save(saved, &repo); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := rebuild(context.WithoutCancel(t.Context()), []string{"-snapshots", snapshots, "-saved", saved, "-work", t.TempDir()}, &out)
		return out.String(), err
	}
	if out, err := again(); err != nil || !strings.HasPrefix(out, "owner/name: 22 trees of 11 cases\n22 trees of 11 cases in 1 repositories: all ") {
		t.Errorf("made again: %q, %v", out, err)
	}

	wrong, gone := repo.Cases[2].Trees[history.Head], repo.Cases[4].Trees[history.Head]
	wrong.Steps[0].Paths, gone.Start = []string{"p.go"}, strings.Repeat("1", 40)
	repo.Cases[2].Trees[history.Head], repo.Cases[4].Trees[history.Head] = wrong, gone
	out, err := again()
	if err == nil || !strings.HasPrefix(out, "owner/name: 20 trees") {
		t.Fatalf("a recipe that was changed is taken: %q", out)
	}
	for _, part := range []string{"/c: head: the tree became commit ", "/e: head: step 1: git merge-tree"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}
