package repo_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/repo"
)

const (
	bank = "package bank\n\ntype Ledger struct{}\n\n// Post books.\nfunc (l *Ledger) Post(n int) error {\n\tif n < 0 {\n\t\treturn nil\n\t}\n\treturn nil\n}\n\nfunc Sum() int {\n\treturn 1\n}\n"
	test = "package bank_test\n\nfunc TestPost() {\n\tpanic(1)\n}\n"
)

func module(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "checkout")
	must.Write(t, dir, map[string]string{
		"go.mod": "module example.com/money/v2\n", "root.go": "package money\n\nfunc Top() {\n}\n", "bank/ledger.go": bank, "bank/ledger_test.go": test,
		"bank/testdata/in.txt": "a\n", "shop/ledger_test.go": test, "py/app/core.py": "x = 1\ny = 2\n", "py/tests/test_core.py": "a\nb\nc\n",
		"web/src/cart.spec.ts": "1\n2\n", "src/test/java/a/CartTest.java": "1\n2\n3\n", ".git-hidden/x.go": "package x\n",
		"bin.dat": "a\x00b\n",
	})
	return dir
}

func openSource(t testing.TB, dir, since string) *repo.Source {
	t.Helper()
	tree := must.Get(repo.OpenSource(t.Context(), dir, since))(t)
	t.Cleanup(func() { _ = tree.Close() })
	return tree
}

func TestFramesOfLogs(t *testing.T) {
	t.Parallel()
	tree := openSource(t, module(t), "")
	post := repo.Frame{Path: "bank/ledger.go", Line: 8, Role: abi.SourceProduct, Package: "bank", Function: "(*Ledger).Post", FirstLine: 6, LastLine: 11, Count: 1}
	tests := []struct {
		name, log string
		want      []repo.Frame
	}{
		{"a panic from another machine", "example.com/money/v2/bank.(*Ledger).Post(0xc0)\n\t/build/7/money/bank/ledger.go:8 +0x1f\n", []repo.Frame{post}},
		{"the module in the cache of another", "\t/root/go/x/example.com/money/v2@v2.0.1/root.go:3 +0x1f", nil},
		{"a file at the top", "\t/build/money@v2.0.1/root.go:3 +0x1f", []repo.Frame{{Path: "root.go", Line: 3, Role: abi.SourceProduct, Package: "money", Function: "Top", FirstLine: 3, LastLine: 4, Count: 1}}},
		{"a file at the top of something else", "\t/build/other/root.go:3 +0x1f", nil},
		{"the standard library", "\t/usr/local/go/src/bank/ledger.go:8 +0x1", nil},
		{"a column, and twice", "bank/ledger.go:8:3: x\n./bank/ledger.go:8:9: y", []repo.Frame{{Path: "bank/ledger.go", Line: 8, Role: abi.SourceProduct, Package: "bank", Function: "(*Ledger).Post", FirstLine: 6, LastLine: 11, Count: 2}}},
		{"a file alone that could be two", "    ledger_test.go:4: wrong", nil},
		{"told by the package", "    ledger_test.go:4: wrong\nFAIL\texample.com/money/v2/bank\t0.1s\n", []repo.Frame{{Path: "bank/ledger_test.go", Line: 4, Role: abi.SourceTest, Package: "bank_test", Function: "TestPost", FirstLine: 3, LastLine: 5, Count: 1}}},
		{"Windows", `C:\work\money\bank\ledger.go:8 +0x3`, []repo.Frame{post}},
		{"Python", "  File \"/app/py/tests/test_core.py\", line 2, in test_sum\n  File \"/app/py/app/core.py\", line 9, in <module>\n", []repo.Frame{
			{Path: "py/tests/test_core.py", Line: 2, Role: abi.SourceTest, Package: "py/tests", Function: "test_sum", Count: 1},
			{Path: "py/app/core.py", Line: 9, Role: abi.SourceProduct, Package: "py/app", Function: "<module>", Count: 1, Stale: true},
		}},
		{"Java", "\tat a.CartTest.adds(CartTest.java:3)\n\tat java.base/java.lang.Thread.run(Thread.java:829)", []repo.Frame{{Path: "src/test/java/a/CartTest.java", Line: 3, Role: abi.SourceTest, Package: "src/test/java/a", Function: "a.CartTest.adds", Count: 1}}},
		{"JavaScript with colours", "\x1b[90m    at add (\x1b[39mfile:///ci/web/src/cart.spec.ts:2:11)", []repo.Frame{{Path: "web/src/cart.spec.ts", Line: 2, Role: abi.SourceTest, Package: "web/src", Function: "add", Count: 1}}},
		{"line 0, huge lines, no file", "bank/ledger.go:0 bank/ledger.go:99999999999 bank/none.go:3 10.0.0.1:80", nil},
		{"hidden folders and outside", ".git-hidden/x.go:1 ../../etc/passwd.go:1 /etc/hosts.go:1", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check.Same(t, cmp.Diff(tt.want, tree.Frames(tt.log)))
		})
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	dir := module(t)
	must.Write(t, dir, map[string]string{"long.txt": strings.Repeat("é", 600) + "\r\n\xff\n", "big.txt": strings.Repeat("x\n", 3<<20)})
	tree := openSource(t, dir, "")
	got, err := tree.Excerpt("bank/ledger.go", 2, 1)
	if diff := cmp.Diff(repo.Excerpt{Path: "bank/ledger.go", First: 1, Lines: []string{"package bank", "", "type Ledger struct{}"}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	got, err = tree.Excerpt("long.txt", 1, 1<<30)
	if err != nil || len(got.Lines) != 2 || got.Lines[0] != strings.Repeat("é", 250) || got.Lines[1] != "\uFFFD" {
		t.Errorf("%q, %v", got.Lines, err)
	}
	for _, bad := range []struct {
		path string
		line int
		want error
	}{
		{"bank/ledger.go", 0, repo.ErrNoLine},
		{"bank/ledger.go", 16, repo.ErrNoLine},
		{"bin.dat", 1, repo.ErrBinary},
		{"big.txt", 1, repo.ErrTooLarge},
		{"none.go", 1, fs.ErrNotExist},
		{"../checkout/go.mod", 1, fs.ErrNotExist},
		{"bank", 1, fs.ErrNotExist},
	} {
		if _, err := tree.Excerpt(bad.path, bad.line, 3); !errors.Is(err, bad.want) || !strings.Contains(err.Error(), bad.path) {
			t.Errorf("%s:%d: %v, want %v", bad.path, bad.line, err, bad.want)
		}
	}
}

func TestNothingLeavesTheFolder(t *testing.T) {
	t.Parallel()
	dir := module(t)
	secret := filepath.Join(t.TempDir(), "secret.go")
	must.Write(t, filepath.Dir(secret), map[string]string{"secret.go": "package secret\n"})
	for name, target := range map[string]string{"link.go": secret, "up": filepath.Dir(secret), "in.go": "root.go"} {
		must.Do(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	tree := openSource(t, dir, "")
	// The file is listed as one of the folder's own, and then becomes a link.
	must.Do(t, os.Remove(filepath.Join(dir, "root.go")))
	must.Do(t, os.Symlink(secret, filepath.Join(dir, "root.go")))
	for _, name := range []string{"link.go", "up/secret.go", "in.go", "root.go", secret, "../" + filepath.Base(filepath.Dir(secret)) + "/secret.go"} {
		if got, err := tree.Excerpt(name, 1, 1); err == nil {
			t.Errorf("%s: %q", name, got.Lines)
		}
	}
	check.Len(t, tree.Frames("link.go:1 up/secret.go:1 "+secret+":1"), 0)
}

// checkout makes a repository whose top is one folder above the module.
func checkout(t testing.TB) (git func(...string) string, top, dir string) {
	t.Helper()
	dir = module(t)
	top = filepath.Dir(dir)
	git = gitIn(t, top)
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-qm", "first")
	return git, top, dir
}

// gitIn runs git in a folder.
func gitIn(t testing.TB, top string) func(...string) string {
	t.Helper()
	return func(args ...string) string { return must.Git(t, top, args...) }
}

func TestChangesSince(t *testing.T) {
	t.Parallel()
	git, top, dir := checkout(t)
	git("tag", "-a", "v1", "-m", "one")
	must.Write(t, dir, map[string]string{"bank/ledger.go": strings.Replace(bank, "n < 0", "n <= 0", 1), "shop/new.go": "package shop\n", "go.mod": "module example.com/money/v2\r\n"})
	must.Write(t, top, map[string]string{"outside.txt": "not of the module\n"})
	git("add", ".")
	git("commit", "-qm", "second")
	must.Write(t, dir, map[string]string{"bin.dat": "\x00changed\n", "untracked.go": "package money\n", "ignored.go": "package money\n", "untracked.txt": "a\n", ".gitignore": "/ignored.go\n", "py/app/core.py": "x = 1\nz = 3\ny = 2\n"})
	must.Do(t, os.Remove(filepath.Join(dir, "web/src/cart.spec.ts")))
	want := []repo.Change{
		{Path: "bank/ledger.go", Kind: repo.ChangeModified, Role: abi.SourceProduct, AddedLines: 1, RemovedLines: 1, Hunks: []repo.Hunk{{Code: true, OldFirst: 7, NewFirst: 7, OldLines: 1, NewLines: 1}}},
		{Path: "bin.dat", Kind: repo.ChangeModified, Role: abi.SourceProduct, Opaque: true},
		{Path: "py/app/core.py", Kind: repo.ChangeModified, Role: abi.SourceProduct, AddedLines: 1, Hunks: []repo.Hunk{{Code: true, OldFirst: 2, NewFirst: 2, NewLines: 1}}},
		{Path: "shop/new.go", Kind: repo.ChangeAdded, Role: abi.SourceProduct, AddedLines: 1, Hunks: []repo.Hunk{{Code: true, OldFirst: 1, NewFirst: 1, NewLines: 1}}},
		{Path: "untracked.go", Kind: repo.ChangeAdded, Role: abi.SourceProduct, AddedLines: 1, Hunks: []repo.Hunk{{Code: true, OldFirst: 1, NewFirst: 1, NewLines: 1}}},
		{Path: "web/src/cart.spec.ts", Kind: repo.ChangeRemoved, Role: abi.SourceTest, RemovedLines: 2, Hunks: []repo.Hunk{{Code: true, OldFirst: 1, NewFirst: 1, OldLines: 2}}},
	}
	first := git("rev-parse", "HEAD~1")
	for _, since := range []string{"HEAD~1", "@^", "v1", "refs/tags/v1", "main~", "HEAD^0~1", first, first[:9]} {
		tree := openSource(t, dir, since)
		check.Same(t, cmp.Diff(want, tree.Changed()), "since", since)
		frames := tree.Frames("bank/ledger.go:10 bank/ledger.go:14 py/app/core.py:3 shop/ledger_test.go:4")
		for i, touched := range []bool{true, false, true, false} {
			check.Equal(t, tree.Touches(frames[i]), touched, "since", since, frames[i].Path, frames[i].Line, "touched")
		}
	}
	for _, since := range []string{"HEAD~9", "none", "dead", "../config", "HEAD^3", "v1:bank", "-q", strings.Repeat("HEAD", 100), "~", "config"} {
		check.Is(t, check.Err(repo.OpenSource(t.Context(), dir, since)), repo.ErrRevision, "since", since)
	}
	git("worktree", "add", "-q", filepath.Join(top, "other"), "HEAD")
	check.Len(t, openSource(t, filepath.Join(top, "other", "checkout"), "HEAD~1").Changed(), 2, "in another work tree")
	git("gc", "-q")
	check.Same(t, cmp.Diff(want, openSource(t, dir, "HEAD~1").Changed()), "of packed objects")
}

func TestNoRepository(t *testing.T) {
	t.Parallel()
	check.Fails(t, check.Err(repo.OpenSource(t.Context(), module(t), "HEAD")), "no git repository")
	check.Is(t, check.Err(repo.OpenSource(t.Context(), filepath.Join(t.TempDir(), "none"), "")), fs.ErrNotExist)
}

func TestDigestFollowsTheSource(t *testing.T) {
	t.Parallel()
	dir := module(t)
	digest := func() string {
		return must.Get(openSource(t, dir, "").Digest(t.Context()))(t)
	}
	before := digest()
	check.Equal(t, digest(), before, "two digests of one source")
	must.Write(t, dir, map[string]string{"root.go": "package other\n"})
	if digest() == before {
		t.Error("another source, and the same digest")
	}
}

// A hunk list is a diff if it turns the old lines into the new ones.
func TestHunksTurnOldIntoNew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 30)
		old, now := lines.Draw(t, "old"), lines.Draw(t, "now")
		var got []string
		at := 0
		for _, h := range repo.DiffLines(old, now) {
			got = append(got, old[at:h.OldFirst-1]...)
			if len(got) != h.NewFirst-1 {
				t.Fatalf("hunk at %d, want %d", h.NewFirst, len(got)+1)
			}
			got = append(got, now[h.NewFirst-1:h.NewFirst-1+h.NewLines]...)
			at = h.OldFirst - 1 + h.OldLines
		}
		got = append(got, old[at:]...)
		if strings.Join(got, "\n") != strings.Join(now, "\n") {
			t.Fatalf("%v, want %v", got, now)
		}
	})
}

func TestHunksOfFilesThatHaveNothingInCommon(t *testing.T) {
	t.Parallel()
	old, now := strings.Split(strings.Repeat("a\n", 5000), "\n"), strings.Split(strings.Repeat("b\n", 5000), "\n")
	if hunks := repo.DiffLines(old, now); len(hunks) != 1 || hunks[0].OldLines != 5000 || hunks[0].NewLines != 5000 {
		t.Errorf("%d hunks", len(hunks))
	}
}

// Where the revision has commits that HEAD lacks, what they changed is no change of HEAD.
func TestWhereHeadLeftTheRevision(t *testing.T) {
	t.Parallel()
	git, _, dir := checkout(t)
	fork := git("rev-parse", "HEAD")
	git("checkout", "-qb", "topic")
	must.Write(t, dir, map[string]string{"shop/topic.go": "package shop\n"})
	git("add", ".")
	git("commit", "-qm", "on the branch")
	git("checkout", "-q", "main")
	for _, name := range []string{"one", "two"} {
		must.Write(t, dir, map[string]string{"shop/" + name + ".go": "package shop\n"})
		git("add", ".")
		git("commit", "-qm", name)
	}
	git("checkout", "-q", "topic")
	if began, ahead := openSource(t, dir, "main").Fork(); began != fork || ahead != 2 {
		t.Errorf("main: %q, %d commits; want %s, 2", began, ahead, fork)
	}
	for _, since := range []string{"HEAD", "HEAD~1", fork} {
		if began, ahead := openSource(t, dir, since).Fork(); began != "" || ahead != 0 {
			t.Errorf("since %s: %q, %d", since, began, ahead)
		}
	}
	git("checkout", "-q", "--detach", "main~1")
	if began, ahead := openSource(t, dir, "main").Fork(); began != git("rev-parse", "HEAD") || ahead != 1 {
		t.Errorf("behind main: %q, %d commits", began, ahead)
	}
	git("checkout", "-q", "topic")
	git("merge", "-q", "--no-edit", "main")
	if began, _ := openSource(t, dir, "main").Fork(); began != "" {
		t.Errorf("merged: %q", began)
	}
}

// A file that goes away behind the listing, such as a temporary one of another program, is as if it had not been there.
func TestDigestWithoutAFileThatWentAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Write(t, dir, map[string]string{"go.mod": "module m\n", "a.go": "package m\n"})
	digest := func(tree *repo.Source) string {
		return must.Get(tree.Digest(t.Context()))(t)
	}
	want := digest(openSource(t, dir, ""))
	must.Write(t, dir, map[string]string{"b.go": "package m\n"})
	tree := openSource(t, dir, "")
	must.Do(t, os.Remove(filepath.Join(dir, "b.go")))
	check.Equal(t, digest(tree), want)
}

// Files of the source are others' work: whatever they hold, a tree over them is opened, and what a log names in it is found or not.
func FuzzTree(f *testing.F) {
	f.Add("module m\n\nreplace m => ../m\n", "package a\n\nimport \"m/b\"\n\nfunc TestA(t *testing.T) { b.F() }\n", "import pytest\ndef test_a(): pass\n", "a/a_test.go:5 TestA b_test.py:2")
	f.Add("module \"\n", "package a\nfunc (", "\x00", "a_test.go:1")
	f.Add("module m\nrequire m v0\n", "//line x.go:1\npackage a\nfunc F[T any]() {}\n", "def test_é():", "--- FAIL: TestA/b")
	for _, seed := range []string{"bank/ledger.go:8", "../../../etc/passwd", "C:\\x\\bank\\ledger.go(3)", "File \"a\", line 1, in b", "a//b/./../b.go:1", "\x00.go:1", "file://b/b.go:1"} {
		f.Add("module m\n", "package a\n", "", seed)
	}
	f.Fuzz(func(t *testing.T, module, test, other, log string) {
		dir := t.TempDir()
		must.Write(t, dir, map[string]string{"go.mod": module, "a/a_test.go": test, "b/b.go": test, "b_test.py": other})
		tree := must.Get(repo.OpenSource(t.Context(), dir, ""))(t)
		defer func() { _ = tree.Close() }()
		frames := tree.Frames(log)
		for _, frame := range frames {
			if !fs.ValidPath(frame.Path) || frame.Line < 1 {
				t.Errorf("%+v", frame)
			}
			if _, err := tree.Excerpt(frame.Path, frame.Line, 2); err != nil && !frame.Stale && !errors.Is(err, repo.ErrBinary) && !errors.Is(err, repo.ErrNoLine) {
				t.Error(err)
			}
		}
		if got, err := tree.Excerpt(log, 1, 1); err == nil && !fs.ValidPath(got.Path) {
			t.Errorf("%q was read", log)
		}
		tree.Tests(log, frames)
	})
}
