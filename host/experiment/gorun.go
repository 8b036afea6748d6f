package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
)

// dumpTime is how long a test that is over its time may take to say where it was.
const dumpTime = 5 * time.Second

// test runs one test, named as `go test -run` names it: TestA or TestA/sub. A subtest runs with its siblings, which often depend
// on each other: alone, one that passes may fail. The tree of the binary has to be in env.Scratch or in
// env.Overlay, or the test can't write to it.
func (g *goTests) test(ctx context.Context, w *workspace, b *goBinary, name string, env environment) (*testRun, error) {
	made := env.Again
	if made == nil {
		var err error
		if made, err = g.execute(ctx, w, b, name, env); err != nil {
			return nil, err
		}
	}
	run := read(b.pack, name, made, env)
	run.Recording = made
	return run, nil
}

// execute runs a test binary.
func (g *goTests) execute(ctx context.Context, w *workspace, b *goBinary, name string, env environment) (*recording, error) {
	limit := env.Limits.Time
	if limit <= 0 {
		limit = isolate.DefaultTime
	}
	args := []string{b.path, "-test.v=test2json", "-test.count=1", "-test.paniconexit0", "-test.timeout=" + limit.String()}
	env.Limits.Time = limit + dumpTime
	switch {
	case !env.Order:
		args = append(args, "-test.run="+choice(name, nil))
	case env.Chosen != nil:
		args = append(args, "-test.run="+choice(name, env.Chosen))
	}
	if env.Compared {
		folder, err := newTrace(env.Scratch)
		if err != nil {
			return nil, err
		}
		args = append(args, "-test.testlogfile="+filepath.Join(folder, testLog))
	}
	args = append(args, g.passed...) // last: a flag of the tests may be followed by other arguments
	overlays := []string{g.env["GOCACHE"]}
	if env.Overlay != "" {
		overlays = append(overlays, env.Overlay)
	}
	result, err := isolate.Run(ctx, isolate.Command{
		Args: args, Dir: b.dir, Env: g.environment(env, b.dir), Scratch: env.Scratch, Overlays: overlays,
		Show: []string{g.env["GOROOT"], g.env["GOMODCACHE"]}, Hide: []string{g.hide}, Home: env.Home, Network: env.Network, Starve: env.Starve, Limits: env.Limits,
	})
	if err != nil {
		return nil, err
	}
	output := result.Output
	if result.Ending == isolate.Exited && result.ExitCode != 0 || result.Ending == isolate.Signaled {
		output = fmt.Appendf(output, "exit status %d\n\x16FAIL\t%s\t0.0s\n", result.ExitCode, b.pack) // as go test adds it
	}
	stream, err := g.stream(ctx, b.pack, output)
	made := &recording{result: result, stream: stream}
	if env.Compared && (result.ExitCode != 0 || result.Ending != isolate.Exited) {
		made.lacks = g.lacks(w, b.dir, env, traceFile(env.Scratch, testLog))
	}
	return made, err
}

// read tells what a run showed of one of its tests.
func read(pack, name string, made *recording, env environment) *testRun {
	result, stream := made.result, made.stream
	run := &testRun{Result: result, Lacks: made.lacks}
	var log string
	if run.Kind, log = readStream(pack, name, stream); env.Order {
		run.Before = testsBefore(name, stream)
	}
	if top, _, isRow := strings.Cut(name, "/"); isRow && env.Rows && run.Kind == kindAbsent {
		run.Kind, log = readStream(pack, top, stream)
		run.Rows = run.Kind != kindAbsent
	}
	if log != "" {
		run.Documents = []abi.Document{{Name: "log", Text: log}}
	}
	switch {
	case run.Kind == kindAbsent && result.Ending != isolate.Exited:
		run.Kind = kindEnded
	case run.Kind == kindAbsent && result.ExitCode != 0:
		run.Kind = kindSilent
	case run.Kind == kindFailed && result.Ending == isolate.Exited && result.ExitCode == 0:
		run.Kind = kindUnclear
	}
	return run
}

// environment is what the test sees of the user's variables.
func (g *goTests) environment(of environment, dir string) []string {
	env := userVariables(of, goVariables...)
	if !of.Clean {
		env = give(env, g.given)
	}
	env = give(env, []string{"PWD=" + dir, "GOPROXY=off", "GOTOOLCHAIN=local"})
	for _, name := range []string{"GOROOT", "GOCACHE", "GOMODCACHE", "GOPATH", "GOFLAGS"} {
		env = give(env, []string{name + "=" + g.env[name]})
	}
	return env
}

// stream is the output of a test binary as go test -json has it.
func (g *goTests) stream(ctx context.Context, pack string, output []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, g.reader, "-p", pack) //nolint:gosec // the package was listed by go
	cmd.Stdin = bytes.NewReader(output)
	stream, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("test2json: %w", err)
	}
	return stream, nil
}

// readStream tells what came of a test in a stream of go test -json.
func readStream(pack, name string, stream []byte) (kind, string) {
	kind := kindAbsent
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
			kind = kindPassed
		case "fail":
			kind = kindFailed
		case "skip":
			kind = kindSkipped
		case "run":
			if kind == kindAbsent {
				kind = kindEnded // until it says how it ended
			}
		}
	}
	var log strings.Builder
	for entry, err := range (&gotest.Reader{}).Read(pack, bytes.NewReader(stream)) {
		if err == nil && tells(&entry.Case, name) {
			kind = kindFailed
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

// goVariables are those of the user that a test of Go sees beside those that all tests see.
var goVariables = []string{"GODEBUG", "GOMAXPROCS", "CGO_ENABLED", "CC", "CXX"}
