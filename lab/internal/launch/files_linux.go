package launch

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// mount changes the mounts of this process alone.
func mount(change func() error) error {
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	// The working folder was opened below the mounts; enter it again afterwards.
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return os.Chdir(dir)
}

func breakFiles(kind, degree, temp string) error {
	switch kind {
	case "read-only temporary folder":
		return remount(temp, syscall.MS_RDONLY)
	case "read-only source":
		return remount(".", syscall.MS_RDONLY)
	case "no execution in temporary folder":
		return remount(temp, syscall.MS_NOEXEC)
	case "disk full":
		return fullDisk(temp, degree)
	case "source disk full":
		return fullSource()
	case "no hosts file":
		return bind("/dev/null", "/etc/hosts")
	case "no users file":
		return bind("/dev/null", "/etc/passwd")
	case "no time zones":
		return errors.Join(empty("/usr/share/zoneinfo"), // package time looks in both
			bind("/dev/null", zones()))
	case "no proc":
		return empty("/proc")
	case "no devices":
		return empty("/dev")
	default:
		return errors.New("unknown fault")
	}
}

// zones is where Go itself has time zones.
func zones() string {
	root := cmp.Or(os.Getenv(GorootEnv), os.Getenv("GOROOT"))
	if root == "" {
		out, _ := exec.Command("go", "env", "GOROOT").Output() //nolint:noctx // it answers at once
		root = strings.TrimSpace(string(out))
	}
	return filepath.Join(root, "lib", "time", "zoneinfo.zip")
}

func bind(from, to string) error { return syscall.Mount(from, to, "", syscall.MS_BIND, "") }

func empty(dir string) error { return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4k,mode=755") }

func remount(dir string, flags uintptr) error {
	dir = absolute(dir)
	if err := bind(dir, dir); err != nil {
		return err
	}
	return syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|flags, "")
}

// fullDisk puts a small file system at dir and fills it but for the given number of KiB.
func fullDisk(dir, free string) error {
	kilobytes, err := strconv.Atoi(free)
	if err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=777", 16+kilobytes)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "core"), make([]byte, 16<<10), 0o600)
}

// fullSource lets the working folder be read, and written to on a file system that is full.
func fullSource() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	const upper = "/mnt"
	if err := syscall.Mount("tmpfs", upper, "tmpfs", 0, "size=16k,mode=777"); err != nil {
		return err
	}
	for _, name := range []string{"up", "work"} {
		if err := os.Mkdir(filepath.Join(upper, name), 0o777); err != nil {
			return err
		}
	}
	options := "lowerdir=" + dir + ",upperdir=" + upper + "/up,workdir=" + upper + "/work"
	if err := syscall.Mount("overlay", dir, "overlay", 0, options); err != nil {
		return err
	}
	err = os.WriteFile(filepath.Join(upper, "core"), make([]byte, 16<<10), 0o600)
	if errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}
