package cases

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// How long the tests of a package may take: a test that hangs ends itself at the first, and what does not even do that at the second.
const (
	testTimeout = 10 * time.Second
	hardTimeout = 30 * time.Second
)

// suite builds and runs the tests of the package in a module's root.
type suite struct {
	root string // folder for binaries, home and temporary files
	pkg  string
}

// result is what came of one run.
type result struct {
	failed, passed map[string]bool // by the test's name; of subtests that fail the innermost alone
	events         []byte          // of go test -json
}

// build compiles the tests of a tree; problem is what the compiler says.
func (s *suite) build(ctx context.Context, folder, name string, flags ...string) (binary, problem string, err error) {
	binary = filepath.Join(s.root, name+".test")
	args := slices.Concat([]string{"test", "-c", "-vet=off", "-buildvcs=false", "-ldflags=-w", "-o", binary}, flags, []string{"."})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		return "", string(out), nil
	}
	return binary, "", err
}

// run runs all tests of a built binary in the folder of its tree.
func (s *suite) run(ctx context.Context, binary, folder string, in condition) (*result, error) {
	home, temp := filepath.Join(s.root, "home"), filepath.Join(s.root, "tmp")
	for _, dir := range []string{home, temp} {
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
			return nil, err
		}
	}
	if in.prepare != nil {
		defer in.restore(folder, temp)
		if err := in.prepare(folder, temp); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, hardTimeout)
	defer cancel()
	args := slices.Concat(in.command, []string{
		binary, "-test.v=test2json", "-test.paniconexit0", "-test.count=1", "-test.timeout=" + testTimeout.String(),
	}, in.args)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.WaitDelay = folder, time.Second
	cmd.Env = variables(map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": home, "USER": "ci", "TZ": "UTC", "LANG": "C.UTF-8", "TMPDIR": temp,
	}, in.variables)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		return nil, err
	}
	if err != nil {
		fmt.Fprintf(&out, "exit status %d\n\x16FAIL\t%s\t0.0s\n", max(1, cmd.ProcessState.ExitCode()), s.pkg) // as go test adds it
	}
	return s.read(context.WithoutCancel(ctx), out.Bytes())
}

// variables are those of an environment with some of them replaced; an empty value removes one.
func variables(usual, replaced map[string]string) []string {
	var list []string
	for name, value := range usual {
		if _, ok := replaced[name]; !ok {
			list = append(list, name+"="+value)
		}
	}
	for name, value := range replaced {
		if value != "" {
			list = append(list, name+"="+value)
		}
	}
	slices.Sort(list)
	return list
}

// test2json is the program, which the go command takes long to find.
var test2json = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "tool", "-n", "test2json").Output()
	return strings.TrimSpace(string(out)), err
})

// read tells which tests failed and which passed.
func (s *suite) read(ctx context.Context, out []byte) (*result, error) {
	reader, err := test2json()
	if err != nil {
		return nil, fmt.Errorf("go tool test2json: %w", err)
	}
	cmd := exec.CommandContext(ctx, reader, "-p", s.pkg)
	cmd.Stdin = bytes.NewReader(out)
	events, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("test2json: %w", err)
	}
	r := &result{failed: map[string]bool{}, passed: map[string]bool{}}
	for line := range bytes.Lines(events) {
		var e struct {
			Action string `json:"Action"`
			Test   string `json:"Test"`
		}
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		r.events = append(r.events, line...)
		if e.Action == "pass" && e.Test != "" {
			r.passed[e.Test] = true
		}
	}
	if bytes.Contains(r.events, []byte("panic: test timed out")) {
		return r, nil // it may be the machine that is slow, so that no failure counts
	}
	for entry, err := range (&gotest.Reader{}).Read(s.pkg, bytes.NewReader(r.events)) {
		if test, ok := strings.CutPrefix(entry.Case.ID, s.pkg+"."); err == nil && ok && !strings.Contains(test, "#") {
			r.failed[test] = true
		}
	}
	return r, nil
}
