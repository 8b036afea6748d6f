package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

const maxPointerBytes = 4096

// errNoRepository: neither the folder nor one above it has a .git.
var errNoRepository = errors.New("no git repository")

// repository is the store of a git repository, read without running git: no hook, filter or configuration of it is obeyed.
type repository struct {
	*filesystem.Storage
	// prefix is the slash-separated way from the top of the work tree to the folder; empty for the top.
	prefix string
	top    string // of the work tree
}

func openRepository(dir string) (*repository, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil { // "." has no folder above it
		return nil, err
	}
	for top := dir; ; top = filepath.Dir(top) {
		info, err := os.Stat(filepath.Join(top, ".git"))
		if err == nil {
			prefix, err := filepath.Rel(top, dir)
			if err != nil {
				return nil, err
			}
			if prefix == "." {
				prefix = ""
			}
			files, err := gitFiles(filepath.Join(top, ".git"), info.IsDir())
			if err != nil {
				return nil, err
			}
			store := filesystem.NewStorageWithOptions(files, cache.NewObjectLRUDefault(), filesystem.Options{
				KeepDescriptors: true, AlternatesFS: osfs.New(filepath.VolumeName(top)+string(filepath.Separator), osfs.WithBoundOS()),
			})
			if err := readable(store); err != nil {
				return nil, errors.Join(err, store.Close())
			}
			return &repository{Storage: store, prefix: filepath.ToSlash(prefix), top: top}, nil
		}
		if top == filepath.Dir(top) {
			return nil, errNoRepository
		}
	}
}

// readable says why the store can't be read: go-git knows one form of names and of references.
func readable(store *filesystem.Storage) error {
	config, err := store.Config()
	if err != nil {
		return fmt.Errorf("the configuration of the repository: %w", err)
	}
	extensions := config.Raw.Section("extensions")
	if format := extensions.Option("objectformat"); format != "" && format != "sha1" {
		return fmt.Errorf("object names of %s are not supported: compare in a clone with SHA-1 names, or without a revision", format)
	}
	if storage := extensions.Option("refstorage"); storage != "" && storage != "files" {
		return fmt.Errorf("references in %s are not supported: run `git refs migrate --ref-format=files`", storage)
	}
	return nil
}

// advise adds to an error what to do about a clone that lacks objects.
func (r *repository) advise(err error, since string) error {
	if !errors.Is(err, plumbing.ErrObjectNotFound) && !errors.Is(err, plumbing.ErrReferenceNotFound) {
		return err
	}
	if shallow, failed := r.Shallow(); failed == nil && len(shallow) > 0 {
		return fmt.Errorf("%w: the clone is shallow: run `git fetch --deepen 50`, or check out with fetch-depth: 0", err)
	}
	if config, failed := r.Config(); failed == nil && errors.Is(err, plumbing.ErrObjectNotFound) {
		for _, remote := range config.Raw.Section("remote").Subsections {
			if remote.HasOption("promisor") || remote.HasOption("partialclonefilter") {
				return fmt.Errorf("%w: the clone is partial: run `git diff --stat %s`, which fetches what is missing", err, since)
			}
		}
	}
	return err
}

// gitFiles is the repository's own folder: .git, or for a further work tree or a submodule what the file .git points to.
func gitFiles(path string, isDir bool) (billy.Filesystem, error) {
	if !isDir {
		target, err := pointer(path, "gitdir: ")
		if err != nil {
			return nil, err
		}
		path = target
	}
	files := osfs.New(path, osfs.WithBoundOS())
	common, err := pointer(filepath.Join(path, "commondir"), "")
	if errors.Is(err, os.ErrNotExist) {
		return files, nil
	}
	if err != nil {
		return nil, err
	}
	return dotgit.NewRepositoryFilesystem(files, osfs.New(common, osfs.WithBoundOS())), nil
}

// pointer reads a file that holds the path of a folder, relative to its own.
func pointer(path, prefix string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPointerBytes {
		return "", fmt.Errorf("%s: %w", path, errNoRepository)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if !ok || target == "" {
		return "", fmt.Errorf("%s: %w", path, errNoRepository)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return target, nil
}
