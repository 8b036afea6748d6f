package repo_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// attributes of the base, in commits whose files are the same in head.
const attributes = "*.crlf text eol=crlf\n*.id ident\n*.wide text working-tree-encoding=UTF-16LE eol=lf\n*.raw -text\nsub/*.txt text eol=crlf\n"

// TestAccept_AK5_TreesAreThoseOfAFreshCheckout: whatever head's attributes are, and however its files stand in the working tree.
func TestAccept_AK5_TreesAreThoseOfAFreshCheckout(t *testing.T) {
	for _, c := range []struct {
		name, config, base, head, info string
	}{
		{"the base has them", "", attributes, "", ""},
		{"head has them", "", "", attributes, ""},
		{"both have others", "", attributes, "*.crlf -text\n*.id -ident\n*.raw text eol=crlf\n", ""},
		{"the repository's own", "", "", "", attributes},
		{"line ends by configuration", "core.autocrlf=true", "*.raw -text\n", "* -text\n", ""},
		{"line ends of the system", "core.eol=crlf", "* text=auto\n", "* -text\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			must.Git(t, dir, "init", "-q", "-b", "main")
			files := map[string]string{
				"a.crlf": "one\ntwo\n", "a.id": "$Id$\n", "a.raw": "one\ntwo\n", "sub/a.txt": "x\ny\n", "plain": "x\n", "a file": "x\n", "ü.crlf": "x\n",
			}
			must.Write(t, dir, files)
			if c.base != "" {
				must.Write(t, dir, map[string]string{".gitattributes": c.base, "a.wide": "w\x00\n\x00"})
			}
			if name, value, ok := strings.Cut(c.config, "="); ok {
				must.Git(t, dir, "config", name, value)
			}
			must.Git(t, dir, "add", ".")
			must.Git(t, dir, "commit", "-qm", "base")
			must.Git(t, dir, "tag", "base")
			if c.head == "" {
				must.Do(t, os.RemoveAll(filepath.Join(dir, ".gitattributes")))
			} else {
				must.Write(t, dir, map[string]string{".gitattributes": c.head})
			}
			must.Write(t, dir, map[string]string{"changed": "x\n"})
			must.Git(t, dir, "add", "-A")
			must.Git(t, dir, "commit", "-qm", "head")
			if c.info != "" {
				must.Write(t, dir, map[string]string{".git/info/attributes": c.info})
			}
			other := filepath.Join(t.TempDir(), "other")
			must.Git(t, dir, "worktree", "add", "-q", "--detach", other, "base")
			want := folder(t, other)
			delete(want, ".git")
			check.Same(t, cmp.Diff(want, contents(t, treeAt(t, open(t, dir), "base"))), "(-want +got)")
		})
	}
}

// TestAccept_AK5_Filters: what is stored in Git LFS comes from the working tree or from local objects; what another filter makes is named.
func TestAccept_AK5_Filters(t *testing.T) {
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	pointer := func(content string) string {
		digest := sha256.Sum256([]byte(content))
		return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", hex.EncodeToString(digest[:]), len(content))
	}
	must.Write(t, dir, map[string]string{
		".gitattributes": "*.big filter=lfs\n*.secret filter=crypt\n*.other filter=unknown\n", "here.big": pointer("here"), "local.big": pointer("local"), "gone.big": pointer("gone"),
		"none.big": "no pointer\n", "a.secret": "1234\n", "a.other": "abc\n",
	})
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "base")
	must.Git(t, dir, "tag", "base")
	must.Git(t, dir, "rm", "-q", "local.big", "gone.big", "none.big", "a.secret")
	must.Git(t, dir, "commit", "-qm", "head")
	must.Git(t, dir, "config", "filter.lfs.clean", "sed s/^here$/pointer/")
	must.Git(t, dir, "config", "filter.crypt.smudge", "cat")
	digest := sha256.Sum256([]byte("local"))
	id := hex.EncodeToString(digest[:])
	must.Write(t, dir, map[string]string{".git/lfs/objects/" + id[:2] + "/" + id[2:4] + "/" + id: "local"})

	written := t.TempDir()
	unmade := must.Get(treeAt(t, open(t, dir), "base").Write(t.Context(), written))(t)
	slices.Sort(unmade)
	if len(unmade) != 2 || !strings.Contains(unmade[0], "a.secret: it needs the filter crypt") || !strings.Contains(unmade[1], "gone.big: its content is not among the local objects") {
		t.Errorf("got %q", unmade)
	}
	got := folder(t, written)
	for name, want := range map[string]string{"here.big": pointer("here"), "local.big": "local", "none.big": "no pointer\n", "a.other": "abc\n"} {
		check.Equal(t, got[name], want, name)
	}
}

// TestAccept_AK5_Submodules: each tree has its own commit of a submodule, and what is not here is named.
func TestAccept_AK5_Submodules(t *testing.T) {
	inner, outer := t.TempDir(), t.TempDir()
	must.Git(t, inner, "init", "-q", "-b", "main")
	commit := func(text string) string {
		must.Write(t, inner, map[string]string{"lib/a.txt": text})
		must.Git(t, inner, "add", ".")
		must.Git(t, inner, "commit", "-qm", text)
		return must.Git(t, inner, "rev-parse", "HEAD")
	}
	commit("old")
	must.Git(t, outer, "init", "-q", "-b", "main")
	must.Git(t, outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "inner")
	must.Git(t, outer, "commit", "-qm", "base")
	must.Git(t, outer, "tag", "base")
	commit("new")
	checkout := filepath.Join(outer, "inner")
	must.Git(t, checkout, "pull", "-q", "origin", "main")
	must.Git(t, outer, "commit", "-qam", "head")
	must.Write(t, checkout, map[string]string{"lib/b.txt": "not committed"})

	r := open(t, outer)
	head, base := headOf(t, r), treeAt(t, r, "base")
	if diff := cmp.Diff(map[string]string{"inner/lib/a.txt": "new", "inner/lib/b.txt": "not committed"}, only(contents(t, head), "inner/")); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	check.Same(t, cmp.Diff(map[string]string{"inner/lib/a.txt": "old"}, only(contents(t, base), "inner/")), "base (-want +got)")
	if head.Digest() == treeAt(t, r, "HEAD").Digest() {
		t.Error("the digest does not tell what a submodule has")
	}
	unpublished := must.Git(t, outer, "commit-tree", "-m", "elsewhere", treeWith(t, outer, strings.Repeat("1", 40)))
	folder := t.TempDir()
	unmade := must.Get(treeAt(t, r, unpublished).Write(t.Context(), folder))(t)
	if _, err := os.Stat(filepath.Join(folder, "inner")); err != nil || len(unmade) != 1 || !strings.HasPrefix(unmade[0], "inner: the submodule: ") {
		t.Errorf("got %q, %v", unmade, err)
	}
}

// treeWith is a tree that has a submodule at another commit.
func treeWith(t *testing.T, dir, commit string) string {
	t.Helper()
	must.Git(t, dir, "update-index", "--cacheinfo", "160000,"+commit+",inner")
	defer must.Git(t, dir, "reset", "-q")
	return must.Git(t, dir, "write-tree")
}

func only(files map[string]string, prefix string) map[string]string {
	maps.DeleteFunc(files, func(name, _ string) bool { return !strings.HasPrefix(name, prefix) || strings.HasSuffix(name, "/.git") })
	return files
}
