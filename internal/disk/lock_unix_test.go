//go:build unix && !aix && !solaris

package disk_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A child process has its parent's open files between fork and exec: what was released is free all the same.
func TestReleaseFreesAFileThatAChildHasOpen(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		return must.Get(os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600))(t)
	}
	first, second := open(), open()
	t.Cleanup(func() { _ = second.Close() })
	must.Do(t, disk.TryLock(first))
	child := must.Get(syscall.Dup(int(first.Fd())))(t)
	t.Cleanup(func() { _ = syscall.Close(child) })
	must.Do(t, disk.Release(first))
	must.Do(t, disk.TryLock(second))
}
