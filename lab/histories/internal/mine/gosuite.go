package mine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// How long a build and the tests of a package may take.
const (
	buildTime = 4 * time.Minute
	suiteTime = 45 * time.Second
)

// timedOut is how the testing package says that a run took too long.
const timedOut = "panic: test timed out after"

// goSuite runs packages of Go.
type goSuite struct {
	scratch string // folder for binaries and what tests write
	env     map[string]string
	reader  string // test2json
	// built says of which package and commit the binary is that is there.
	built, pack string
}

func newGoSuite(ctx context.Context, scratch string) (*goSuite, error) {
	g := &goSuite{scratch: scratch}
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOROOT", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	if err := json.Unmarshal(out, &g.env); err != nil {
		return nil, err
	}
	out, err = exec.CommandContext(ctx, "go", "tool", "-n", "test2json").Output()
	g.reader = strings.TrimSpace(string(out))
	return g, errors.Join(err, os.MkdirAll(scratch, 0o755))
}

func (g *goSuite) name() string { return "go" }

func (g *goSuite) declares(test string) string { return "func " + test + "(" }

// units are the folders of packages that have test files among the paths, or whose fixtures are.
func (g *goSuite) units(folder string, tests []string) []string {
	var list []string
	for _, p := range tests {
		dir := path.Dir(p)
		for dir != "." && !hasTests(filepath.Join(folder, dir)) {
			dir = path.Dir(dir)
		}
		if !slices.Contains(list, dir) && hasTests(filepath.Join(folder, dir)) && !strings.Contains("/"+dir+"/", "/testdata/") && !strings.Contains("/"+dir+"/", "/vendor/") {
			list = append(list, dir)
		}
	}
	return list
}

func hasTests(folder string) bool {
	names, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	return err == nil && len(names) > 0
}

func (g *goSuite) run(ctx context.Context, folder, unit string, in surroundings) (*outcome, error) {
	dir := filepath.Join(folder, filepath.FromSlash(unit))
	if !hasTests(dir) {
		return &outcome{problem: "no tests"}, nil
	}
	binary := filepath.Join(g.scratch, "tests")
	commit, err := os.ReadFile(filepath.Join(folder, ".git", "HEAD"))
	if key := dir + " " + in.clock.String() + " " + string(commit); err != nil || key != g.built {
		var problem string
		g.built = ""
		if g.pack, problem, err = g.build(ctx, dir, binary, in.clock); err != nil || problem != "" {
			return &outcome{problem: problem}, err
		}
		g.built = key
	}
	pack := g.pack
	args := append(slices.Clone(in.launcher), binary, "-test.v=test2json", "-test.paniconexit0", "-test.timeout="+suiteTime.String(), "-test.count=1")
	if in.only != "" {
		top, _, _ := strings.Cut(in.only, "/")
		args = append(args, "-test.run=^"+regexp.QuoteMeta(top)+"$")
	}
	result, err := g.isolated(ctx, folder, dir, args)
	defer func() { _ = removeAll(g.written()) }()
	if err != nil {
		return nil, err
	}
	out := result.Output
	if result.Ending != isolate.Exited && result.Ending != isolate.Signaled {
		return &outcome{problem: "ended by its limit of " + string(result.Ending), slow: result.Ending == isolate.OverTime}, nil
	}
	if bytes.Contains(out, []byte(timedOut)) {
		return &outcome{problem: "its tests take too long", slow: true}, nil
	}
	if result.ExitCode != 0 {
		out = fmt.Appendf(out, "exit status %d\n\x16FAIL\t%s\t0.0s\n", result.ExitCode, pack) // as go test adds it
	}
	o, err := g.read(ctx, pack, out)
	if o != nil {
		o.wall = result.Wall
	}
	return o, err
}

// isolated runs a test binary in the folder of its package, in a tree, as experiments run theirs. What it writes is in the folder written,
// which the caller removes.
func (g *goSuite) isolated(ctx context.Context, folder, dir string, args []string) (*isolate.Result, error) {
	if err := errors.Join(removeAll(g.written()), os.MkdirAll(g.written(), 0o755)); err != nil {
		return nil, err
	}
	return isolate.Run(ctx, isolate.Command{
		Args: args, Dir: dir, Env: g.variables(dir), Scratch: g.written(), Overlays: []string{folder, g.env["GOCACHE"]},
		Show: []string{g.env["GOROOT"], g.env["GOMODCACHE"], g.scratch}, Limits: isolate.Limits{Time: suiteTime + 5*time.Second},
	})
}

func (g *goSuite) written() string { return filepath.Join(g.scratch, "run") }

// build builds the tests of a package, with a clock that is ahead and more flags, and gives its path; problem is what keeps it from being
// built.
func (g *goSuite) build(ctx context.Context, dir, binary string, clock time.Duration, flags ...string) (pack, problem string, err error) {
	timed, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	command := func(args ...string) (string, error) {
		cmd := exec.CommandContext(timed, "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "PWD="+dir)
		cmd.WaitDelay = 5 * time.Second
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) || timed.Err() != nil {
			if problem = strings.TrimSpace(errs.String()); problem == "" {
				problem = "the build failed"
			}
			return "", ctx.Err()
		}
		return strings.TrimSpace(out.String()), err
	}
	if pack, err = command("list", "-find", "-f", "{{.ImportPath}}", "."); err != nil || problem != "" {
		return "", problem, err
	}
	args := append([]string{"test", "-c", "-trimpath", "-vet=off", "-buildvcs=false", "-ldflags=-w", "-o", binary}, flags...)
	if clock != 0 {
		overlay, err := g.shift(clock)
		if err != nil {
			return "", "", err
		}
		args = append(args, "-overlay="+overlay)
	}
	_, err = command(append(args, ".")...)
	return pack, problem, err
}

// readsClock is the line of package time that reads the clock.
var readsClock = regexp.MustCompile(`func Now\(\) Time \{\n\tsec, nsec, mono := \w+\(\)\n`)

// shift writes what builds programs whose clock is wrong.
func (g *goSuite) shift(clock time.Duration) (overlay string, err error) {
	name := filepath.Join(g.env["GOROOT"], "src", "time", "time.go")
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	at := readsClock.FindIndex(text)
	if at == nil {
		return "", fmt.Errorf("%s does not read the clock as expected", name)
	}
	text = slices.Concat(text[:at[1]], fmt.Appendf(nil, "\tsec += %d\n", int(clock.Seconds())), text[at[1]:])
	shifted := filepath.Join(g.scratch, "time.go")
	overlay = filepath.Join(g.scratch, "clock.json")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{name: shifted}})
	return overlay, errors.Join(err, os.WriteFile(shifted, text, 0o644), os.WriteFile(overlay, replaced, 0o644))
}

// variables are those that tests see in experiments.
func (g *goSuite) variables(dir string) []string {
	list := []string{"PATH=" + os.Getenv("PATH"), "PWD=" + dir, "GOPROXY=off", "GOTOOLCHAIN=local"}
	for _, name := range []string{"LANG", "LC_ALL", "TZ", "USER", "SHELL", "TERM", "GODEBUG", "GOMAXPROCS"} {
		if value, ok := os.LookupEnv(name); ok {
			list = append(list, name+"="+value)
		}
	}
	for _, name := range []string{"GOROOT", "GOCACHE", "GOMODCACHE", "GOPATH"} {
		list = append(list, name+"="+g.env[name])
	}
	return list
}

// read reads what a test binary wrote.
func (g *goSuite) read(ctx context.Context, pack string, written []byte) (*outcome, error) {
	cmd := exec.CommandContext(ctx, g.reader, "-p", pack)
	cmd.Stdin = bytes.NewReader(written)
	stream, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("test2json: %w", err)
	}
	o := &outcome{passed: map[string]bool{}, failed: map[string]history.Report{}, took: map[string]time.Duration{}}
	byTest := map[string][]byte{}
	for line := range bytes.Lines(stream) {
		var e struct {
			Action  string  `json:"Action"`
			Test    string  `json:"Test"`
			Elapsed float64 `json:"Elapsed"`
		}
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		byTest[e.Test] = append(byTest[e.Test], line...)
		o.took[e.Test] = max(o.took[e.Test], time.Duration(e.Elapsed*float64(time.Second)))
		if e.Action == "pass" && e.Test != "" {
			o.passed[e.Test] = true
		}
	}
	for entry, err := range (&gotest.Reader{}).Read(pack, bytes.NewReader(stream)) {
		if err != nil {
			continue
		}
		tests := gotest.TestsOf(&entry.Case)
		if len(tests) != 1 || strings.Contains(tests[0].Name, "#") {
			continue
		}
		name := tests[0].Name
		if len(entry.Case.Documents) > 0 && strings.Contains(entry.Case.Documents[0].Text, timedOut) {
			continue // it may be the machine that is slow
		}
		if report, ok := g.report(pack, name, byTest, bytes.Contains(stream, []byte("panic:"))); ok {
			o.failed[name] = report
		}
	}
	return o, nil
}

// mostReport is the most of a report that is kept, in bytes.
const mostReport = 48 << 10

// report is the part of a stream that is about one test, the tests around it and the package; of a crash it is the whole stream.
func (g *goSuite) report(pack, name string, byTest map[string][]byte, crash bool) (history.Report, bool) {
	var text bytes.Buffer
	for at := range name {
		if name[at] == '/' {
			text.Write(begins(byTest[name[:at]]))
		}
	}
	text.Write(byTest[name])
	if crash {
		for test, lines := range byTest {
			if test != name && test != "" && bytes.Contains(lines, []byte("panic:")) {
				text.Write(lines)
			}
		}
	}
	text.Write(byTest[""])
	report := history.Report{Runner: "go", Group: pack, Test: name, Text: text.String()}
	if text.Len() > mostReport {
		return report, false
	}
	_, err := report.Entry()
	return report, err == nil
}

// begins are the events with which a test begins.
func begins(lines []byte) []byte {
	for line := range bytes.Lines(lines) {
		if bytes.Contains(line, []byte(`"Action":"run"`)) {
			return line
		}
	}
	return nil
}

// removeAll removes a folder in which tests may have left folders that nobody can write to.
func removeAll(folder string) error {
	err := os.RemoveAll(folder)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(folder)
}
