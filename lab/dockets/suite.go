package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

// How long one run may take. A test that hangs ends itself at the first, with a dump of its goroutines; the second is for
// what does not even do that.
const (
	testTimeout = 8 * time.Second
	hardTimeout = 90 * time.Second
)

// condition is what a test binary runs in. The command line differs by the number that orders the tests alone.
type condition struct {
	Fault string `json:"fault"` // of the environment, as the launcher knows it; "" for none
	Order int    `json:"order"` // of the tests, 0 for that of the source
	Procs int    `json:"procs"` // GOMAXPROCS
}

const usualProcs = 4

// result is what one run of a package's tests gave.
type result struct {
	Condition condition       `json:"condition"`
	Failed    []failed        `json:"failed"`
	Passed    map[string]bool `json:"passed"` // subtests too
	Tests     int             `json:"tests"`  // top-level tests that ended, or crashed
	Red       int             `json:"red"`    // those that failed
	Cannot    string          `json:"cannot"` // why the machine could not make the fault
}

// failed is a failing test with its log.
type failed struct {
	Test string `json:"test"`
	Log  string `json:"log"`
}

func (r result) log(test string) (string, bool) {
	for _, f := range r.Failed {
		if f.Test == test {
			return f.Log, true
		}
	}
	return "", false
}

// outcome is "failed" or "passed", where the run got to the test.
func (r result) outcome(test string) (outcome string, known bool) {
	if _, failed := r.log(test); failed {
		return "failed", true
	}
	return "passed", r.Passed[test]
}

// build compiles the tests of the checkout as it is; problem says why they don't compile.
func (c *checkout) build(ctx context.Context, name string, flags ...string) (problem string, err error) {
	if err := c.freshFolders(); err != nil {
		return "", err
	}
	args := append([]string{"test", "-c", "-race", "-vet=off", "-ldflags=-w", "-o", c.bin(name)}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = c.folder()
	cmd.Env = c.environment("GOFLAGS=-mod=mod", "GOTMPDIR="+filepath.Dir(c.bin(name)), "GOCACHE="+c.host.goEnv["GOCACHE"],
		"GOMODCACHE="+c.host.goEnv["GOMODCACHE"], "GOPROXY="+c.host.goEnv["GOPROXY"])
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		if strings.Contains(string(out), "no space left") {
			return "", fmt.Errorf("building %s: %s", c.module.pkg(), out)
		}
		return string(out), nil
	}
	return "", err
}

// environment is the same for every run, whoever starts the generator.
func (c *checkout) environment(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.home(), "USER=ci", "TZ=UTC", "LANG=C.UTF-8", "TMPDIR=" + c.temp(),
		"GORACE=atexit_sleep_ms=0", // the exit need not wait a second for late races
	}, more...)
}

// run runs a built test binary.
func (c *checkout) run(ctx context.Context, name string, in condition) (result, error) {
	args := []string{
		"-test.v=test2json", "-test.paniconexit0", "-test.count=1", "-test.timeout=" + testTimeout.String(),
		"-test.shuffle=" + order(in.Order), "-test.skip=" + c.module.skip,
	}
	out, cannot, err := c.launch(ctx, in, c.bin(name), args...)
	if err != nil || cannot != "" {
		return result{Condition: in, Cannot: cannot}, err
	}
	events, err := c.events(ctx, out)
	if err != nil {
		return result{}, err
	}
	return c.read(in, events)
}

// launch starts a program through the launcher and gives what it printed.
func (c *checkout) launch(ctx context.Context, in condition, program string, args ...string) (out []byte, cannot string, err error) {
	if err := c.freshFolders(); err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, hardTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.host.launcher, append([]string{launch.Arg, in.Fault, program}, args...)...)
	cmd.Dir = c.folder()
	note := c.note("cannot")
	_ = os.Remove(note)
	cmd.Env = c.environment("GOMAXPROCS="+strconv.Itoa(in.Procs), launch.NoteEnv+"="+note, launch.GorootEnv+"="+c.host.goEnv["GOROOT"])
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	cmd.WaitDelay = 5 * time.Second
	launch.AsGroup(cmd)
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		return nil, "", err
	}
	why, _ := os.ReadFile(note)
	return text.Bytes(), string(why), nil
}

// events turns what a test binary printed into the events of go test -json.
func (c *checkout) events(ctx context.Context, out []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.host.test2json, "-p", c.module.pkg())
	cmd.Stdin = bytes.NewReader(out)
	cmd.Dir = c.root
	return cmd.Output()
}

// read keeps the failing tests, in the words of the reader that users have.
func (c *checkout) read(in condition, events []byte) (result, error) {
	r := result{Condition: in, Passed: map[string]bool{}, Failed: []failed{}}
	red := map[string]bool{}
	var kept bytes.Buffer
	for line := range bytes.Lines(events) {
		var e struct {
			Action string `json:"Action"`
			Test   string `json:"Test"`
			Output string `json:"Output"`
		}
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		if strings.HasPrefix(e.Output, "=== ") {
			continue // go test prints these lines with -v alone
		}
		kept.Write(line)
		switch {
		case e.Test == "":
		case e.Action == "pass":
			r.Passed[e.Test] = true
		case e.Action == "fail":
			red[topLevel(e.Test)] = true
		}
	}
	var err error
	r.Failed, err = c.failures(&kept)
	for _, f := range r.Failed {
		red[topLevel(f.Test)] = true // a crash has no event of its own
	}
	r.Red, r.Tests = len(red), len(red)
	for test := range r.Passed {
		if test == topLevel(test) {
			r.Tests++
		}
	}
	return r, err
}

func topLevel(test string) string {
	top, _, _ := strings.Cut(test, "/")
	return top
}

// failures are the failing tests of a stream. A package that fails outside of its tests is none.
func (c *checkout) failures(stream io.Reader) ([]failed, error) {
	reader := gotest.Reader{HeadBytes: keptLogBytes, TailBytes: keptLogBytes}
	found := []failed{}
	for entry, err := range reader.Read("run", stream) {
		if line := (*docket.LineError)(nil); errors.As(err, &line) {
			continue // such a stream still has its cases
		}
		if err != nil {
			return nil, err
		}
		if test, ok := strings.CutPrefix(entry.Case.ID, c.module.pkg()+"."); ok && !strings.Contains(test, "#") {
			found = append(found, failed{Test: test, Log: c.normalise(entry.Case.Documents[0].Text)})
		}
	}
	slices.SortFunc(found, func(a, b failed) int { return strings.Compare(a.Test, b.Test) })
	return found, nil
}

func order(shuffle int) string {
	if shuffle == 0 {
		return "off"
	}
	return strconv.Itoa(shuffle)
}
