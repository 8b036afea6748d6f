package moduledir

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// Lock keeps other processes from locking the folder until unlock is called,
// and waits for one that has it. Readers need no lock.
func (d *Dir) Lock() (unlock func(), err error) {
	if err := disk.MakeFolder(filepath.Join(d.path, historyDir), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(d.path, historyDir, ".lock"), os.O_RDONLY|os.O_CREATE, 0o644) //nolint:gosec // other operators lock it, too
	if err != nil {
		return nil, err
	}
	if err := disk.Lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // which unlocks
}
