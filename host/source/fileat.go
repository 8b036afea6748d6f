package source

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing/object"
)

// FileAt reads a file of a revision in the repository of a folder. name is its path from the top folder, with slashes. A file that is not there is
// fs.ErrNotExist, and so is what is no regular file. Errors: [ErrRevision], [ErrAmbiguous], [ErrTooLarge], and those of git.
func FileAt(dir, revision, name string) ([]byte, error) {
	r, err := openRepository(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	commit, err := r.commit(revision)
	if err != nil {
		return nil, err
	}
	tree, err := commit.Tree()
	if err != nil {
		return nil, r.advise(err, revision)
	}
	entry, err := tree.FindEntry(name)
	if errors.Is(err, object.ErrEntryNotFound) || errors.Is(err, object.ErrDirectoryNotFound) || err == nil && !isFile(entry.Mode) {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, r.advise(err, revision)
	}
	data, large, err := r.blob(entry.Hash)
	if large {
		return nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	return data, err
}
