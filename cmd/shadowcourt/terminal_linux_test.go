package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// pty opens a pseudo-terminal of some width.
func pty(t *testing.T, columns uint16) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	must.Do(t, err)
	t.Cleanup(func() { _ = screen.Close() })
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	must.Do(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must.Do(t, err)
	t.Cleanup(func() { _ = terminal.Close() })
	return screen, terminal
}

// onTerminal runs shadowcourt with its streams set by connect, and gives what a terminal of 80 columns was sent.
func onTerminal(t *testing.T, env []string, connect func(cmd *exec.Cmd, terminal *os.File), args ...string) string {
	t.Helper()
	screen, terminal := pty(t, 80)
	cmd := command(t, "", append([]string{"TERM=xterm", "NO_COLOR="}, env...), append([]string{"shadowcourt"}, args...)...)
	connect(cmd, terminal)
	sent := make(chan []byte)
	go func() {
		var all bytes.Buffer
		_, _ = io.Copy(&all, screen) // ends with EIO when nobody holds the terminal any more
		sent <- all.Bytes()
	}()
	must.Do(t, cmd.Run())
	_ = terminal.Close()
	return strings.ReplaceAll(string(<-sent), "\r\n", "\n")
}

func TestAccept_CLI1_ProgressOnATerminalAndNotOtherwise(t *testing.T) {
	t.Parallel()
	tour := filepath.Join(repositoryRoot(t), "examples", "dockets", "tour.jsonl")
	var results bytes.Buffer
	sent := onTerminal(t, nil, func(cmd *exec.Cmd, terminal *os.File) { cmd.Stdout, cmd.Stderr = &results, terminal }, "try", tour)
	for _, want := range []string{"\r\x1b[Kloading modules", "\r\x1b[Ktried 1", "\r\x1b[Ktried 9"} {
		check.Contains(t, sent, want)
	}
	if !strings.HasSuffix(sent, "\r\x1b[K") {
		t.Errorf("the line of progress stays: %q", sent)
	}
	if strings.Contains(results.String(), "\x1b") || !strings.Contains(results.String(), "tour-even") {
		t.Errorf("the results, which are not on a terminal: %q", results.String())
	}

	sent = onTerminal(t, []string{"TERM=dumb"}, func(cmd *exec.Cmd, terminal *os.File) { cmd.Stdout, cmd.Stderr = &results, terminal }, "try", tour)
	check.Equal(t, sent, "", "a dumb terminal was sent")
}

func TestTableFitsTheTerminalAndHasColoursUnlessAskedNot(t *testing.T) {
	t.Parallel()
	tour := filepath.Join(repositoryRoot(t), "examples", "dockets", "tour.jsonl")
	toScreen := func(cmd *exec.Cmd, terminal *os.File) { cmd.Stdout = terminal }
	colours := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	coloured := onTerminal(t, nil, toScreen, "try", tour)
	if !colours.MatchString(coloured) {
		t.Errorf("no colour: %q", coloured)
	}
	plain := onTerminal(t, []string{"NO_COLOR=1"}, toScreen, "try", tour)
	check.Equal(t, plain, colours.ReplaceAllString(coloured, ""), "with NO_COLOR")
	for line := range strings.Lines(plain) {
		if width := len([]rune(strings.TrimRight(line, "\n"))); width > 80 {
			t.Errorf("%d columns: %s", width, line)
		}
	}
}

func TestTryTellsWhatItWaitsForOnATerminal(t *testing.T) {
	t.Parallel()
	screen, terminal := pty(t, 80)
	must.Get(screen.WriteString(caseOf("typed") + "\x04"))(t)
	cmd := command(t, "", nil, "shadowcourt", "try", "--format", "jsonl")
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = terminal, &stderr
	out, err := cmd.Output()
	if err != nil || !bytes.HasPrefix(out, []byte(`{"id":"typed"`)) {
		t.Errorf("%v, stdout %q", err, out)
	}
	if !strings.HasPrefix(stderr.String(), "reading a docket from the keyboard") || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("stderr %q", stderr.String())
	}
}

// TestAccept_AL7_CulpritTellsItsProgress: what runs, what it showed, and which commit is most probable, on a terminal.
func TestAccept_AL7_CulpritTellsItsProgress(t *testing.T) {
	t.Parallel()
	tier.Long(t, "cmd/shadowcourt", "host/experiment/culprit")
	p := broken("_ = 0")
	p.write(t)
	sent := onTerminal(t, nil, func(cmd *exec.Cmd, terminal *os.File) {
		cmd.Dir, cmd.Stderr = p.dir, terminal
	}, "culprit", "TestTotal", "--since", "green")
	for _, want := range []string{"\r\x1b[KTestTotal: commit 1 of 1", "\r\x1b[KTestTotal: before the first commit, " + p.revision(t, "green")[:12] + ": none of 5 failed"} {
		check.Contains(t, sent, want)
	}
	if !strings.HasSuffix(sent, "\r\x1b[K") {
		t.Errorf("the line of progress stays: %q", sent)
	}
}
