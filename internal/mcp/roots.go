package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/run"
)

// Roots are the folders in which agents may name files and folders. Nothing that an agent names leads out of them, not even by a symbolic
// link. Safe for concurrent use.
type Roots struct{ list []root }

// root is one of them.
type root struct {
	given string // the absolute path that the operator gave
	real  string // the same without symbolic links
	fs    *os.Root
}

// OpenRoots opens folders; relative paths of agents are of the first one. The caller closes them.
func OpenRoots(dirs []string) (*Roots, error) {
	r := &Roots{}
	for _, dir := range dirs {
		given, err := filepath.Abs(dir)
		if err == nil {
			err = r.add(given)
		}
		if err != nil {
			r.Close()
			return nil, err
		}
	}
	return r, nil
}

func (r *Roots) add(given string) error {
	resolved, err := filepath.EvalSymlinks(given)
	if err != nil {
		return err
	}
	fs, err := os.OpenRoot(resolved)
	if err != nil {
		return err
	}
	r.list = append(r.list, root{given, resolved, fs})
	return nil
}

// Close closes the folders. The Roots may be nil.
func (r *Roots) Close() {
	if r == nil {
		return
	}
	for i := range r.list {
		_ = r.list[i].fs.Close()
	}
}

// maxPathBytes limits a path of an agent.
const maxPathBytes = 4096

// find gives the root that a path lies in by its words, and the rest of the path.
func (r *Roots) find(name string) (*root, string, error) {
	switch {
	case r == nil || len(r.list) == 0:
		return nil, "", errors.New("no folder may be read: start the server with --source DIR")
	case name == "" || len(name) > maxPathBytes || strings.ContainsRune(name, 0):
		return nil, "", fmt.Errorf("a path has 1 to %d bytes, none of which is zero", maxPathBytes)
	case !filepath.IsAbs(name):
		if rest := filepath.Clean(name); filepath.IsLocal(rest) {
			return &r.list[0], rest, nil
		}
	default:
		for i := range r.list {
			for _, top := range []string{r.list[i].given, r.list[i].real} {
				if rest, err := filepath.Rel(top, name); err == nil && filepath.IsLocal(rest) {
					return &r.list[i], rest, nil
				}
			}
		}
	}
	return nil, "", fmt.Errorf("%q is outside of the folders of --source", name)
}

// maxReportBytes limits a report that is named by its path.
const maxReportBytes = 256 << 20

// open opens a regular file.
func (r *Roots) open(ctx context.Context, name string) (*os.File, error) {
	in, rest, err := r.find(name)
	if err != nil {
		return nil, err
	}
	info, err := in.fs.Stat(rest)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q: %w", name, cause(err))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is no regular file", name)
	case info.Size() > maxReportBytes:
		return nil, fmt.Errorf("%q has %d bytes; a report has at most %d", name, info.Size(), maxReportBytes)
	}
	f, err := run.Await(ctx, func() (*os.File, error) { return in.fs.Open(rest) })
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, cause(err))
	}
	return f, nil
}

// docket opens a report.
func (r *Roots) docket(ctx context.Context, name, format string) (*run.Dockets, error) {
	f, err := r.open(ctx, name)
	if err != nil {
		return nil, err
	}
	return run.File(ctx, "the report", f, format)
}

// cause is an error without the path, which the caller names as the agent did.
func cause(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}

// source gives the real path of a folder with tests; without a name that of the first root.
func (r *Roots) source(name string) (string, error) {
	name = cmp.Or(name, ".")
	in, rest, err := r.find(name)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(in.real, rest))
	if err != nil {
		return "", fmt.Errorf("%q: %w", name, cause(err))
	}
	if rest, err = filepath.Rel(in.real, dir); err != nil || !filepath.IsLocal(rest) {
		return "", fmt.Errorf("%q leads out of the folders of --source", name)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%q is no folder", name)
	}
	// A .git below a root may point to a repository elsewhere, whose files would be shown.
	for ; dir != in.real && rest != "."; rest = filepath.Dir(rest) {
		if _, err := in.fs.Lstat(filepath.Join(rest, ".git")); !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("%q is in a repository of its own: start the server with --source for that, too", name)
		}
	}
	return dir, nil
}
