//go:build !unix

package disk

import (
	"errors"
	"io/fs"
)

// PrivateFolder cannot see who may write to a folder; the user's own ones are private on these systems.
func PrivateFolder(info fs.FileInfo) error {
	if !info.IsDir() {
		return errors.New("is not a directory")
	}
	return nil
}

// PrivateFile cannot see who may read a file; those in the user's own folders are private on these systems.
func PrivateFile(fs.FileInfo) error { return nil }
