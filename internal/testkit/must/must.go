// Package must ends a test where a step that has to succeed fails.
package must

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

// Do ends the test if there is an error; what says of which step.
func Do(t testing.TB, err error, what ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(append(what, err)...)
	}
}

// Get gives what a call returns beside its error, if there is none: must.Get(os.ReadFile(name))(t).
func Get[T any](value T, err error) func(t testing.TB, what ...any) T {
	return func(t testing.TB, what ...any) T {
		t.Helper()
		Do(t, err, what...)
		return value
	}
}

// Equal ends the test where check.Equal reports.
func Equal[T comparable](t testing.TB, got, want T, what ...any) {
	t.Helper()
	if check.Equal(t, got, want, what...); got != want {
		t.FailNow()
	}
}

// Len ends the test where check.Len reports.
func Len[T any](t testing.TB, list []T, want int, what ...any) {
	t.Helper()
	if check.Len(t, list, want, what...); len(list) != want {
		t.FailNow()
	}
}

// Write writes the files of a folder, by their paths with slashes.
func Write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// Git runs git in a folder, with no settings of the machine, and gives what it writes.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...) //nolint:gosec // of tests
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_ALLOW_PROTOCOL=file")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
