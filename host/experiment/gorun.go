package experiment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/repo"
)

// dumpTime is how long a test that is over its time may take to say where it was.
const dumpTime = 5 * time.Second

// goTimeout is how long the tests of a package may take by default.
const goTimeout = 10 * time.Minute

// test runs one test, named as `go test -run` names it: TestA or TestA/sub. A subtest runs with its siblings, which often depend on each
// other: alone, one that passes may fail. The tree of the binary has to be in env.Scratch or in env.Overlay, or the test can't write to it.
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
	timeout, passed := limit, slices.Clone(g.passed)
	if env.Timed { // as in the command; the isolation ends it at its limit
		timeout = max(limit, goTimeout)
	} else {
		passed = slices.DeleteFunc(passed, func(flag string) bool { return strings.HasPrefix(flag, "-test.timeout=") })
	}
	args := []string{b.path, "-test.v=test2json", "-test.count=1", "-test.paniconexit0", "-test.timeout=" + timeout.String()}
	chosen := func(flag string) bool { return strings.HasPrefix(flag, "-test.run=") }
	args = append(args, slices.DeleteFunc(slices.Clone(passed), func(flag string) bool { return !chosen(flag) })...) // unless another one follows
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
	args = append(args, slices.DeleteFunc(passed, chosen)...) // last: a flag of the tests may be followed by other arguments
	overlays := []string{g.env["GOCACHE"]}
	if env.Native && !within(g.hide, env.Scratch) { // what is written there lands in the scratch folder
		overlays = append(overlays, g.hide)
	}
	if env.Overlay != "" {
		overlays = append(overlays, env.Overlay)
	}
	variables, libraries := g.environment(env, b.dir), []string{g.env["GOROOT"], g.env["GOMODCACHE"]}
	for i, v := range variables {
		if name, list, _ := strings.Cut(v, "="); !env.Native && (name == "PATH" || slices.Contains(loaders, name)) {
			folders := g.paths(list, w.source())
			variables[i], libraries = name+"="+strings.Join(folders, string(filepath.ListSeparator)), append(libraries, folders...)
		}
	}
	result, err := isolate.Run(ctx, isolate.Command{
		Args: args, Dir: b.dir, Env: variables, Scratch: env.Scratch, Overlays: overlays,
		Show: libraries, Hide: []string{g.hide}, Original: !env.Clean, Native: env.Native, Home: env.Home, Network: env.Network, Starve: env.Starve, Trace: env.Trace,
		Limits: env.Limits,
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
	if env.Compared && (result.ExitCode != 0 || result.Ending != isolate.Exited || bytes.Contains(stream, []byte(`"Action":"skip"`))) {
		made.lacks = g.lacks(ctx, w, b, env, traceFile(env.Scratch, testLog), result.Asked)
	}
	return made, err
}

// paths are the folders of a list, those of the checkout as they are in a tree: what they have is no other tree's.
func (g *goTests) paths(list, source string) []string {
	folders, named := filepath.SplitList(list), strings.NewReplacer(g.hide+"/", source+"/", g.hide+" ", source+" ")
	for i, folder := range folders {
		folders[i] = strings.TrimSuffix(named.Replace(folder+" "), " ") // as in options
		at, _ := filepath.EvalSymlinks(folder)
		if rel, err := filepath.Rel(g.hide, at); err == nil && filepath.IsLocal(rel) {
			folders[i] = filepath.Join(source, rel)
		}
	}
	return folders
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
	if env = give(env, []string{"PWD=" + dir}); of.Native {
		return env
	}
	env = give(env, []string{"GOPROXY=off", "GOTOOLCHAIN=local"})
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
	var own, below string
	for entry, err := range (&gotest.Reader{}).Read(pack, bytes.NewReader(stream)) {
		if err != nil {
			continue
		}
		c := &entry.Case
		switch tests := gotest.TestsOf(c); {
		case strings.Contains(" "+c.Subject+" ", " "+name+" "):
			kind, own = kindFailed, own+c.Documents[0].Text
		case len(tests) == 1 && strings.HasPrefix(tests[0].Name, name+"/"):
			kind, below = kindFailed, below+c.Documents[0].Text
		}
	}
	return kind, cmp.Or(own, below) // a report has cases of their own for subtests
}

// goVariables are those of the user that a test of Go sees beside those that all tests see.
var goVariables = []string{"GODEBUG", "GOMAXPROCS", "CGO_ENABLED", "CC", "CXX", "GOGC", "GOMEMLIMIT", "GOTRACEBACK", "GORACE"}

// goTarget is a test of Go.
type goTarget struct {
	module string   // folder of the module in every tree
	folder string   // of the package, in its module
	flags  []string // of the build, which the failure needs
	// builds: the failure is that the package does not build, and its test is the build.
	builds bool
}

// module is a Go module of the tree under test.
type module struct{ folder, path string }

const maxGoMod = 1 << 20

func modulesOf(ctx context.Context, head *repo.Tree) ([]module, error) {
	var found []module
	for _, name := range head.Paths() {
		if path.Base(name) != "go.mod" || slices.ContainsFunc(strings.Split(name, "/"), ignored) {
			continue
		}
		data, err := head.Read(ctx, name, maxGoMod)
		if err != nil {
			return nil, err
		}
		if p := modfile.ModulePath(data); p != "" {
			found = append(found, module{path.Dir(name), p})
		}
	}
	return found, nil
}

// ignored are folders in which the go command looks for no packages.
func ignored(folder string) bool {
	return folder == "testdata" || folder == "vendor" || strings.HasPrefix(folder, "_") || strings.HasPrefix(folder, ".")
}

// goFolders are the folders of a tree with files of Go; true: with test files.
func goFolders(t *repo.Tree) map[string]bool {
	tested := map[string]bool{}
	for _, name := range t.Paths() {
		if strings.HasSuffix(name, ".go") {
			tested[path.Dir(name)] = tested[path.Dir(name)] || strings.HasSuffix(name, "_test.go")
		}
	}
	return tested
}

// in says whether there is something to run in the folders of a tree: tests, or a package that does not build.
func (t *goTarget) in(folders map[string]bool) bool {
	tested, has := folders[path.Join(t.module, t.folder)]
	return tested || t.builds && has
}

// serves: a binary knows nothing of the checkout.
func (*goTests) serves(*repo.Tree) error { return nil }

// find finds the only test of Go that a case names, and its package in the tree.
func (g *goTests) find(c *abi.Case) (*failure, error) {
	var tests []gotest.Test
	for _, t := range gotest.TestsOf(c) {
		if t.Package == "" {
			t.Package = c.Group
		}
		if !slices.ContainsFunc(tests, func(other gotest.Test) bool { return other.Name == t.Name && other.Package == t.Package }) {
			tests = append(tests, t)
		}
	}
	unbuilt := gotest.UnbuiltOf(c)
	switch len(tests) {
	case 0:
		if unbuilt == "" {
			return nil, errNoTest
		}
		tests = []gotest.Test{{Package: unbuilt}}
	case 1:
	default:
		return nil, fmt.Errorf("several tests are named, such as %s and %s", tests[0].Name, tests[1].Name)
	}
	test := tests[0]
	f := &failure{name: test.Name, group: test.Package, elapsed: test.Elapsed, certain: true}
	t := &f.goTest
	t.flags, t.builds = flagsOf(c.Documents), test.Name == ""
	var at string
	for _, m := range g.modules { // the innermost module that has the package
		folder, ok := strings.CutPrefix(test.Package+"/", m.path+"/")
		if ok && len(m.path) > len(at) {
			at, t.module, t.folder = m.path, m.folder, path.Clean("./"+folder)
		}
	}
	pack := path.Join(t.module, t.folder)
	switch {
	case test.Package == "command-line-arguments":
		return nil, errors.New("the command names files of Go, and the report no package: name the package, as in go test ./FOLDER")
	case at == "" || !t.in(g.folders):
		return nil, fmt.Errorf("no tests of package %q are in the source", test.Package)
	}
	f.unit = strings.Join(append([]string{pack}, t.flags...), " ")
	if t.builds {
		f.unit += " -c"
	}
	return f, g.problem
}

// flagsOf are the flags without which the failure could not have happened: without the race detector, tests with races pass.
func flagsOf(documents []abi.Document) []string {
	for i := range documents {
		if text := documents[i].Text; strings.Contains(text, "WARNING: DATA RACE") || strings.Contains(text, "race detected during execution of test") {
			return []string{"-race"}
		}
	}
	return nil
}

func (*goTests) compare(ctx context.Context, head, base *repo.Tree, f *failure) (*comparison, error) {
	if f.goTest.builds {
		return &comparison{}, nil
	}
	test, _, _ := strings.Cut(f.name, "/")
	pack := path.Join(f.goTest.module, f.goTest.folder)
	now, missing, err := needs(ctx, head, pack, test)
	if err != nil || now == nil || missing {
		return &comparison{}, err
	}
	before, missing, err := needs(ctx, base, pack, test)
	if err != nil || before == nil && !missing {
		return &comparison{}, err
	}
	c := &comparison{needed: map[abi.TreeRevision]replaced{abi.Head: replace(pack, now.files)}, change: abi.TestNew}
	if missing {
		return c, nil
	}
	c.needed[abi.Base] = replace(pack, before.files)
	own := func(name string) bool { return strings.HasPrefix(name, pack+"/") || pack == "." }
	data := func(name string) bool { return sourcefile.IsTest(name) && !strings.HasSuffix(name, "_test.go") }
	c.change = abi.TestChanged
	if now.digest == before.digest {
		c.same = now.process == before.process && !head.Differ(base, data)
		if c.same || !head.Differ(base, func(name string) bool { return own(name) && data(name) }) {
			c.change = abi.TestUnchanged
		}
	}
	return c, nil
}

// The bounds of the test files that are read to find what a test needs.
const (
	maxTestFile  = 2 << 20
	maxTestFiles = 500
)

// needs finds what a test needs of its package's test files in a tree; nil where that can't be told. missing: there is no such test.
// Errors are errSeveral, and those of reading the tree.
func needs(ctx context.Context, t *repo.Tree, pack, test string) (n *needed, missing bool, err error) {
	files := map[string][]byte{}
	for _, name := range t.Paths() {
		if path.Dir(name) != pack || !strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := t.Read(ctx, name, maxTestFile+1)
		if err != nil {
			return nil, false, err
		}
		if files[path.Base(name)] = text; len(text) > maxTestFile || len(files) > maxTestFiles {
			return nil, false, nil
		}
	}
	n, err = needsOf(files, test)
	if missing = errors.Is(err, errNoSuchTest); !errors.Is(err, errSeveral) {
		err = nil
	}
	return n, missing, err
}
