package mine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// privateEnv tells a process that its mounts are its own.
const privateEnv = "HISTORIES_PRIVATE"

// Private starts this program again with mounts of its own, in the place of this process. There it does nothing. Without the right to do
// that it fails.
func Private() error {
	if _, is := os.LookupEnv(privateEnv); is {
		return os.Unsetenv(privateEnv)
	}
	runtime.LockOSThread()
	err := errors.Join(syscall.Unshare(syscall.CLONE_NEWNS), syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	if err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), privateEnv+"=")) //nolint:gosec // this program
}

// breakEnvironment breaks the environment of this process, and of all that it starts until undo is called. It must be alone in its process,
// and [Private] must have been called.
func breakEnvironment(fault string) (undo func() error, err error) {
	kind, degree, _ := strings.Cut(fault, ":")
	switch kind {
	case "wrong time zone":
		return setVariables("TZ=" + degree), nil
	case "wrong locale":
		return setVariables("LC_ALL="+degree, "LANG="+degree), nil
	case "variable left over":
		return setVariables(degree), nil
	case "binaries missing":
		return hidePrograms("git", "gcc")
	case "few open files":
		return lowerLimit(syscall.RLIMIT_NOFILE, degree)
	case "foreign file mask":
		mask, err := strconv.ParseUint(degree, 8, 32)
		old := syscall.Umask(int(mask))
		return func() error { syscall.Umask(old); return nil }, err
	case "no hosts file":
		return cover("/etc/hosts")
	case "no users file":
		return cover("/etc/passwd")
	case "no time zones":
		return cover("/usr/share/zoneinfo", filepath.Join(os.Getenv("GOROOT"), "lib", "time", "zoneinfo.zip"))
	case "no shell", "no git":
		program, err := exec.LookPath(map[string]string{"no shell": "sh", "no git": "git"}[kind])
		if err != nil {
			return nil, err
		}
		if program, err = filepath.EvalSymlinks(program); err != nil {
			return nil, err
		}
		return cover(program)
	}
	return nil, errors.New("unknown fault")
}

// cover mounts nothing over files and folders.
func cover(places ...string) (undo func() error, err error) {
	var covered []string
	undo = func() error {
		var err error
		for _, at := range covered {
			err = errors.Join(err, syscall.Unmount(at, syscall.MNT_DETACH))
		}
		return err
	}
	for _, at := range places {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err == nil && info.IsDir():
			err = syscall.Mount("tmpfs", at, "tmpfs", 0, "size=4k,mode=755")
		case err == nil:
			err = syscall.Mount(os.DevNull, at, "", syscall.MS_BIND, "")
		}
		if err != nil {
			return nil, errors.Join(err, undo())
		}
		covered = append(covered, at)
	}
	return undo, nil
}

// setVariables sets variables, and gives what sets them back.
func setVariables(values ...string) (undo func() error) {
	var undos []func() error
	for _, v := range values {
		name, value, _ := strings.Cut(v, "=")
		old, had := os.LookupEnv(name)
		_ = os.Setenv(name, value) // the names are valid
		undos = append(undos, func() error {
			if !had {
				return os.Unsetenv(name)
			}
			return os.Setenv(name, old)
		})
	}
	return func() error {
		var err error
		for _, u := range undos {
			err = errors.Join(err, u())
		}
		return err
	}
}

// hidePrograms leaves in PATH only the programs with these names.
func hidePrograms(but ...string) (undo func() error, err error) {
	folder, err := os.MkdirTemp("", "programs")
	if err != nil {
		return nil, err
	}
	for _, name := range but {
		if program, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(program, filepath.Join(folder, name)); err != nil {
				return nil, err
			}
		}
	}
	back := setVariables("PATH=" + folder)
	return func() error { return errors.Join(back(), os.RemoveAll(folder)) }, nil
}

func lowerLimit(resource int, most string) (undo func() error, err error) {
	var old syscall.Rlimit
	n, err := strconv.ParseUint(most, 10, 64)
	// Who may not raise a limit could not undo it.
	if err := errors.Join(err, syscall.Getrlimit(resource, &old), syscall.Setrlimit(resource, &syscall.Rlimit{Cur: old.Cur, Max: old.Max + 1}), syscall.Setrlimit(resource, &old)); err != nil {
		return nil, err
	}
	return func() error { return syscall.Setrlimit(resource, &old) }, syscall.Setrlimit(resource, &syscall.Rlimit{Cur: n, Max: n})
}
