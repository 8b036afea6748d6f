package repo_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/repo"
)

// TestFindBase: the base of a change in every place where one is made.
func TestFindBase(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	must.Git(t, top, "init", "-q", "-b", "main")
	commit := func(name string) string {
		must.Write(t, top, map[string]string{name + ".go": "package " + name + "\n"})
		must.Git(t, top, "add", ".")
		must.Git(t, top, "commit", "-qm", name)
		return output(t, top, "", "rev-parse", "HEAD")
	}
	variables := map[string]string{}
	find := func(dir string) (repo.Base, error) {
		r, err := repo.Open(t.Context(), dir)
		if err != nil {
			return repo.Base{}, err
		}
		return r.FindBase(t.Context(), func(name string) string { return variables[name] })
	}
	check := func(what, dir, commit, why string) {
		t.Helper()
		base, err := find(dir)
		if err != nil || base.Commit != commit || !strings.HasPrefix(base.Why, why) {
			t.Errorf("%s: %+v, %v; expected %.12s, %s", what, base, err, commit, why)
		}
	}
	one := commit("one")
	if _, err := find(top); !errors.Is(err, repo.ErrNoBase) || !strings.Contains(err.Error(), "first commit") {
		t.Errorf("of the first commit: %v", err)
	}
	two := commit("two")
	check("a commit on the default branch", top, one, "the commit before HEAD")
	must.Write(t, top, map[string]string{"two.go": "package two\n\nvar x = 1\n"})
	check("uncommitted changes there", top, two, "HEAD, since there are changes that are not committed")
	must.Git(t, top, "checkout", "-q", "two.go")

	must.Git(t, top, "checkout", "-q", "-b", "topic")
	topic := commit("three")
	check("a branch", top, two, "merge base of HEAD and main")
	must.Write(t, top, map[string]string{"three.go": "package three\n\nvar x = 1\n"})
	check("a branch with uncommitted changes", top, two, "merge base of HEAD and main")
	must.Git(t, top, "checkout", "-q", "three.go")
	must.Git(t, top, "checkout", "-q", "-b", "stacked")
	commit("four")
	must.Git(t, top, "branch", "-q", "--set-upstream-to", "topic")
	check("a branch on a branch", top, topic, "merge base of HEAD and topic")

	// What a server has: a clone with the branches of its remote, and the merge that GitHub checks out.
	must.Git(t, top, "checkout", "-q", "main")
	tip := commit("five")
	clone := filepath.Join(t.TempDir(), "clone")
	must.Git(t, filepath.Dir(clone), "clone", "-q", top, "clone")
	must.Git(t, clone, "checkout", "-q", "--detach", tip)
	must.Git(t, clone, "merge", "-q", "--no-edit", "origin/topic")
	variables["GITHUB_BASE_REF"] = "main"
	check("GitHub", clone, tip, "merge base of HEAD and origin/main (GITHUB_BASE_REF)")
	must.Git(t, clone, "checkout", "-q", "--detach", "origin/stacked")
	variables["GITHUB_BASE_REF"] = "topic"
	check("GitHub, another target", clone, topic, "merge base of HEAD and origin/topic (GITHUB_BASE_REF)")
	variables["GITHUB_BASE_REF"] = "gone"
	if _, err := find(clone); !errors.Is(err, repo.ErrNoBase) || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf("a target that is not there: %v", err)
	}
	clear(variables)
	variables["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = two
	check("GitLab", clone, two, "merge base of HEAD and "+two[:12]+" (CI_MERGE_REQUEST_DIFF_BASE_SHA)")
	clear(variables)
	variables["TRAVIS_BRANCH"], variables["TRAVIS_PULL_REQUEST"] = "topic", "false"
	check("no pull request, and a HEAD that is no branch", clone, two, "merge base of HEAD and origin/main")
	variables["TRAVIS_PULL_REQUEST"] = "7"
	check("Travis", clone, topic, "merge base of HEAD and origin/topic (TRAVIS_BRANCH)")
	clear(variables)

	shallow := filepath.Join(t.TempDir(), "shallow")
	must.Git(t, filepath.Dir(shallow), "clone", "-q", "--depth", "1", "--no-single-branch", "--branch", "stacked", "file://"+filepath.ToSlash(top), "shallow")
	if _, err := find(shallow); !errors.Is(err, repo.ErrNoBase) || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf("a shallow clone: %v", err)
	}
	if _, err := find(t.TempDir()); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("no repository: %v", err)
	}
}

// TestFileAt: a file of a revision is what was committed; what is no regular file, or too large, is not read.
func TestFileAt(t *testing.T) {
	t.Parallel()
	r := open(t, repository(t))
	check.Equal(t, string(must.Get(r.FileAt(t.Context(), "green", "cart.go", 13))(t)), "green product")
	for name, want := range map[string]error{"cart.go": repo.ErrTooLarge, "link.go": fs.ErrNotExist, "sub": fs.ErrNotExist, "none.go": fs.ErrNotExist, "../x": fs.ErrNotExist} {
		if got, err := r.FileAt(t.Context(), "green", name, 12); !errors.Is(err, want) {
			t.Errorf("%s: got %q, %v; want %v", name, got, err, want)
		}
	}
	check.Is(t, check.Err(r.FileAt(t.Context(), "nosuch", "cart.go", 12)), repo.ErrRevision)
}

// TestAccept_EX5_Clones: clones as continuous integration has them give the same changes, or say in one line what to do.
func TestAccept_EX5_Clones(t *testing.T) {
	t.Parallel()
	git, top, dir := checkout(t)
	first := git("rev-parse", "HEAD")
	must.Write(t, dir, map[string]string{"bank/ledger.go": strings.Replace(bank, "n < 0", "n <= 0", 1)})
	git("commit", "-qam", "second")
	git("config", "uploadpack.allowFilter", "true")
	git("config", "protocol.file.allow", "always")
	other := t.TempDir()
	url := "file://" + filepath.ToSlash(top)
	gitIn(t, other)("clone", "-q", "--depth", "1", url, "shallow")
	gitIn(t, other)("clone", "-q", "--filter=blob:none", url, "partial")
	gitIn(t, other)("clone", "-q", "--shared", top, "alternates")
	gitIn(t, other)("clone", "-q", "--no-checkout", top, "sparse")
	gitIn(t, filepath.Join(other, "sparse"))("sparse-checkout", "set", "--cone", "checkout/shop")
	gitIn(t, filepath.Join(other, "sparse"))("checkout", "-q", "main")
	gitIn(t, other)("init", "-q", "-b", "main", "super")
	gitIn(t, filepath.Join(other, "super"))("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", top, "mod")
	for _, tt := range []struct{ dir, advice string }{
		{"shallow/checkout", "run `git fetch --deepen 50`, or clone with fetch-depth: 0"},
		{"partial/checkout", "run git fetch --refetch --no-filter"},
		{"alternates/checkout", ""},
		{"sparse/checkout", ""},
		{"super/mod/checkout", ""},
	} {
		for _, since := range []string{"HEAD~1", first} {
			tree, err := repo.OpenSource(t.Context(), filepath.Join(other, tt.dir), since)
			if tt.advice != "" {
				if err == nil || !strings.Contains(err.Error(), tt.advice) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s since %s: %v", tt.dir, since, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s since %s: %v", tt.dir, since, err)
				continue
			}
			if c := tree.Changed(); len(c) != 1 || c[0].Path != "bank/ledger.go" {
				t.Errorf("%s since %s: %+v", tt.dir, since, c)
			}
			_ = tree.Close()
		}
	}
	// The programs of a submodule are its own repository's, and that it stands at another commit is one change.
	super := filepath.Join(other, "super")
	inSuper := gitIn(t, super)
	inSuper("commit", "-qm", "one")
	check.Len(t, openSource(t, super, "HEAD").Changed(), 0, "nothing changed, and")
	gitIn(t, filepath.Join(super, "mod"))("checkout", "-q", first)
	inSuper("commit", "-qam", "two")
	if c := openSource(t, super, "HEAD~1").Changed(); len(c) != 1 || c[0].Path != "mod" || !c[0].Opaque {
		t.Errorf("another commit of the submodule: %+v", c)
	}
}

const goText = "// Package a is.\npackage a\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n// F prints.\nfunc F(a, b int) {\n\tfmt.Println(a, b)\n\tos.Exit(1)\n}\n"

// TestAccept_EX3_HunksThatChangeNoCode: comments, formatting and licence headers weigh nothing; what a compiler or a test obeys does.
func TestAccept_EX3_HunksThatChangeNoCode(t *testing.T) {
	t.Parallel()
	replace := func(text, old, now string) [2]string { return [2]string{text, strings.Replace(text, old, now, 1)} }
	example := "package a\n\nfunc ExampleF() {\n\tF()\n\t// Output:\n\t// 1\n}\n"
	c := "#include <a.h>\n#define N 3\nint f(int a, char *s) { /* first */\n  return a + N; // \"no\"\n}\n"
	python := "# a\ndef f(a):\n    if a:\n        a = 1\n    return a\n"
	script := "const a = `x // y`;\nlet b = 'http://a'; // c\nreturn b\n"
	for _, tt := range []struct {
		name, file string
		texts      [2]string
		code       bool
	}{
		{"a licence header", "a.go", replace(goText, "// Package a is.", "// Copyright The Authors.\n\n/* Licence:\nMIT */\n\n// Package a does."), false},
		{"a comment behind code", "a.go", replace(goText, "Println(a, b)", "Println(a, b) // prints"), false},
		{"line breaks of gofmt", "a.go", replace(goText, "Println(a, b)", "Println(\n\t\ta,\n\t\tb,\n\t)"), false},
		{"white space", "a.go", replace(goText, "(a, b int)", "( a,b   int )"), false},
		{"the order of imports", "a.go", replace(goText, "\"fmt\"\n\t\"os\"", "\"os\"\n\n\t\"fmt\""), false},
		{"the parameters of a function", "a.go", replace(goText, "(a, b int)", "(b, a int)"), true},
		{"an import", "a.go", replace(goText, "\"os\"", "\"os\"\n\t_ \"embed\""), true},
		{"a literal", "a.go", replace(goText, "Exit(1)", "Exit(0)"), true},
		{"a space in a string", "a.go", [2]string{"package a\n\nvar s = `a\n b`\n", "package a\n\nvar s = `a\n  b`\n"}, true},
		{"a build tag", "a.go", replace(goText, "// Package", "//go:build linux\n\n// Package"), true},
		{"an old build tag", "a.go", replace(goText, "// Package", "// +build linux\n\n// Package"), true},
		{"go:embed", "a.go", replace(goText, "// F prints.", "//go:embed a.txt\nvar s string"), true},
		{"go:generate", "a.go", replace(goText, "// F prints.", "//go:generate stringer\n// F prints."), true},
		{"the output of an example", "a_test.go", replace(example, "// 1", "// 2"), true},
		{"the output of no example", "a.go", replace(example, "// 1", "// 2"), false},
		{"C in a comment", "a.go", [2]string{"package a\n\n// int n = 1;\nimport \"C\"\n", "package a\n\n// int n = 2;\nimport \"C\"\n"}, true},
		{"Go that is not valid", "a.go", [2]string{"package a\n\nfunc (\n", "package a\n\nfunc ( // x\n"}, true},
		{"C: comments and layout", "a.c", replace(c, "/* first */\n  return a + N;", "\n\treturn a\n\t\t+ N; /* then\n*/"), false},
		{"C: a macro", "a.c", replace(c, "N 3", "N\n3"), true},
		{"C: a comment in a string", "a.c", [2]string{"char *s = \"/* a */\";\n", "char *s = \"/* b */\";\n"}, true},
		{"C: two signs or one", "a.c", [2]string{"a = b + +c;\n", "a = b ++c;\n"}, true},
		{"C: a comment that does not end", "a.c", [2]string{"int a; /* b\n", "int a; /* c\n"}, true},
		{"Rust: a lifetime", "a.rs", [2]string{"fn f<'a>(s: &'a str) {} // it's\n", "fn f<'a>(s: &'a str) {} // it is\n"}, false},
		{"Python: a comment and an empty line", "a.py", replace(python, "    if a:\n", "    # first\n\n  # second\n    if a:  # third\n"), false},
		{"Python: another block", "a.py", replace(python, "        a = 1", "    a = 1"), true},
		{"Python: a number sign in a string", "a.py", [2]string{"a = ' # b'\n", "a = ' # c'\n"}, true},
		{"JavaScript: a comment", "a.js", replace(script, "// c", "// d"), false},
		{"JavaScript: a comment in a template", "a.js", replace(script, "// y", "// z"), true},
		{"JavaScript: an address in a string", "a.js", replace(script, "//a", "//b"), true},
		{"JavaScript: a line break", "a.js", replace(script, "return b", "return\nb"), true},
		{"JavaScript: the environment of a test", "a.test.js", [2]string{"/** @jest-environment node */\n", "/** @jest-environment jsdom */\n"}, true},
		{"shell: a number of arguments", "a.sh", [2]string{"test $# -eq 1\n", "test $# -eq 2\n"}, true},
		{"shell: text in which a comment is none", "a.sh", [2]string{"cat <<E\n# a\nE\n", "cat <<E\n# b\nE\n"}, true},
		{"SQL", "a.sql", [2]string{"SELECT 1; -- one\n", "SELECT 1;\n-- two\n"}, false},
		{"go.mod: a comment", "go.mod", [2]string{"module a\n\nrequire b v1.0.0 // indirect\n", "module a\n\nrequire b v1.0.0\n"}, false},
		{"go.mod: a version", "go.mod", [2]string{"module a\n\nrequire b v1.0.0\n", "module a\n\nrequire b v1.0.1\n"}, true},
		{"data", "a.txt", [2]string{"// a\n", "// b\n"}, true},
		{"a new file of comments", "a.go", [2]string{"", "// nothing\n"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := repo.CodeChanged(tt.file, tt.texts[0], tt.texts[1]); slices.Contains(got, true) != tt.code {
				t.Errorf("%v", got)
			}
		})
	}
	got := repo.CodeChanged("a.go", goText, strings.NewReplacer("// F prints.", "// F writes.", "Exit(1)", "Exit(2)").Replace(goText))
	if !slices.Equal(got, []bool{false, true}) {
		t.Errorf("of a comment and a statement: %v", got)
	}
}

// What is split must be valid for both texts and come in the order of the lines, whatever the text.
func FuzzCode(f *testing.F) {
	for _, name := range []string{"a.go", "a.c", "a.py", "a.js", "a.sh", "a.kt"} {
		f.Add(name, goText, "/* 'a\n\"\\\n`# b\n")
	}
	f.Fuzz(func(t *testing.T, name, old, now string) {
		repo.CodeChanged(name, old, now)
		if slices.Contains(repo.CodeChanged(name, old, old+"\n"), true) && strings.HasSuffix(old, "\n") && strings.HasSuffix(name, ".c") && !strings.ContainsAny(old, "\\\"'`/#") {
			t.Errorf("an empty line of %q", old)
		}
	})
}
