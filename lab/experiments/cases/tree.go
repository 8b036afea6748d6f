package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// tree is a copy of a release that may be changed. Tests may leave files in it.
type tree struct {
	folder  string
	origin  string   // the release as it was downloaded
	product []string // Go files of the package in the root that are built here
	tests   []string
}

// download gives the folder of a release, which the go command downloads and whose checksum it verifies.
func download(ctx context.Context, module, version string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module+"@"+version)
	cmd.Dir = os.TempDir() // outside of any module
	out, err := cmd.Output()
	var download struct {
		Dir   string `json:"Dir"`
		Error string `json:"Error"`
	}
	if jsonErr := json.Unmarshal(out, &download); jsonErr != nil || download.Dir == "" {
		return "", fmt.Errorf("downloading %s@%s: %s %w", module, version, download.Error, err)
	}
	if _, err := os.Stat(filepath.Join(download.Dir, "go.mod")); err != nil {
		return "", fmt.Errorf("%s@%s has no go.mod", module, version)
	}
	return download.Dir, nil
}

// newTree downloads a release and copies it.
func newTree(ctx context.Context, module, version, folder string) (*tree, error) {
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(filepath.Dir(folder), 0o755)); err != nil {
		return nil, err
	}
	origin, err := download(ctx, module, version)
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(folder, os.DirFS(origin)); err != nil {
		return nil, err
	}
	if err := setMode(folder, 0o755); err != nil {
		return nil, err
	}
	t := &tree{folder: folder, origin: origin}
	return t, t.list(ctx)
}

// list finds the files that are built here.
func (t *tree) list(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=GoFiles,TestGoFiles,XTestGoFiles", ".")
	cmd.Dir = t.folder
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list in %s: %w", t.folder, err)
	}
	var listed struct {
		GoFiles      []string `json:"GoFiles"`
		TestGoFiles  []string `json:"TestGoFiles"`
		XTestGoFiles []string `json:"XTestGoFiles"`
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		return err
	}
	t.product, t.tests = listed.GoFiles, slices.Concat(listed.TestGoFiles, listed.XTestGoFiles)
	return nil
}

// differ says whether two trees have different files among some of each.
func differ(a *tree, names []string, b *tree, others []string) bool {
	if !slices.Equal(names, others) {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool {
		x, errX := os.ReadFile(filepath.Join(a.folder, name))
		y, errY := os.ReadFile(filepath.Join(b.folder, name))
		return errX != nil || errY != nil || string(x) != string(y)
	})
}

// commit makes a repository of two revisions: the first commit is green, the second head. write makes the work tree that of the first
// or the second. It returns the name of the first commit.
func commit(ctx context.Context, folder string, pair Pair, write func(i int, folder string) error) (green string, err error) {
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return "", err
	}
	git := repository(folder)
	if _, err := git.run(ctx, "init", "-q", "-b", "main"); err != nil {
		return "", err
	}
	for i, version := range []string{pair.Older, pair.Newer} {
		if err := write(i, folder); err != nil {
			return "", err
		}
		for _, args := range [][]string{{"add", "--all", "--force"}, {"commit", "-q", "-m", "Release " + version}} {
			if _, err := git.run(ctx, args...); err != nil {
				return "", err
			}
		}
	}
	return git.run(ctx, "rev-parse", "HEAD~1")
}

// writeTo makes a work tree have the files of the release, and the named ones as they are in the tree.
func (t *tree) writeTo(folder string, changed []string) error {
	old, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range old {
		if entry.Name() != ".git" {
			if err := os.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(os.CopyFS(folder, os.DirFS(t.origin)), setMode(folder, 0o755)); err != nil {
		return err
	}
	for _, name := range changed {
		to := filepath.Join(folder, name)
		data, err := os.ReadFile(filepath.Join(t.folder, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = os.Remove(to)
		case err == nil:
			err = os.WriteFile(to, data, 0o644)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// without takes a file away; undo brings it back.
func (t *tree) without(name string) (undo func() error, err error) {
	path := filepath.Join(t.folder, name)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	return func() error { return os.WriteFile(path, data, 0o644) }, os.Remove(path)
}
