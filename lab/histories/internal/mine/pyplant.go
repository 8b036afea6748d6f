package mine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
		return nil, errors.Join(errors.New("the tree has no package that could be installed"), undo())
	}
	return undo, nil
}
