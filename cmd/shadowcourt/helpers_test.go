package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// said is what a command wrote, and how it ended.
type said struct {
	code        int
	out, errors string
}

// all is what it wrote on both streams.
func (s said) all() string { return s.out + s.errors }

// wants checks how a command ended, and that each text is in what it said.
func (s said) wants(t *testing.T, code int, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.all(), text) {
			t.Errorf("%q is not in\n%.1000s%.4000s", text, s.out, s.errors)
		}
	}
	if s.code != code {
		t.Errorf("exit code %d, want %d:\n%.1000s%.4000s", s.code, code, s.out, s.errors)
	}
}

// command is one in a folder, with the variables of the tests and some more.
func command(t *testing.T, dir string, env []string, words ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), userEnv(t), env)
	return cmd
}

// execute runs a command to its end.
func execute(t *testing.T, dir string, env []string, words ...string) said {
	t.Helper()
	return executed(t, command(t, dir, env, words...))
}

func executed(t *testing.T, cmd *exec.Cmd) said {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil || t.Context().Err() != nil {
		t.Fatal(err)
	}
	return said{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// succeeds runs shadowcourt, which must end with 0.
func succeeds(t *testing.T, dir string, args ...string) said {
	t.Helper()
	s := execute(t, dir, nil, append([]string{"shadowcourt"}, args...)...)
	if s.code != cli.ExitDone {
		t.Fatalf("%q: exit code %d\n%s", args, s.code, s.all())
	}
	return s
}

// shell runs a line with an empty standard input. Exit code 3 is an answer, too.
func shell(t *testing.T, dir, line string) string {
	t.Helper()
	s := execute(t, dir, nil, "sh", "-c", "{ "+line+"\n} 2>&1")
	if s.code != cli.ExitDone && s.code != cli.ExitMatched {
		t.Fatalf("%s\nexit code %d\n%s", line, s.code, s.out)
	}
	if s.out == "" && !strings.Contains(line, ">") {
		t.Errorf("%s says nothing", line)
	}
	return s.out
}

// git runs lines of a shell with a user of git's own.
func git(t *testing.T, dir, lines string) string {
	t.Helper()
	s := execute(t, dir, []string{
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}, "sh", "-euc", lines)
	if s.code != 0 {
		t.Fatalf("%s\n%s", lines, s.all())
	}
	return strings.TrimSpace(s.out)
}

// writeFiles writes files below a folder.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		must.Do(t, errors.Join(err, os.WriteFile(name, []byte(text), 0o755)))
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	writeFiles(t, "/", map[string]string{to: readFile(t, from)})
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text := must.Get(os.ReadFile(name))(t)
	return string(text)
}

// textOf is the text of a file; none where there is no file.
func textOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// names are the files of a folder, sorted.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.Name()
	}
	return list
}

// filesIn are the files below a folder.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, path)
		}
		return err
	})
	must.Do(t, err)
	return names
}

// example is the file of an example docket.
func example(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(repositoryRoot(t), "examples", "dockets", name)
}

// project is a project in a git repository: its green revision has the tag green, the head is not committed.
type project struct {
	dir         string
	green, head map[string]string
}

func (p *project) write(t *testing.T) {
	t.Helper()
	p.dir = filepath.Join(t.TempDir(), "project")
	p.add(t, p.green)
	git(t, p.dir, "git init -q -b main . && git add . && git commit -qm green && git tag green")
	p.add(t, p.head)
}

func (p *project) add(t *testing.T, files map[string]string) {
	t.Helper()
	writeFiles(t, p.dir, files)
}

// commit commits everything.
func (p *project) commit(t *testing.T, message string) {
	t.Helper()
	git(t, p.dir, "git add . && git commit -qm '"+message+"'")
}

// tool runs a command that may fail, such as a test runner, and gives what it wrote.
func (p *project) tool(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	return execute(t, p.dir, env, append([]string{name}, args...)...).all()
}

// install runs a command that needs a registry of packages. Without the network the test is skipped.
func (p *project) install(t *testing.T, words ...string) {
	t.Helper()
	if s := execute(t, p.dir, nil, words...); s.code != 0 {
		t.Skipf("can't be installed here: %v: %.2000s", words, s.all())
	}
}
