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
	"strings"
)

// tree is a copy of a release that may be changed. Tests may leave files in it.
type tree struct {
	folder  string
	origin  string   // the release as it was downloaded
	product []string // Go files of the package in the root that are built here
	tests   []string
}

// newTree downloads a release through the go command, which verifies its checksum, and copies it.
func newTree(ctx context.Context, module, version, folder string) (*tree, error) {
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(filepath.Dir(folder), 0o755)); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module+"@"+version)
	cmd.Dir = filepath.Dir(folder)
	out, err := cmd.Output()
	var download struct {
		Dir   string `json:"Dir"`
		Error string `json:"Error"`
	}
	if jsonErr := json.Unmarshal(out, &download); jsonErr != nil || download.Dir == "" {
		return nil, fmt.Errorf("downloading %s@%s: %s %w", module, version, download.Error, err)
	}
	if _, err := os.Stat(filepath.Join(download.Dir, "go.mod")); err != nil {
		return nil, fmt.Errorf("%s@%s has no go.mod", module, version)
	}
	if err := os.CopyFS(folder, os.DirFS(download.Dir)); err != nil {
		return nil, err
	}
	if err := setMode(folder, 0o755); err != nil {
		return nil, err
	}
	t := &tree{folder: folder, origin: download.Dir}
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

// commit makes a repository of two releases: the first commit is green, the second head. The named files are as they are in the
// trees now. It returns the name of the first commit.
func commit(ctx context.Context, folder string, pair Pair, older, head *tree, changed ...string) (green string, err error) {
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return "", err
	}
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.autocrlf=false", "-c", "gc.auto=0"}, args...)...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
			"GIT_AUTHOR_NAME=Release", "GIT_AUTHOR_EMAIL=release@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
			"GIT_COMMITTER_NAME=Release", "GIT_COMMITTER_EMAIL=release@example.com", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
		return strings.TrimSpace(string(out)), nil
	}
	if _, err := git("init", "-q", "-b", "main"); err != nil {
		return "", err
	}
	for i, t := range []*tree{older, head} {
		if err := t.writeTo(folder, changed); err != nil {
			return "", err
		}
		for _, args := range [][]string{{"add", "--all", "--force"}, {"commit", "-q", "-m", "Release " + []string{pair.Older, pair.Newer}[i]}} {
			if _, err := git(args...); err != nil {
				return "", err
			}
		}
	}
	return git("rev-parse", "HEAD~1")
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
