//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// PrivateFolder says why what is in a folder may be of somebody else; nil where only this user writes there.
func PrivateFolder(info fs.FileInfo) error {
	if !info.IsDir() {
		return errors.New("is not a directory")
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write to it (mode %04o): make it 0700", info.Mode().Perm())
	}
	return owned(info)
}

// PrivateFile says why others may know or have written what is in a file; nil where only this user reads and writes it.
func PrivateFile(info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others may read or write it (mode %04o): make it 0600", info.Mode().Perm())
	}
	return owned(info)
}

func owned(info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("belongs to user %d, not to %d", stat.Uid, os.Geteuid())
	}
	return nil
}
