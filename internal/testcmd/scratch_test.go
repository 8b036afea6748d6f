package testcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket"
)

// scratch writes files into a new folder.
func scratch(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// shown is what a run came to, and what it printed.
type shown struct {
	ran         *Ran
	ids         []string // of the cases
	err         error
	out, errOut string
}

func parsed(t *testing.T, dir string, args ...string) *Command {
	t.Helper()
	c, err := Parse(dir, args)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runIn parses a command and runs it in a folder.
func runIn(t *testing.T, dir string, args ...string) shown {
	t.Helper()
	return runCommand(t, parsed(t, dir, args...))
}

func runCommand(t *testing.T, c *Command) shown {
	t.Helper()
	var out, errOut strings.Builder
	s := shown{}
	s.ran, s.err = c.Run(t.Context(), nil, &out, &errOut, func(e docket.Entry, err error) {
		if err == nil {
			s.ids = append(s.ids, e.Case.ID)
		}
	})
	s.out, s.errOut = out.String(), errOut.String()
	return s
}

// tells checks the figures of a run with reports, and that each failure was passed on.
func (s shown) tells(t *testing.T, code, tests, failures int) {
	t.Helper()
	if s.err != nil {
		t.Fatalf("%v\n%s%s", s.err, s.out, s.errOut)
	}
	if s.ran.ExitCode != code || s.ran.Tests != tests || s.ran.Failures != failures || s.ran.Failed() != (code != 0 || failures > 0) {
		t.Errorf("exit code %d, %d tests, %d failures, want %d, %d, %d\n%s%s", s.ran.ExitCode, s.ran.Tests, s.ran.Failures, code, tests, failures, s.out, s.errOut)
	}
	if len(s.ids) != failures {
		t.Errorf("%d cases, %q, want %d", len(s.ids), s.ids, failures)
	}
}

// fails checks an error.
func (s shown) fails(t *testing.T, want string) {
	t.Helper()
	if s.err == nil || !strings.Contains(s.err.Error(), want) || strings.Contains(s.err.Error(), "\n") {
		t.Errorf("error %v, want one with %q\n%s%s", s.err, want, s.out, s.errOut)
	}
}
