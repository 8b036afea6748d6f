package mine

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestLastingFaultsAreUndone: a fault is there until it is undone, and nothing of it stays.
func TestLastingFaultsAreUndone(t *testing.T) {
	if os.Getenv("HISTORIES_TEST") == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestLastingFaultsAreUndone$")
		cmd.Env = append(os.Environ(), "HISTORIES_TEST=1") // the tests beside this one need their environment
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if err := Private(); err != nil {
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
	for _, fault := range []string{
		"wrong time zone:Asia/Kathmandu", "wrong locale:tr_TR.UTF-8", "binaries missing", "no shell", "no git", "few open files:24", "foreign file mask:0777",
		"no hosts file", "no users file", "no time zones", "variable left over:GOMAXPROCS=1",
	} {
		undo, err := breakEnvironment(fault)
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
