package cases

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
)

// condition is what surrounds a run.
type condition struct {
	kind      string
	variables map[string]string // replaced ones; an empty value removes one
	command   []string          // runs the tests
	args      []string          // of the test binary
	// lasting: the environment of experiments has the same variables.
	lasting bool
	// prepare changes the folder of the tests and the one for temporary files before a run.
	prepare func(folder, temp string) error
}

// restore makes folders writable again.
func (c *condition) restore(folders ...string) {
	for _, folder := range folders {
		_ = setMode(folder, 0o755)
	}
}

// environments are what can be wrong with a machine, as far as it takes no special rights.
func environments() []condition {
	// In a user namespace without a mapping even root has no rights beyond those of files' owners.
	ordinary := []string{"unshare", "--user"}
	limited := func(limit string) []string { return []string{"sh", "-c", "ulimit " + limit + `; exec "$0" "$@"`} }
	return []condition{
		{kind: "time zone Asia/Kathmandu", variables: map[string]string{"TZ": "Asia/Kathmandu"}, lasting: true},
		{kind: "time zone America/St_Johns", variables: map[string]string{"TZ": "America/St_Johns"}, lasting: true},
		{kind: "locale tr_TR.UTF-8", variables: map[string]string{"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"}, lasting: true},
		{kind: "locale ja_JP.SJIS", variables: map[string]string{"LANG": "ja_JP.SJIS", "LC_ALL": "ja_JP.SJIS"}, lasting: true},
		{kind: "no home", variables: map[string]string{"HOME": "", "USER": ""}},
		{kind: "no search path", variables: map[string]string{"PATH": "/nonexistent"}},
		{kind: "temporary folder missing", variables: map[string]string{"TMPDIR": "/nonexistent/tmp"}},
		{kind: "temporary folder read-only", command: ordinary, prepare: func(_, temp string) error { return os.Chmod(temp, 0o555) }}, //nolint:gosec // that is the fault
		{kind: "source read-only", command: ordinary, prepare: func(folder, _ string) error { return setMode(folder, 0o555) }},
		{kind: "no network", command: []string{"unshare", "--user", "--net"}},
		{kind: "few open files", command: limited("-n 9")},
		{kind: "no room for files", command: limited("-f 0")},
	}
}

// allWrong is nearly all of environments at once: tests that pass there pass in each of them.
func allWrong() condition {
	var c condition
	c.variables = map[string]string{}
	for _, e := range environments() {
		maps.Copy(c.variables, e.variables)
	}
	c.command = []string{"unshare", "--user", "--net", "/bin/sh", "-c", `ulimit -n 9; ulimit -f 0; exec "$0" "$@"`}
	c.prepare = func(folder, temp string) error { return errors.Join(setMode(temp, 0o555), setMode(folder, 0o555)) }
	return c
}

// setMode sets the mode of all folders below one.
func setMode(folder string, mode fs.FileMode) error {
	return filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return errors.Join(os.Chmod(name, mode))
	})
}
