package isolate

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

func strongest() Level { return Group }

// attributes give the supervisor a session of its own, without the user's terminal.
func attributes(Level, bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// confine limits files and cores; macOS has no namespaces.
func confine(o *order) error {
	if o.Command.Native {
		return nil
	}
	for resource, limit := range map[int]uint64{syscall.RLIMIT_CORE: 0, syscall.RLIMIT_FSIZE: uint64(o.Command.Limits.Disk)} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	return nil
}

// usage is not known here: memory and processes are not limited.
func usage(Level, int, int) (resident int64, processes int) { return 0, 0 }

func unreached() bool { return false }

func killAll(Level) { killGroup() }

func processes() []int { return nil }

// privacy is nothing here: tests read what the user can.
type privacy struct{}

func privacyOf(*Command) privacy { return privacy{} }

func hides() bool { return false }

func trace(*order) (func(), func() map[string]Look) {
	return func() {}, func() map[string]Look { return nil }
}
