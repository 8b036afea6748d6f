package source

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

const maxIgnoreBytes = 1 << 20

// untracked are the listed programs that git neither tracks nor ignores: they are compiled and run with the others. Only the
// ignore files of the repository count, not the user's own.
func (t *Tree) untracked(repo *repository, tracked map[string]bool) []string {
	nested := nestedRepositories{t, map[string]bool{".": false}}
	var names []string
	var ignored gitignore.Matcher
	for _, name := range t.files {
		if tracked[name] || nested.within(name) || path.Ext(name) != ".go" && !isOtherLanguage(name) || sourcefile.KindOf(name) == abi.SourceOther || sourcefile.Installed(name) {
			continue
		}
		if ignored == nil {
			ignored = t.ignored(repo)
		}
		if !ignored.Match(repo.parts(name), false) {
			names = append(names, name)
		}
	}
	return names
}

// parts are the elements of a listed path from the top of the repository.
func (r *repository) parts(name string) []string {
	return strings.Split(path.Join(r.prefix, name), "/")
}

// ignored reads the ignore files of the repository: its own, those above the folder, and those in it, the weakest first.
func (t *Tree) ignored(repo *repository) gitignore.Matcher {
	var patterns []gitignore.Pattern
	add := func(data []byte, domain []string) {
		for _, line := range splitLines(string(data)) {
			if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
				patterns = append(patterns, gitignore.ParsePattern(line, domain))
			}
		}
	}
	read := func(name string, domain []string) {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() <= maxIgnoreBytes {
			if data, err := os.ReadFile(name); err == nil {
				add(data, domain)
			}
		}
	}
	read(filepath.Join(repo.Filesystem().Root(), "info", "exclude"), nil)
	var domain []string
	for folder := range strings.SplitSeq(repo.prefix, "/") {
		if repo.prefix == "" {
			break
		}
		read(filepath.Join(repo.top, filepath.Join(domain...), ".gitignore"), domain)
		domain = append(slices.Clip(domain), folder)
	}
	for _, name := range t.byBase[".gitignore"] {
		if data, err := t.read(name); err == nil {
			parts := repo.parts(name)
			add(data, parts[:len(parts)-1])
		}
	}
	return gitignore.NewMatcher(patterns)
}

// nestedRepositories are folders with a repository of their own, such as submodules and work trees.
type nestedRepositories struct {
	tree  *Tree
	known map[string]bool
}

func (n nestedRepositories) within(name string) bool {
	dir := path.Dir(name)
	nested, ok := n.known[dir]
	if !ok {
		_, err := n.tree.root.Lstat(filepath.Join(filepath.FromSlash(dir), ".git"))
		nested = err == nil || n.within(dir)
		n.known[dir] = nested
	}
	return nested
}
