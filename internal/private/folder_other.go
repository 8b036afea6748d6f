//go:build !unix

package private

import (
	"errors"
	"io/fs"
)

// Folder cannot see who may write to a folder; the user's own ones are private on these systems.
func Folder(info fs.FileInfo) error {
	if !info.IsDir() {
		return errors.New("is not a directory")
	}
	return nil
}

// File cannot see who may read a file; those in the user's own folders are private on these systems.
func File(fs.FileInfo) error { return nil }
