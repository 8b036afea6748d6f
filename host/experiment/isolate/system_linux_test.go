package isolate_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_EX6_NoDevicesButHarmlessOnes: a program that root runs finds no disk and no memory of the machine, and those devices that
// it needs work.
func TestAccept_EX6_NoDevicesButHarmlessOnes(t *testing.T) {
	if isolate.Strongest() != isolate.Namespaces {
		t.Skip("the system allows no user namespaces")
	}
	r := shell(t, isolate.Namespaces, `find /dev ! -type d ! -path '/dev/pts/*' | sort | tr '\n' ' '; echo
		head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; echo x >/dev/null; echo x | cat >/dev/full; echo x | cat /dev/stdin
		echo shared >/dev/shm/x && cat /dev/shm/x; cat /dev/fd/3 3<<-end
		through a descriptor
		end
		touch /dev/x; test -c /dev/ptmx && exec 4<>/dev/ptmx && echo terminal`, nil)
	out := string(r.Output)
	found, _, _ := strings.Cut(out, "\n")
	if found != "/dev/fd /dev/full /dev/null /dev/ptmx /dev/random /dev/stderr /dev/stdin /dev/stdout /dev/tty /dev/urandom /dev/zero " {
		t.Errorf("it found %s", found)
	}
	for _, want := range []string{"\n3\n3\n", "No space left on device", "x\nshared\nthrough a descriptor\n", "'/dev/x': Read-only file system", "terminal\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// TestAccept_EX6_TheKernelsSettingsAreReadOnly: a program that root runs changes no setting of the kernel, of which some name programs that run
// outside, nor gets the rights of its supervisor. Settings of its own processes can be written.
func TestAccept_EX6_TheKernelsSettingsAreReadOnly(t *testing.T) {
	if isolate.Strongest() != isolate.Namespaces {
		t.Skip("the system allows no user namespaces")
	}
	before := must.Get(os.ReadFile("/proc/sys/kernel/core_pattern"))(t)
	r := shell(t, isolate.Namespaces, `for f in $(find /proc/[!0-9]* -maxdepth 3 ! -type l -perm /222); do test -w "$f" && echo "can write $f"; done
		unshare -Urmpf sh -c 'mount -t proc proc /proc && test -w /proc/sys/kernel/core_pattern && echo "mounted another"'
		readlink /proc/1/exe && echo traced; umount /dev && echo "devices are back"
		echo 10 >/proc/self/oom_score_adj && echo own; cat /proc/sys/kernel/core_pattern`, nil)
	out := string(r.Output)
	if strings.Contains(out, "can write") || strings.Contains(out, "another") || strings.Contains(out, "traced") || strings.Contains(out, "back") {
		t.Errorf("got %s", out)
	}
	if !strings.HasSuffix(out, "own\n"+string(before)) {
		t.Errorf("it lacks what it needs: %s", out)
	}
}

// trySockets makes sockets, and says for each what came of it.
func trySockets(out io.Writer) {
	for name, family := range map[string]int{
		"unix": unix.AF_UNIX, "inet": unix.AF_INET, "inet6": unix.AF_INET6, "netlink": unix.AF_NETLINK, "vsock": unix.AF_VSOCK, "alg": unix.AF_ALG, "key": unix.AF_KEY,
	} {
		kind := unix.SOCK_DGRAM
		if family == unix.AF_VSOCK {
			kind = unix.SOCK_STREAM
		}
		_, err := unix.Socket(family, kind, 0)
		fmt.Fprintf(out, "%s: %v\n", name, err)
	}
	_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	fmt.Fprintf(out, "pair: %v\n", err)
	_, err = unix.Socketpair(unix.AF_TIPC, unix.SOCK_STREAM, 0)
	fmt.Fprintf(out, "pair of another: %v\n", err)
	_, _, errno := unix.Syscall(425, 1, 0, 0) // io_uring_setup
	fmt.Fprintf(out, "ring without filter: %v\n", !errors.Is(errno, unix.ENOSYS))
	_, err = unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
	fmt.Fprintf(out, "keys without filter: %v\n", !errors.Is(err, unix.ENOSYS))
}

// TestAccept_EX6_NoSocketsThatLeaveTheNamespace: a program makes the usual sockets, and none by which it might reach the host of a virtual machine or the kernel.
func TestAccept_EX6_NoSocketsThatLeaveTheNamespace(t *testing.T) {
	self := must.Get(os.ReadFile(os.Args[0]))(t)
	for _, level := range levels(t) {
		t.Run(string(level), func(t *testing.T) {
			out := string(shell(t, level, "./self", func(c *isolate.Command) {
				c.Env = append(c.Env, "ISOLATE_TEST_SOCKETS=1")
				must.Do(t, os.WriteFile(filepath.Join(c.Dir, "self"), self, 0o700))
			}).Output)
			for _, want := range []string{
				"unix: <nil>", "inet: <nil>", "inet6: <nil>", "netlink: <nil>", "pair: <nil>", "ring without filter: false", "keys without filter: false",
				"vsock: address family not supported", "alg: address family not supported", "key: address family not supported", "another: address family not supported",
			} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}

// TestAccept_EX6_NoDescriptorsOfOthers: a program has none of the files that whoever started this one passed on.
func TestAccept_EX6_NoDescriptorsOfOthers(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	must.Do(t, os.WriteFile(secret, []byte("kept to itself"), 0o600))
	f, err := os.Open(secret)
	if err != nil {
		t.Fatal(err)
	}
	passed, err := syscall.Dup(int(f.Fd())) // unlike those that Go opens, it is passed on
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = f.Close(), syscall.Close(passed) }()
	for _, level := range levels(t) {
		t.Run(string(level), func(t *testing.T) {
			out := string(shell(t, level, fmt.Sprintf("cat /proc/self/fd/%d; echo done", passed), nil).Output)
			if strings.Contains(out, "kept to itself") || !strings.HasSuffix(out, "done\n") {
				t.Errorf("got %s", out)
			}
		})
	}
}

// TestAccept_EX6_TheTerminalIsOutOfReach: a program neither writes to the user's terminal nor types there.
func TestAccept_EX6_TheTerminalIsOutOfReach(t *testing.T) {
	for _, level := range levels(t) {
		t.Run(string(level), func(t *testing.T) {
			screen := must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
			defer screen.Close()
			number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
			if err == nil {
				err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			terminal := must.Get(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
			defer terminal.Close()
			host := exec.CommandContext(t.Context(), os.Args[0])
			host.Env = append(os.Environ(), "ISOLATE_TEST_HOST="+string(level), "ISOLATE_TEST_SCRATCH="+t.TempDir(), "ISOLATE_TEST_SCRIPT=echo spoof >/dev/tty && echo reached; echo done", markOf(t))
			host.Stdin, host.SysProcAttr = terminal, &syscall.SysProcAttr{Setsid: true, Setctty: true}
			out, err := host.Output()
			if err != nil || !strings.Contains(string(out), "done") || strings.Contains(string(out), "reached") {
				t.Errorf("%v, %s", err, out)
			}
		})
	}
}
