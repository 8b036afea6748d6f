package mine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// mostLoadHead is how many regressions of a repository are also run with the code of head installed.
const mostLoadHead = 4

// planter is a suite that can install the code of a tree, so that other trees load it.
type planter interface {
	// plantCode installs the code of the tree that is checked out in a folder; undo takes it away.
	plantCode(folder string) (undo func() error, err error)
}

// loadsHead makes planted cases of regressions: head was installed as a release is, and so base runs the code of head and fails, too.
func (m *Miner) loadsHead(ctx context.Context) error {
	if _, ok := m.suite.(planter); !ok {
		return nil
	}
	planted := 0
	for i := range m.found.Cases {
		if slices.Contains(m.found.Cases[i].Traps, history.LoadsHead) {
			planted++
		}
	}
	for _, whole := range slices.Clone(m.found.Cases) {
		if whole.Kind != history.Regression || whole.Planted || whole.Truth.Part != history.Product || len(whole.Traps) > 0 {
			continue
		}
		if planted >= mostLoadHead {
			return nil
		}
		c := whole
		c.ID, c.Planted, c.Traps = whole.ID+"/loads-head", true, []history.Trap{history.LoadsHead}
		before := len(m.found.Cases)
		if err := m.candidate(ctx, c.Kind, "of "+c.ID, func() error { return m.keep(ctx, &c) }); err != nil {
			return err
		}
		planted += len(m.found.Cases) - before
	}
	return nil
}

// ownCode is the cell of base with its own code, of a case in which the others have that of head.
func ownCode(c *history.Case) []history.Cell {
	if !slices.Contains(c.Traps, history.LoadsHead) || c.Cell(history.Base) == nil {
		return nil
	}
	own := *c.Cell(history.Base)
	own.Environment = history.Restored
	return []history.Cell{own}
}

// plantCode copies the packages of a tree to where releases are installed, which comes before the path of the checkout.
func (p *pySuite) plantCode(folder string) (undo func() error, err error) {
	sites, err := filepath.Glob(filepath.Join(folder, ".venv", "lib", "python3*", "site-packages"))
	if err != nil || len(sites) != 1 {
		return nil, errors.New("the environment has no folder of packages")
	}
	top := folder
	if info, err := os.Stat(filepath.Join(folder, "src")); err == nil && info.IsDir() {
		top = filepath.Join(folder, "src")
	}
	entries, err := os.ReadDir(top)
	if err != nil {
		return nil, err
	}
	restore, err := p.environments.spoil(folder)
	if err != nil {
		return nil, err
	}
	var planted []string
	undo = func() error {
		for _, name := range planted {
			if err := os.RemoveAll(name); err != nil {
				return err
			}
		}
		return restore()
	}
	for _, e := range entries {
		name, isFile := strings.CutSuffix(e.Name(), ".py")
		from, to := filepath.Join(top, e.Name()), filepath.Join(sites[0], e.Name())
		if _, err := os.Lstat(to); err == nil || slices.Contains(notProduct, name) || !isFile && !hasModule(top, name) {
			continue
		}
		planted = append(planted, to)
		if !isFile {
			err = os.CopyFS(to, os.DirFS(from))
		} else if text, failed := os.ReadFile(from); failed == nil {
			err = os.WriteFile(to, text, 0o644) //nolint:gosec // a name of the tree
		}
		if err != nil {
			return nil, errors.Join(err, undo())
		}
	}
	if len(planted) == 0 {
		return nil, errors.Join(dropped("the tree has no package that could be installed"), undo())
	}
	return undo, nil
}
