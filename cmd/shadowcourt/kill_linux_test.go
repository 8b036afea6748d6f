package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/testkit/killtest"
)

// roomyDisk is the size of a disk that no command of the test fills.
const roomyDisk = 256 << 20

// Disks of their own are full at random offsets, counted over all files. It needs root, for a tmpfs, and `make kills`.
func TestAccept_FX2_FullDisk(t *testing.T) {
	t.Parallel()
	if os.Getenv(killsVariable) == "" || os.Geteuid() != 0 {
		return // TestAccept_FX2_FullAtAnyOffset needs neither
	}
	attackAll(t, attacks(), func(t *testing.T, a *crashing) {
		t.Helper()
		whole := newDisk(t)
		a.fill(t, whole.dir)
		before := whole.used(t)
		if ending := a.run(t, a.program(whole.dir, false)); ending.Code != cli.ExitDone {
			t.Fatal(ending)
		}
		most := whole.used(t) - before
		for range max(a.offsets(t)/max(a.divide, 1), 1) {
			disk := newDisk(t)
			a.fill(t, disk.dir)
			offset := a.random.Offset(most)
			disk.resize(t, disk.used(t)+offset)
			a.full(t, disk.dir, whole.dir, fmt.Sprintf("full behind %d of %d bytes", offset, most), "no space left on device", func() killtest.Ending {
				ending := a.run(t, a.program(disk.dir, false))
				disk.resize(t, roomyDisk)
				return ending
			})
			disk.unmount(t)
		}
	})
}

// ramDisk is a file system of a size.
type ramDisk struct{ dir string }

func newDisk(t *testing.T) *ramDisk {
	t.Helper()
	d := &ramDisk{t.TempDir()}
	if err := syscall.Mount("killtest", d.dir, "tmpfs", 0, "size="+strconv.Itoa(roomyDisk)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.dir, syscall.MNT_DETACH) })
	return d
}

func (d *ramDisk) unmount(t *testing.T) {
	t.Helper()
	if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
		t.Error(err)
	}
}

func (d *ramDisk) resize(t *testing.T, bytes int64) {
	t.Helper()
	if err := syscall.Mount("killtest", d.dir, "tmpfs", syscall.MS_REMOUNT, "size="+strconv.FormatInt(bytes, 10)); err != nil {
		t.Fatal(err)
	}
}

func (d *ramDisk) used(t *testing.T) int64 {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize
}
