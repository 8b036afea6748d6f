package experiment

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	tree "github.com/shadowcourt/shadowcourt/repo"
)

// loaded says whose code runs have. It finds mistakes, such as an installation that leads to the checkout; tests that want to hide what
// they load can do so.
type loaded struct {
	code abi.LoadedCode
	// why names code that is not of the tree; empty if it is certified, or nothing is known.
	why string
}

// worse is what two runs together show.
func (l loaded) worse(other loaded) loaded {
	rank := []abi.LoadedCode{"", abi.Certified, abi.NotCertified, abi.Contradicted}
	if slices.Index(rank, other.code) > slices.Index(rank, l.code) {
		return other
	}
	return l
}

// foreignPackages lists the packages of a test binary that are in a folder which go.mod or go.work names, but for those of the main module.
const foreignPackages = `{{with .Module}}{{if ne .Path %q}}{{if or .Main (and .Replace (eq .Replace.Version ""))}}{{.Path}}` + "\t" + `{{$.Dir}}` + "\n" + `{{end}}{{end}}{{end}}`

// loaded says whose code a binary has: all of the main module and of modules in folders has to be in the tree. What else is linked is named
// by its version. It asks the go command, because the build information of test binaries names no module but the main one.
func (g *goTests) loaded(ctx context.Context, w *workspace, b *goBinary, folder, pack, out string, flags []string) loaded {
	unknown := loaded{code: abi.NotCertified}
	source, err := filepath.EvalSymlinks(w.source())
	if err != nil || b.module == "" || strings.Contains(g.env["GOFLAGS"]+strings.Join(g.flags, " "), "-overlay") {
		return unknown
	}
	if dir, err := filepath.EvalSymlinks(b.dir); err != nil || !within(source, dir) {
		return unknown
	}
	args := slices.Concat([]string{"list", "-deps", "-test", "-f", fmt.Sprintf(foreignPackages, b.module)}, g.flags, flags, []string{pack})
	listed, err := g.run(ctx, folder, out, args...)
	if err != nil || len(listed) >= maxBuildOutput {
		return unknown
	}
	found := loaded{code: abi.Certified}
	if w.leavesTree(source) {
		found.code = abi.NotCertified
	}
	for line := range strings.Lines(listed) {
		name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		dir, err := filepath.EvalSymlinks(dir)
		switch ours := slices.ContainsFunc(g.modules, func(m module) bool { return m.path == name }); {
		case err != nil:
			found = found.worse(unknown)
		case within(source, dir):
		case w.tree == g.working && within(g.hide, dir): // the files that the tree was read from
			found = found.worse(loaded{abi.NotCertified, ""})
		case ours || within(g.hide, dir):
			found = found.worse(loaded{abi.Contradicted, fmt.Sprintf("module %s comes from %s, not from the tree", name, dir)})
		default:
			found = found.worse(unknown)
		}
	}
	return found
}

// leavesTree says whether links lead from the tree to code elsewhere.
func (w *workspace) leavesTree(source string) bool {
	for _, name := range w.tree.Paths() {
		if f, _ := w.tree.File(name); f.Mode != tree.Symlink {
			continue
		}
		if target, err := filepath.EvalSymlinks(filepath.Join(source, filepath.FromSlash(name))); err == nil && !within(source, target) {
			return true
		}
	}
	return false
}
