//go:build !unix

package sandbox

import (
	"errors"
	"io/fs"
)

// private cannot see who may write here; the user's own directories are
// private on these systems.
func private(info fs.FileInfo) error {
	if !info.IsDir() {
		return errors.New("is not a directory")
	}
	return nil
}
