package experiment_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// childVariable has the test's process run an experiment that does not end, in the checkout that it names.
const childVariable = "EXPERIMENT_TEST_CHILD"

// TestAccept_EX6_AKilledHostLeavesNothing: its test ends with it, and the next Lab removes its folder.
func TestAccept_EX6_AKilledHostLeavesNothing(t *testing.T) {
	slow := &abi.Case{Subject: "TestSlow fails in example.com/shop/slow"}
	if dir := os.Getenv(childVariable); dir != "" {
		l := open(t, experiment.Config{Source: dir, Mode: experiment.Reruns, Budget: time.Hour})
		r, err := l.Run(t.Context(), slow, parse(t, clean))
		t.Fatalf("it ended: %+v, %v", r, err)
	}
	dir := checkout(t)
	must.Write(t, dir, map[string]string{
		"slow/slow_test.go": "package slow\n\nimport (\"testing\"; \"time\")\n\nfunc TestSlow(t *testing.T) { time.Sleep(time.Hour) }\n",
	})
	t.Setenv("TMPDIR", t.TempDir())
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), childVariable+"="+dir)
	var out bytes.Buffer
	child.Stdout, child.Stderr = &out, &out
	must.Do(t, child.Start())
	word := os.TempDir() // the test binary is in it
	until(t, "the test runs", func() bool { return processes(word, "-test.run=^TestSlow$") > 0 })
	must.Do(t, child.Process.Kill())
	_ = child.Wait() // killed
	until(t, "the test has ended", func() bool { return processes(word, "") == 0 })
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "shadowcourt-lab-*")); err != nil || len(left) == 0 {
		t.Errorf("the killed process had no folder: %v, %s", err, out.Bytes())
	}
	if err := open(t, experiment.Config{Source: dir, Mode: experiment.Reruns, Budget: time.Hour}).Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// until waits up to two minutes: other programs may keep the machine busy.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 12_000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain until %s", what)
}

// processes counts the processes that have both words in their arguments.
func processes(words ...string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		args, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		all := true
		for _, word := range words {
			all = all && bytes.Contains(args, []byte(word))
		}
		if all {
			n++
		}
	}
	return n
}
