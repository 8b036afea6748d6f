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
)

// TestRunsAreSpread: two runs begin in two seconds of the clock, and more of them take two seconds.
func TestRunsAreSpread(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, int(900*time.Millisecond), time.UTC)
	for runs, want := range map[int]time.Duration{1: 100 * time.Millisecond, 2: 100 * time.Millisecond, 3: 100 * time.Millisecond, 5: 500 * time.Millisecond, 81: 25 * time.Millisecond} {
		if got := experiment.NextRun(at, experiment.DefaultApart, runs).Sub(at); got != want {
			t.Errorf("of %d runs the next begins after %v, want %v", runs, got, want)
		}
	}
}

// TestStepsAddUp: all runs of a flaky test are made, and the second step of a cell builds nothing.
func TestStepsAddUp(t *testing.T) {
	command, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	tools, calls := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	script := "#!/bin/sh\necho \"$@\" >> '" + calls + "'\nexec '" + command + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	l := open(t, experiment.Config{Source: checkout(t), Mode: experiment.Reruns, Budget: time.Hour})
	subject := &abi.Case{
		Subject: "TestWeather/1 fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    environment_test.go:9: it rains\n"}},
	}
	builds := func() int {
		text, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("test -c"))
	}
	for _, name := range []string{again, "head/head/original/alone/15"} {
		r, err := l.Run(t.Context(), subject, parse(t, name))
		if err != nil || r.Made() != r.Experiment.Runs || r.Other > 0 {
			t.Errorf("got %+v, %v", r, err)
		}
		if name != again && r.Outcome != abi.OutcomeMixed { // one time in 16,000 all 15 runs agree by chance
			t.Errorf("got %+v", r)
		}
	}
	if n := builds(); n != 1 {
		t.Errorf("%d builds", n)
	}
}
