package experiment

import (
	"bytes"
	"cmp"
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
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/repo"
)

// maxBuildOutput is how much of each output of a go command is kept, in bytes.
const maxBuildOutput = 64 << 10

// goTests is the toolchain of Go: one binary for each package and tree, and runs of it that never use the go command again.
type goTests struct {
	facts
	modules []module
	folders map[string]bool // of the tree under test, see goFolders

	command string
	reader  string            // test2json, which the go command takes long to find
	env     map[string]string // what the toolchain says of itself
	flags   []string          // of every build, such as -race and -tags
	passed  []string          // to every run of tests
	given   []string          // variables of builds and tests
	hide    string            // the checkout: tests have their trees
	head    *repo.Tree        // the tree under test
	working *repo.Tree        // the tree of what is checked out; nil if a commit is under test
}

// openGo gives the toolchain of Go for a tree with modules, else nil.
func openGo(ctx context.Context, source *origin, config *Config) (*goTests, error) {
	modules, err := modulesOf(ctx, source.Head)
	if err != nil || len(modules) == 0 {
		return nil, err
	}
	g := &goTests{
		facts:   facts{name: goRunner, pace: plan.GoPace(), cached: true, variables: give(userVariables(environment{}, goVariables...), config.Env)},
		modules: modules, folders: goFolders(source.Head), hide: source.Top, head: source.Head,
		flags: config.Flags, passed: config.TestFlags, given: config.Env,
	}
	if !source.Committed {
		g.working = source.Head
	}
	g.problem = g.start(ctx, source.Scratch)
	return g, ctx.Err()
}

// start finds the go command in PATH, and what it says of itself. Its temporary files are in the folder temp.
func (g *goTests) start(ctx context.Context, temp string) (err error) {
	if g.command, err = exec.LookPath("go"); err != nil {
		return errors.New("go is not installed; experiments need it to build tests")
	}
	results := []string{"GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOEXPERIMENT", "GOFLAGS"} // test results depend on these
	args := append([]string{"env", "-json", "GOROOT", "GOCACHE", "GOMODCACHE", "GOPATH"}, results...)
	cmd := exec.CommandContext(ctx, g.command, args...) //nolint:gosec // the go command of PATH
	cmd.Env = give(os.Environ(), g.given)
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &g.env)
	}
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	for _, name := range results {
		g.version += name + "=" + g.env[name] + " "
	}
	g.version += fmt.Sprintf("%q %q", g.flags, g.passed)
	reader, err := g.run(ctx, temp, temp, "tool", "-n", "test2json")
	if err != nil {
		return fmt.Errorf("go tool test2json: %w", err)
	}
	g.reader = strings.TrimSpace(reader)
	return nil
}

// sees: tests see the toolchain, the modules and the cache.
func (g *goTests) sees(path string) bool {
	return slices.ContainsFunc([]string{"GOROOT", "GOMODCACHE", "GOCACHE"}, func(name string) bool { return within(g.env[name], path) })
}

func (g *goTests) build(ctx context.Context, w *workspace, f *failure, only replaced, out string) (program, error) {
	t := f.goTest
	if !t.in(w.folders()) {
		return nil, errNoTests
	}
	if err := w.write(ctx); err != nil {
		return nil, err
	}
	overlay, err := only.write(out, w.source())
	if err != nil {
		return nil, err
	}
	for pack, in := path.Join(t.module, t.folder), path.Join(t.module, t.folder); in != t.module; in = path.Dir(in) {
		if _, ok := w.tree.File(path.Join(in, "go.mod")); ok { // of a module that the tree under test does not have
			t.module, t.folder = in, path.Join(".", strings.TrimPrefix(pack, in))
			break
		}
	}
	folder := filepath.Join(w.source(), filepath.FromSlash(t.module))
	flags := slices.Concat(overlay, t.flags)
	binary, err := g.compile(ctx, folder, "./"+t.folder, out, flags...)
	if t.builds {
		return g.building(ctx, w, binary, folder, out, flags, err)
	}
	if err != nil {
		return nil, err
	}
	binary.loaded = g.loaded(ctx, w, binary, folder, "./"+t.folder, out, flags)
	built, _ := os.ReadFile(binary.path)
	timed := bytes.Contains(built, []byte("testing.(*T).Deadline"))
	return func(ctx context.Context, f *failure, env environment) (*testRun, error) {
		env.Timed = timed && !f.looks.timeout // else the test has to tell where it was
		run, err := g.test(ctx, w, binary, f.name, env)
		if err != nil {
			return nil, err
		}
		run.Loaded = binary.loaded
		return run, nil
	}, ctx.Err()
}

// goBinary is the tests of one package, built.
type goBinary struct {
	path string // of the executable
	dir  string // the package's folder in its tree
	pack string // import path
	// module is the path of its module, and folder that in its tree.
	module, folder string
	flags          []string // of its build
	loaded         loaded

	mu     sync.Mutex
	listed *string // see takes
}

// building is a program that fails as the build of a package's tests did, go vet included, and passes where it did not. It runs nothing.
func (g *goTests) building(ctx context.Context, w *workspace, b *goBinary, folder, out string, flags []string, err error) (program, error) {
	run := testRun{Kind: kindPassed, Result: &isolate.Result{Ending: isolate.Exited, Asked: map[string]isolate.Look{}}, Loaded: loaded{code: abi.Certified}}
	if b != nil { // else the go command did not come as far as to look for other packages
		run.Loaded = g.loaded(ctx, w, b, folder, b.pack, out, flags)
	}
	if err == nil || errors.Is(err, errNoTests) { // then the go command builds the package itself
		args := slices.Concat([]string{"test", "-run=^$", "-exec=true", "-buildvcs=false"}, g.flags, flags, []string{b.pack})
		if _, err = g.run(ctx, folder, out, args...); err != nil {
			err = asBuildError(b.pack, err)
		}
	}
	failed, ok := errors.AsType[*buildError](err)
	switch {
	case ok:
		run.Kind, run.Documents = kindFailed, []abi.Document{{Name: "log", Text: failed.Output}}
	case err != nil:
		return nil, err
	}
	return func(ctx context.Context, _ *failure, env environment) (*testRun, error) {
		again := run
		if env.Trace && b != nil && run.Kind == kindFailed {
			again.Lacks = g.takes(ctx, g.laboratory(w, b, env), b)
		}
		return &again, nil
	}, nil
}

// taken lists the files of folders that a build takes, by the folders of their packages.
const taken = `{{with .Module}}{{if or .Main (and .Replace (eq .Replace.Version ""))}}{{$.Dir}}{{"\t"}}{{join $.GoFiles "\t"}}{{"\t"}}{{join $.CgoFiles "\t"}}{{"\t"}}` +
	`{{join $.CFiles "\t"}}{{"\t"}}{{join $.CXXFiles "\t"}}{{"\t"}}{{join $.HFiles "\t"}}{{"\t"}}{{join $.SFiles "\t"}}{{"\t"}}{{join $.EmbedFiles "\t"}}{{"\n"}}{{end}}{{end}}`

// registers is code that no other code has to name.
var registers = regexp.MustCompile(`(?m)^func init\(|^var _ = `)

// takes says what the build of a binary takes in the checkout that it lacks in a tree, and whether the code that it is built from lists all variables.
func (g *goTests) takes(ctx context.Context, l *laboratory, b *goBinary) string {
	in, _ := filepath.Rel(l.seen, b.folder)
	ask := func(given []string, args ...string) string {
		of := *g
		of.given = give(slices.Clone(g.given), given)
		out, _ := of.run(ctx, filepath.Join(g.hide, in), l.env.Scratch, args...)
		return strings.TrimSpace(out)
	}
	list := slices.Concat([]string{"list", "-e", "-buildvcs=false", "-deps", "-test", "-f", taken}, g.flags, b.flags, []string{b.pack})
	b.mu.Lock() // all tests of a package are in one binary
	defer b.mu.Unlock()
	if b.listed == nil {
		files := ask(nil, list...)
		if rel, err := filepath.Rel(g.hide, ask(nil, "env", "GOWORK")); err == nil {
			if _, has := l.tree.File(filepath.ToSlash(rel)); !has && files != ask([]string{"GOWORK=off"}, list...) {
				return "the code is built with " + filepath.ToSlash(rel) + ", which experiments do not have"
			}
		}
		if ctx.Err() != nil {
			return ""
		}
		b.listed = &files
	}
	for line := range strings.Lines(*b.listed) {
		names := strings.Split(strings.TrimSpace(line), "\t")
		for _, name := range names[1:] {
			rel, err := filepath.Rel(g.hide, filepath.Join(names[0], name))
			now, _ := l.head.File(filepath.ToSlash(rel))
			text, _ := plainFile(g.hide, rel, maxTestFile)
			if idle := now.Untracked() && filepath.Ext(rel) == ".go" && !registers.Match(text); idle || name == "" || err != nil || !filepath.IsLocal(rel) {
				continue // a tree that builds without it misses nothing
			}
			file := filepath.Join(l.seen, rel)
			if why := cmp.Or(strings.Replace(l.file(file, isolate.Missing), "the test reads", "the code is built with", 1), l.lists(file, false)); why != "" {
				return why
			}
		}
	}
	return ""
}

// compile builds the tests of a package, an import path or a path relative to the folder ("./x"), which lies in a module. The binary is
// written into the folder out. The error is a *buildError if the tests do not build, with what is known of them, and errNoTests if there are none.
func (g *goTests) compile(ctx context.Context, folder, pack, out string, flags ...string) (*goBinary, error) {
	if strings.HasPrefix(pack, "-") {
		return nil, fmt.Errorf("%q is no package", pack)
	}
	const asked = "{{.ImportPath}}\t{{.Dir}}\t{{len .TestGoFiles}} {{len .XTestGoFiles}}\t{{with .Module}}{{.Path}}{{end}}"
	listed, err := g.run(ctx, folder, out, slices.Concat([]string{"list", "-find", "-f", asked}, g.flags, []string{pack})...)
	if err != nil {
		return nil, asBuildError(pack, err)
	}
	fields := strings.Split(strings.TrimRight(listed, "\r\n"), "\t")
	if len(fields) != 4 {
		return nil, fmt.Errorf("go list %s: %q", pack, listed)
	}
	b := &goBinary{pack: fields[0], dir: fields[1], module: fields[3], folder: folder, flags: flags, path: filepath.Join(out, "go-build1", "b001", path.Base(fields[0])+".test")} // as code asks for it
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return nil, err
	}
	if fields[2] == "0 0" {
		return b, fmt.Errorf("%s: %w", pack, errNoTests)
	}
	flags = slices.Concat(g.flags, flags)
	if !strings.Contains(g.env["GOFLAGS"]+" "+strings.Join(flags, " "), "-ldflags") {
		flags = append(flags, "-ldflags=-w") // what only a debugger reads takes a quarter of the linker's time
	}
	args := append([]string{"test", "-c", "-vet=off", "-buildvcs=false", "-o", b.path}, flags...)
	if _, err := g.run(ctx, folder, out, append(args, pack)...); err != nil {
		return b, asBuildError(pack, err)
	}
	return b, nil
}

// machineText is what the go command prints when the machine keeps it from building: modules or a toolchain that can't be
// downloaded, a C compiler that is missing, a full disk, a killed compiler.
var machineText = regexp.MustCompile(`dial tcp|no such host|i/o timeout|TLS handshake|lookup disabled by GO|\(running go 1|toolchain not available|` +
	`-race requires cgo|executable file not found|no space left on device|cannot allocate memory|signal: killed`)

// asBuildError makes a *buildError of a command that failed, unless the machine is the reason.
func asBuildError(pack string, err error) error {
	failed, ok := errors.AsType[*commandError](err)
	if !ok {
		return err
	}
	for line := range strings.Lines(failed.output) {
		if machineText.MatchString(line) {
			return fmt.Errorf("go can't build %s here: %s", pack, strings.TrimSpace(line))
		}
	}
	return &buildError{What: pack, Output: failed.output}
}

// commandError is a go command that ended with an error of the code, not of the machine.
type commandError struct{ output string }

func (e *commandError) Error() string { return e.output }

// interruptPause is how long the go command may take to end when it is interrupted.
const interruptPause = 5 * time.Second

// run runs the go command and gives its standard output. Its temporary files are in the folder temp.
func (g *goTests) run(ctx context.Context, folder, temp string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.command, args...) //nolint:gosec // packages can't be flags
	cmd.Dir = folder
	cmd.Env = append(give(os.Environ(), g.given), "PWD="+folder, "GOTMPDIR="+temp, "TMPDIR="+temp)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it ends its compilers, too
	cmd.WaitDelay = interruptPause
	var out, errs bounded
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &exit):
		return "", &commandError{output: strings.ToValidUTF8(string(errs), "\uFFFD")}
	}
	return string(out), err
}

// bounded keeps the beginning of what is written to it.
type bounded []byte

// Write never fails, so that the program goes on.
func (b *bounded) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), maxBuildOutput-len(*b))]...)
	return len(p), nil
}
