package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// launch runs a program in an environment that is broken in the given way. It replaces this process where it can, so
// that nothing of it is seen in the output.
func launch(fault string, args []string) int {
	note := os.Getenv(noteEnv)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GEN_") })
	kind, degree, _ := strings.Cut(fault, ":")
	switch kind {
	case starved:
		return starve(args, env)
	case "memory limit":
		return limitMemory(args, env, degree)
	}
	runtime.LockOSThread() // namespaces belong to the thread that then becomes the program
	env, err := breakEnvironment(kind, degree, env)
	if err == nil {
		err = syscall.Exec(args[0], args, env)
	}
	_ = os.WriteFile(note, []byte(fault+": "+err.Error()), 0o600)
	return 125
}

// asGroup starts a command as the leader of a process group, and ends the whole group with it.
func asGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

func breakEnvironment(kind, degree string, env []string) ([]string, error) {
	temp := os.Getenv(tempEnv)
	switch kind {
	case "":
		return env, nil
	case "binaries missing":
		return set(env, "PATH=/opt/bin"), nil
	case "wrong time zone":
		return set(env, "TZ="+degree), nil
	case "wrong locale":
		return set(env, "LC_ALL="+degree, "LANG="+degree), nil
	case "no home":
		return set(env, "HOME=", "USER="), nil
	case "temporary folder missing":
		return env, os.RemoveAll(temp)
	case "unprivileged user":
		return env, errors.Join(os.Chmod(temp, 0o755), becomeNobody()) //nolint:gosec // that is the fault
	case "few processes":
		return env, errors.Join(limit(rlimitProcesses, 12), becomeNobody())
	case "few open files":
		return env, limitTo(syscall.RLIMIT_NOFILE, degree)
	case "file size limit":
		return env, limitTo(syscall.RLIMIT_FSIZE, degree)
	case "foreign file mask":
		mask, err := strconv.ParseUint(degree, 8, 32)
		syscall.Umask(int(mask))
		return env, err
	case "no network", "port taken", "loopback down for IPv6":
		return env, breakNetwork(kind)
	default:
		return env, mount(func() error { return breakFiles(kind, degree, temp) })
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

// becomeNobody continues as a user without rights.
func becomeNobody() error {
	const nobody = 65534
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
}

// rlimitProcesses is RLIMIT_NPROC, which package syscall has no name for.
const rlimitProcesses = 6

func limitTo(resource int, most string) error {
	n, err := strconv.ParseUint(most, 10, 64)
	if err != nil {
		return err
	}
	return limit(resource, n)
}

func limit(resource int, most uint64) error {
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most})
}

// start runs a program as a child, for faults that go on while it runs.
func start(args, env []string) (*exec.Cmd, error) {
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // the generator ends the group
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	return cmd, cmd.Start()
}

func report(fault string, err error) int {
	_ = os.WriteFile(os.Getenv(noteEnv), []byte(fault+": "+err.Error()), 0o600)
	return 125
}

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
