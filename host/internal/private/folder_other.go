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
