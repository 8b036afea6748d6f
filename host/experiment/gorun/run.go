package gorun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
)

// Kind is what came of a test.
type Kind string

// What may come of a test.
const (
	Passed  Kind = "passed"
	Failed  Kind = "failed"
	Skipped Kind = "skipped"
	Absent  Kind = "absent" // the binary has no such test
	Ended   Kind = "ended"  // by a limit of the isolation, which Result names
)

// Run is one run of a test.
type Run struct {
	Kind Kind
	// Log is what the test wrote, as the reader of `go test -json` gives it to cases; empty unless it failed.
	Log    string
	Result *isolate.Result
}

// Environment says what surrounds a test.
type Environment struct {
	Scratch string // folder that the test may write to
	// Overlay is a folder that the test seems to write to, such as that of its tree; see [isolate.Command].
	Overlay string
	Clean   bool // no variables of the user's but PATH, in UTC and the C locale
	Starve  bool
	Network bool
	Order   bool // run all tests of the package, in their order, instead of one alone
	Limits  isolate.Limits
}

// dumpTime is how long a test that is over its time may take to say where it was.
const dumpTime = 5 * time.Second

// Test runs one test, named as `go test -run` names it: TestA or TestA/sub. A subtest runs with its siblings, which often depend
// on each other: alone, one that passes may fail. The tree of the binary has to be in env.Scratch or in
// env.Overlay, or the test can't write to it.
func (g *Go) Test(ctx context.Context, b *Binary, name string, env Environment) (*Run, error) {
	limit := env.Limits.Time
	if limit <= 0 {
		limit = isolate.DefaultTime
	}
	args := []string{b.Path, "-test.v=test2json", "-test.count=1", "-test.paniconexit0", "-test.timeout=" + limit.String()}
	env.Limits.Time = limit + dumpTime
	if !env.Order {
		args = append(args, "-test.run="+pattern(name))
	}
	overlays := []string{g.env["GOCACHE"]}
	if env.Overlay != "" {
		overlays = append(overlays, env.Overlay)
	}
	result, err := isolate.Run(ctx, isolate.Command{
		Args: args, Dir: b.Dir, Env: g.environment(env.Clean, b.Dir), Scratch: env.Scratch, Overlays: overlays,
		Network: env.Network, Starve: env.Starve, Limits: env.Limits,
	})
	if err != nil {
		return nil, err
	}
	run := &Run{Result: result}
	output := result.Output
	if result.Ending == isolate.Exited && result.ExitCode != 0 || result.Ending == isolate.Signaled {
		output = fmt.Appendf(output, "exit status %d\n\x16FAIL\t%s\t0.0s\n", result.ExitCode, b.Package) // as go test adds it
	}
	if run.Kind, run.Log, err = g.read(ctx, b.Package, name, output); err != nil {
		return nil, err
	}
	if run.Kind == Absent && result.Ending != isolate.Exited {
		run.Kind = Ended
	}
	return run, nil
}

// pattern matches the test that a test is part of.
func pattern(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return "^" + regexp.QuoteMeta(top) + "$"
}

// environment is what the test sees of the user's variables: an allow-list, so that no secret reaches a test by accident.
func (g *Go) environment(clean bool, dir string) []string {
	env := []string{"PWD=" + dir, "PATH=" + os.Getenv("PATH"), "GOPROXY=off", "GOTOOLCHAIN=local"}
	for _, name := range []string{"GOROOT", "GOCACHE", "GOMODCACHE", "GOPATH", "GOFLAGS"} {
		env = append(env, name+"="+g.env[name])
	}
	if clean {
		return append(env, "LC_ALL=C", "TZ=UTC")
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL", "TERM", "GODEBUG", "GOMAXPROCS", "CGO_ENABLED", "CC", "CXX":
			env = append(env, v)
		default:
			if strings.HasPrefix(name, "LC_") {
				env = append(env, v)
			}
		}
	}
	return env
}

// read tells what came of a test in the output of a test binary.
func (g *Go) read(ctx context.Context, pack, name string, output []byte) (Kind, string, error) {
	cmd := exec.CommandContext(ctx, g.reader, "-p", pack) //nolint:gosec // the package was listed by go
	cmd.Stdin = bytes.NewReader(output)
	stream, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("test2json: %w", err)
	}
	kind, log := readStream(pack, name, stream)
	return kind, log, nil
}

// readStream tells what came of a test in a stream of go test -json.
func readStream(pack, name string, stream []byte) (Kind, string) {
	kind := Absent
	for line := range bytes.Lines(stream) {
		var event struct {
			Action string `json:"Action"`
			Test   string `json:"Test"`
		}
		if json.Unmarshal(line, &event) != nil || event.Test != name {
			continue
		}
		switch event.Action {
		case "pass":
			kind = Passed
		case "fail":
			kind = Failed
		case "skip":
			kind = Skipped
		case "run":
			if kind == Absent {
				kind = Ended // until it says how it ended
			}
		}
	}
	var log strings.Builder
	for entry, err := range (&gotest.Reader{}).Read(pack, bytes.NewReader(stream)) {
		if err == nil && tells(&entry.Case, name) {
			kind = Failed
			log.WriteString(entry.Case.Documents[0].Text)
		}
	}
	return kind, log.String()
}

// tells says whether a case is about the test, or about one of its subtests.
func tells(c *abi.Case, name string) bool {
	if strings.Contains(" "+c.Subject+" ", " "+name+" ") {
		return true
	}
	tests := gotest.TestsOf(c)
	return len(tests) == 1 && strings.HasPrefix(tests[0].Name, name+"/")
}
