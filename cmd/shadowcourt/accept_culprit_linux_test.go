package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAccept_AL7_CulpritTellsItsProgress: what runs, what it showed, and which commit is most probable, on a terminal.
func TestAccept_AL7_CulpritTellsItsProgress(t *testing.T) {
	t.Parallel()
	p := broken("_ = 0")
	p.write(t)
	sent := onTerminal(t, nil, func(cmd *exec.Cmd, terminal *os.File) {
		cmd.Dir, cmd.Stderr = p.dir, terminal
	}, "culprit", "TestTotal", "--since", "green")
	for _, want := range []string{"\r\x1b[KTestTotal: commit 1 of 1", "\r\x1b[KTestTotal: before the first commit, " + p.revision(t, "green")[:12] + ": none of 5 failed"} {
		if !strings.Contains(sent, want) {
			t.Errorf("%q is not in %q", want, sent)
		}
	}
	if !strings.HasSuffix(sent, "\r\x1b[K") {
		t.Errorf("the line of progress stays: %q", sent)
	}
}
