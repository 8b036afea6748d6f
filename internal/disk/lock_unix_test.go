//go:build unix && !aix && !solaris

package disk_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// A child process has its parent's open files between fork and exec: what was released is free all the same.
func TestReleaseFreesAFileThatAChildHasOpen(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	t.Cleanup(func() { _ = second.Close() })
	if err := disk.TryLock(first); err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(first.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(child) })
	if err := disk.Release(first); err != nil {
		t.Fatal(err)
	}
	if err := disk.TryLock(second); err != nil {
		t.Error(err)
	}
}
