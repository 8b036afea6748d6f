package launch

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

// Run runs a program in an environment that is broken in the given way, and gives its exit code. It replaces this process where it can, so
// that nothing of it is seen in the output.
func Run(fault string, args []string) int {
	note := os.Getenv(NoteEnv)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GEN_") })
	kind, degree, _ := strings.Cut(fault, ":")
	switch kind {
	case Starved:
		return starve(args, env)
	case "memory limit":
		return limitMemory(args, env, degree)
	}
	runtime.LockOSThread() // namespaces belong to the thread that then becomes the program
	_, nested := os.LookupEnv(NestedEnv)
	env, err := breakEnvironment(kind, degree, env)
	if errors.Is(err, syscall.EPERM) && !nested {
		return nest(fault)
	}
	if err == nil {
		err = syscall.Exec(args[0], args, env)
	}
	_ = os.WriteFile(note, []byte(fault+": "+err.Error()), 0o600)
	return 125
}

func breakEnvironment(kind, degree string, env []string) ([]string, error) {
	temp := os.Getenv(TempEnv)
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

// nest runs this launcher again as root of a namespace of users: within a sandbox it may change nothing else.
func nest(fault string) int {
	cmd, err := start(append([]string{"/proc/self/exe"}, os.Args[1:]...), append(os.Environ(), NestedEnv+"="), &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER, GidMappingsEnableSetgroups: true,
		UidMappings: []syscall.SysProcIDMap{{Size: 1 << 16}}, GidMappings: []syscall.SysProcIDMap{{Size: 1 << 16}},
	})
	if err != nil {
		return report(fault, err)
	}
	_ = cmd.Wait() // the exit code says how it ended
	return cmd.ProcessState.ExitCode()
}

// start runs a program as a child, for faults that go on while it runs.
func start(args, env []string, attributes *syscall.SysProcAttr) (*exec.Cmd, error) {
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // the generator ends the group
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = attributes
	return cmd, cmd.Start()
}

func report(fault string, err error) int {
	_ = os.WriteFile(os.Getenv(NoteEnv), []byte(fault+": "+err.Error()), 0o600)
	return 125
}

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
