package testcmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// inTerminal tells a child of a test to run a command in front of a terminal.
const inTerminal = "SHADOWCOURT_TEST_TERMINAL"

func TestMain(m *testing.M) {
	if os.Getenv(inTerminal) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	c, err := Parse(".", []string{"./pytest"})
	if err == nil {
		_, err = c.Run(ctx, os.Stdin, os.Stdout, os.Stderr, nil)
	}
	fmt.Printf("end: %v\n", err) //nolint:forbidigo // it is a program of its own
	stop()
	os.Exit(0)
}

// TestAccept_AL6_TheRunnerHasTheTerminal: it reads from it and sees that it is one, and gets Ctrl-C once.
func TestAccept_AL6_TheRunnerHasTheTerminal(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{"pytest": "#!/bin/sh\ntrap 'echo got >> signals; exit 2' INT\ntest -t 0 && test -t 1 && read line && echo \"ready $line\"\nwhile :; do sleep 0.1; done\n"})
	screen := must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
	defer screen.Close()
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	must.Do(t, err)
	terminal := must.Get(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), inTerminal+"=1")
	cmd.Dir = dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.Do(t, cmd.Start())
	_ = terminal.Close()
	must.Get(io.WriteString(screen, "typed\n"))(t)
	var sent strings.Builder
	buf := make([]byte, 4096)
	for pressed := false; ; {
		n, err := screen.Read(buf)
		if sent.Write(buf[:n]); err != nil { // EIO: nobody holds the terminal any more
			break
		}
		if !pressed && strings.Contains(sent.String(), "ready typed") {
			pressed = true
			must.Get(io.WriteString(screen, "\x03"))(t)
		}
	}
	must.Do(t, cmd.Wait())
	check.Contains(t, sent.String(), "end: pytest was interrupted: ", "the terminal")
	check.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, "signals")))(t)), "got\n", "the runner", "error")
}
