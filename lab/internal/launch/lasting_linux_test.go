package launch_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

// TestLastingFaultsAreUndone: a fault is there until it is undone, and nothing of it stays.
func TestLastingFaultsAreUndone(t *testing.T) {
	if os.Getenv("LAUNCH_TEST") == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestLastingFaultsAreUndone$")
		cmd.Env = append(os.Environ(), "LAUNCH_TEST=1") // the tests beside this one need their environment
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if err := launch.Private(); err != nil {
		t.Skip(err)
	}
	look := func() string {
		hosts, _ := os.ReadFile("/etc/hosts")
		users, _ := os.ReadFile("/etc/passwd")
		zone, _ := os.ReadFile("/usr/share/zoneinfo/Europe/Berlin")
		git, gitErr := exec.CommandContext(t.Context(), "git", "version").Output()
		shell, shellErr := exec.CommandContext(t.Context(), "sh", "-c", "umask; ulimit -n; command -v cat").Output()
		return strings.Join(append(os.Environ(), string(hosts), string(users), string(zone), string(git), string(shell)), "\n") + problem(gitErr) + problem(shellErr)
	}
	whole := look()
	for _, fault := range launch.Lasting() {
		undo, err := launch.Break(fault)
		if err != nil {
			t.Logf("%s: %v", fault, err)
			continue
		}
		broken := look()
		if err := undo(); err != nil {
			t.Fatalf("%s: %v", fault, err)
		}
		if broken == whole {
			t.Errorf("%s breaks nothing", fault)
		}
		if look() != whole {
			t.Fatalf("%s is not undone", fault)
		}
	}
}

func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
