package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// launch runs a test binary in an environment that is broken in the way that the variable GEN_FAULT names. It replaces
// this process, so that nothing of it is seen in the output.
func launch(args []string) int {
	fault := os.Getenv(faultEnv)
	note := os.Getenv(noteEnv)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GEN_") || strings.HasPrefix(v, "GOTMPDIR=") // tests would write there, past the fault
	})
	if fault == starved {
		return starve(args, env)
	}
	runtime.LockOSThread() // namespaces belong to the thread that then becomes the test binary
	env, err := breakEnvironment(fault, args[0], env)
	if err == nil {
		err = syscall.Exec(args[0], args, env)
	}
	_ = os.WriteFile(note, []byte(fault+": "+err.Error()), 0o600)
	return 125
}

func breakEnvironment(fault, binary string, env []string) ([]string, error) {
	temp := os.Getenv(tempEnv)
	switch fault {
	case "":
		return env, nil
	case "no network":
		return env, syscall.Unshare(syscall.CLONE_NEWNET)
	case "port taken":
		return env, takePorts()
	case "read-only file system":
		return env, mount(func() error {
			return errors.Join(readOnly(temp), readOnly("."))
		})
	case "unprivileged user":
		return env, dropPrivileges(binary, temp)
	case "disk full":
		return env, mount(func() error { return fullDisk(temp) })
	case "few open files":
		return env, limit(syscall.RLIMIT_NOFILE, 7)
	case "file size limit":
		return env, limit(syscall.RLIMIT_FSIZE, 0)
	case "memory limit":
		return env, limitMemory(12 << 20)
	case "no hosts file":
		return env, mount(func() error {
			return syscall.Mount("/dev/null", "/etc/hosts", "", syscall.MS_BIND, "")
		})
	case "no users file":
		return env, mount(func() error {
			return syscall.Mount("/dev/null", "/etc/passwd", "", syscall.MS_BIND, "")
		})
	case "no time zones":
		return env, mount(hideTimeZones)
	case "temporary folder missing":
		return env, os.RemoveAll(temp)
	case "binaries missing":
		return set(env, "PATH=/opt/bin"), nil
	case "wrong time zone":
		return set(env, "TZ=Asia/Kathmandu"), nil
	case "wrong locale":
		return set(env, "LC_ALL=ja_JP.UTF-8"), nil
	case "no home":
		return set(env, "HOME=", "USER="), nil
	default:
		return env, errors.New("unknown fault")
	}
}

// set replaces variables; an empty value removes one.
func set(env []string, values ...string) []string {
	for _, v := range values {
		name, value, _ := strings.Cut(v, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		if value != "" {
			env = append(env, v)
		}
	}
	return env
}

// mount changes the mounts of this process alone.
func mount(change func() error) error {
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	// The working folder was opened below the mounts; enter it again.
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	return os.Chdir(dir)
}

func readOnly(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	return syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, "")
}

// fullDisk puts a small file system at dir and fills it.
func fullDisk(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k,mode=777"); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "core"))
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 4096)
	for range 16 {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return nil
		}
	}
	return errors.New("the file system did not fill")
}

func hideTimeZones() error {
	if err := syscall.Mount("tmpfs", "/usr/share/zoneinfo", "tmpfs", 0, "size=4k"); err != nil {
		return err
	}
	// Package time looks there too.
	return syscall.Mount("/dev/null", filepath.Join(os.Getenv(gorootEnv), "lib/time/zoneinfo.zip"), "", syscall.MS_BIND, "")
}

// takePorts leaves one port to bind to, and takes it.
func takePorts() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return err
	}
	// "ip link set lo up", without the ip command.
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	if err := interfaceUp(fd, "lo"); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40001"), 0o600); err != nil {
		return err
	}
	for _, port := range []int{40000, 40001} {
		l, err := net.Listen("tcp", ":"+strconv.Itoa(port)) //nolint:noctx // ends with the process
		if err != nil {
			return err
		}
		file, err := l.(*net.TCPListener).File() //nolint:forcetypeassert // net.Listen("tcp") gives one
		if err != nil {
			return err
		}
		// Keep it over exec.
		if _, err := syscall.Dup(int(file.Fd())); err != nil {
			return err
		}
	}
	return nil
}

// dropPrivileges goes on as nobody, who may run the binary but not write to the folders.
func dropPrivileges(binary, temp string) error {
	for dir := filepath.Dir(binary); strings.Contains(dir, "go-build"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // nobody runs the binary in it
			return err
		}
	}
	if err := os.Chmod(temp, 0o755); err != nil { //nolint:gosec // that is the fault
		return err
	}
	const nobody = 65534
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
}

func limit(resource int, most uint64) error {
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most})
}

// limitMemory moves this process into a control group of its own; beyond the limit the kernel kills it.
func limitMemory(bytes int) error {
	dir := filepath.Join("/sys/fs/cgroup/memory", "gen-"+strconv.Itoa(os.Getpid()))
	file := "memory.limit_in_bytes"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		dir, file = filepath.Join("/sys/fs/cgroup", filepath.Base(dir)), "memory.max"
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(bytes)), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

// removeGroups removes the control groups of processes that are gone.
func removeGroups() {
	for _, pattern := range []string{"/sys/fs/cgroup/memory/gen-*", "/sys/fs/cgroup/gen-*"} {
		dirs, _ := filepath.Glob(pattern)
		for _, dir := range dirs {
			_ = os.Remove(dir)
		}
	}
}

// starve lets the test binary run in short bursts with long pauses between, as on a machine that is overloaded.
func starve(args, env []string) int {
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // the test binary that go test hands over
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	signal.Ignore(syscall.SIGQUIT) // go test sends it to the group of a test that hangs; the test answers
	if err := cmd.Start(); err != nil {
		return 125
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // the exit code says how it ended
	}()
	for {
		select {
		case <-done:
			return cmd.ProcessState.ExitCode()
		case <-time.After(15 * time.Millisecond):
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(150 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGCONT)
		}
	}
}
