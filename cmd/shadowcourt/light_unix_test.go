//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
)

// A program for Light that leaves another one behind, which holds its pipes, does not keep the run from ending.
func TestASignalEndsARunWhoseLightLeftSomebodyBehind(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid: this system can't leave a session from a shell")
	}
	r := start(t, "try", "--format", "jsonl", "--output", "results", "--workers", "1", "--light",
		`exec:read -r line; echo '{"classification":"red","confidence":0.9,"reasoning":""}'; read -r line; setsid sleep 20 & touch asked; exit 0`, "-")
	if _, err := r.in.Write([]byte(caseOf("one") + caseOf("two"))); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(strings.Join(names(t, r.Dir), " "), "asked") {
		time.Sleep(time.Millisecond)
	}
	begin := time.Now()
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	code, stderr := r.end()
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %s to end", took)
	}
	if want := "shadowcourt: interrupted; 1 case was tried and written"; code != cli.ExitFailed || !strings.HasPrefix(stderr, want) {
		t.Errorf("exit code %d, stderr %q, want 1 and %q", code, stderr, want)
	}
	if results, err := os.ReadFile(filepath.Join(r.Dir, "results")); err != nil || strings.Count(string(results), "\n") != 1 {
		t.Errorf("results %q (%v)", results, err)
	}
	onlyFiles(t, r.Dir, "asked results results.resume")
}
