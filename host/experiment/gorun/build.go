// Package gorun builds and runs single Go tests for experiments: one test binary for each package of a tree, and runs of it in
// isolation that never use the go command again.
package gorun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/runner"
)

// ErrNoGo: the go command is not installed.
var ErrNoGo = errors.New("go is not installed; experiments need it to build tests")

// maxBuildOutput is how much of each output of a go command is kept, in bytes.
const maxBuildOutput = 64 << 10

// Go is the Go toolchain. Safe for concurrent use.
type Go struct {
	command string
	reader  string            // test2json, which the go command takes long to find
	env     map[string]string // what the toolchain says of itself
	flags   []string
	hide    []string // folders that tests don't see
}

// Find finds the go command in PATH. Its temporary files are in the folder temp. Flags are passed to every build, such as -race and -tags.
func Find(ctx context.Context, temp string, flags ...string) (*Go, error) {
	command, err := exec.LookPath("go")
	if err != nil {
		return nil, ErrNoGo
	}
	g := &Go{command: command, flags: flags}
	args := []string{"env", "-json", "GOROOT", "GOCACHE", "GOMODCACHE", "GOPATH", "GOFLAGS", "GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOEXPERIMENT"}
	out, err := exec.CommandContext(ctx, command, args...).Output() //nolint:gosec // the go command of PATH
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	if err := json.Unmarshal(out, &g.env); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	reader, err := g.run(ctx, temp, temp, "tool", "-n", "test2json")
	if err != nil {
		return nil, fmt.Errorf("go tool test2json: %w", err)
	}
	g.reader = strings.TrimSpace(reader)
	return g, nil
}

// Hide keeps a folder, such as the checkout, from the tests: they have their trees.
func (g *Go) Hide(folder string) { g.hide = append(g.hide, folder) }

// Sees says whether tests see a path: in the toolchain, the modules or the cache.
func (g *Go) Sees(path string) bool {
	return slices.ContainsFunc([]string{"GOROOT", "GOMODCACHE", "GOCACHE"}, func(name string) bool {
		rel, err := filepath.Rel(g.env[name], path)
		return g.env[name] != "" && err == nil && filepath.IsLocal(rel)
	})
}

// Version names all of the toolchain that test results depend on: its version, its target and the flags of builds.
func (g *Go) Version() string {
	var parts []string
	for _, name := range []string{"GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOEXPERIMENT", "GOFLAGS"} {
		parts = append(parts, name+"="+g.env[name])
	}
	return strings.Join(append(parts, g.flags...), " ")
}

// Binary is the tests of one package, built.
type Binary struct {
	Path    string // of the executable
	Dir     string // the package's folder in its tree
	Package string // import path
}

// Build builds the tests of a package in a module that a folder of the tree belongs to. The package is an import path or a path
// relative to the folder ("./x"). Flags come behind those of [Find]. The binary is written into the folder out. The error is a
// *runner.BuildError if the tests do not build,
// and runner.ErrNoTests if there are none.
func (g *Go) Build(ctx context.Context, folder, pack, out string, flags ...string) (*Binary, error) {
	if strings.HasPrefix(pack, "-") {
		return nil, fmt.Errorf("%q is no package", pack)
	}
	listed, err := g.run(ctx, folder, out, "list", "-find", "-f", "{{.ImportPath}}\t{{.Dir}}\t{{len .TestGoFiles}} {{len .XTestGoFiles}}", pack)
	if err != nil {
		return nil, asBuildError(pack, err)
	}
	fields := strings.Split(strings.TrimSpace(listed), "\t")
	if len(fields) != 3 {
		return nil, fmt.Errorf("go list %s: %q", pack, listed)
	}
	b := &Binary{Package: fields[0], Dir: fields[1], Path: filepath.Join(out, strings.NewReplacer("/", "_", "\\", "_").Replace(fields[0])+".test")}
	if fields[2] == "0 0" {
		return nil, fmt.Errorf("%s: %w", pack, runner.ErrNoTests)
	}
	flags = slices.Concat(g.flags, flags)
	if !strings.Contains(g.env["GOFLAGS"]+" "+strings.Join(flags, " "), "-ldflags") {
		flags = append(flags, "-ldflags=-w") // what only a debugger reads takes a quarter of the linker's time
	}
	args := append([]string{"test", "-c", "-vet=off", "-buildvcs=false", "-o", b.Path}, flags...)
	if _, err := g.run(ctx, folder, out, append(args, pack)...); err != nil {
		return nil, asBuildError(pack, err)
	}
	return b, nil
}

// machineText is what the go command prints when the machine keeps it from building: modules or a toolchain that can't be
// downloaded, a C compiler that is missing, a full disk, a killed compiler.
var machineText = regexp.MustCompile(`dial tcp|no such host|i/o timeout|TLS handshake|lookup disabled by GO|\(running go 1|toolchain not available|` +
	`-race requires cgo|executable file not found|no space left on device|cannot allocate memory|signal: killed`)

// asBuildError makes a *runner.BuildError of a command that failed, unless the machine is the reason.
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
	return &runner.BuildError{What: pack, Output: failed.output}
}

// commandError is a go command that ended with an error of the code, not of the machine.
type commandError struct{ output string }

func (e *commandError) Error() string { return e.output }

// interruptPause is how long the go command may take to end when it is interrupted.
const interruptPause = 5 * time.Second

// run runs the go command and gives its standard output. Its temporary files are in the folder temp.
func (g *Go) run(ctx context.Context, folder, temp string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.command, args...) //nolint:gosec // packages can't be flags
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PWD="+folder, "GOTMPDIR="+temp, "TMPDIR="+temp)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it ends its compilers, too
	cmd.WaitDelay = interruptPause
	var out, errs head
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

// head keeps the beginning of what is written to it.
type head []byte

// Write never fails, so that the program goes on.
func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), maxBuildOutput-len(*h))]...)
	return len(p), nil
}
