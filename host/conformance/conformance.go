// Package conformance holds a module, in whatever language it is written, to the contract of abi/SPEC.md, in the sandbox that trials use. A
// test of a module needs one line:
//
//	conformance.Check(t, wasm)
//
// What is tried and what counts as a failure is package abitest's; loading a module is this one's. The two are apart because the contract
// must not know the host, and another host may bring a sandbox of its own to the same cases.
package conformance

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// Options of a check. The zero value is useful.
type Options struct {
	// Roles of a module that has no manifest yet. A manifest stands above them.
	Roles *abitest.Roles
	// Seed of the random cases, and how many to make. Default: 0, and abitest.DefaultCases.
	Seed  uint64
	Cases int
	// Fuel of a call. Default: abi.DefaultFuel.
	Fuel uint64
	// CacheDir keeps compiled modules between runs. Default: a folder of its own, which is removed at the end.
	CacheDir string
	// Now is the clock that limits calls. Default: time.Now.
	Now func() time.Time
	// Progress is told what is tried next, and how much of that is done. Optional.
	Progress func(what string, done, of int)
}

// Run validates a module against the contract. What is wrong with the module is in the
// report; the error is of the machine, or the context's.
func Run(ctx context.Context, wasm []byte, o Options) (*abitest.Report, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	if o.CacheDir == "" {
		dir, err := disk.TempDir("shadowcourt-check")
		if err != nil {
			return nil, err
		}
		defer func() { _ = dir.Remove() }()
		o.CacheDir = dir.Path
	}
	l := newLoading(wasm, &o)
	report := l.report
	defer l.close(context.WithoutCancel(ctx))
	subjects, err := l.load(ctx)
	if err != nil || subjects == nil {
		return report, err
	}
	kit := abitest.Options{Seed: o.Seed, Cases: o.Cases, Fuel: o.Fuel, Progress: o.Progress}
	return report, abitest.RunModule(ctx, *subjects, l.roles, kit, report)
}

// T is what Check needs of a *testing.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Context() context.Context
}

// Check validates a module against the contract in a test, which fails with each check
// that does not pass. Compiled modules are kept in the user's cache folder.
func Check(t T, wasm []byte) {
	t.Helper()
	CheckWith(t, wasm, Options{CacheDir: userCache()})
}

// CheckWith is Check with options.
func CheckWith(t T, wasm []byte, o Options) {
	t.Helper()
	report, err := Run(t.Context(), wasm, o)
	if err != nil {
		t.Errorf("conformance: %v", err)
		return
	}
	for i := range report.Checks {
		if c := &report.Checks[i]; c.Status == abitest.Failed {
			t.Errorf("%s", describe(c))
		}
	}
}

// describe tells of a check that failed.
func describe(c *abitest.Result) string {
	lines := []string{fmt.Sprintf("SPEC.md %s, %s: %s: %d of %d", c.Clause, c.ID, c.Title, c.Broken, c.Tried)}
	for _, f := range c.Failures {
		lines = append(lines, "  "+strings.TrimPrefix(f.Input+": ", ": ")+f.Detail)
		if f.Stderr != "" {
			lines = append(lines, "    stderr: "+f.Stderr)
		}
	}
	return strings.Join(lines, "\n")
}

// userCache is the command's, and none where there is no home.
func userCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "shadowcourt", "modules")
}

// loading is a module on its way into the sandbox.
type loading struct {
	wasm     []byte
	options  *Options
	info     sandbox.Info
	manifest *abi.Manifest
	roles    *abitest.Roles
	report   *abitest.Report
	engines  []*sandbox.Engine
}

func newLoading(wasm []byte, o *Options) *loading {
	l := &loading{wasm: wasm, options: o, roles: &abitest.Roles{}}
	if o.Roles != nil {
		*l.roles = *o.Roles
	}
	if info, err := sandbox.Inspect(wasm); err == nil {
		l.info = info
		if m, err := codec.DecodeManifest(info.ManifestBytes, len(info.ManifestBytes)); err == nil {
			l.manifest, *l.roles = &m, abitest.RolesOf(&m)
		}
	}
	l.roles.Prepares = slices.ContainsFunc(l.info.Exports, func(x wasmfile.Export) bool { return x.Name == abi.ExportPrepare })
	l.report = abitest.NewReport(l.roles)
	l.report.Size, l.report.Digest = len(wasm), sandbox.Digest(sha256.Sum256(wasm)).String()
	return l
}

// load gives the module in all its lives, or nil if it was rejected.
func (l *loading) load(ctx context.Context) (*abitest.Subjects, error) {
	usual, err := l.engine(ctx, sandbox.ResetAuto)
	if err != nil {
		return nil, err
	}
	l.checkManifest(usual.Limits())
	l.options.Progress("loading", 0, 3)
	module, err := l.module(ctx, usual, true)
	if err != nil {
		return nil, l.rejected(err)
	}
	l.report.Try(loadChecks...)
	if len(l.report.Failed()) > 0 {
		return nil, nil //nolint:nilnil // rejected, as the report says
	}
	return l.lives(ctx, module)
}

// lives makes the other lives of a module that was loaded.
func (l *loading) lives(ctx context.Context, usual *sandbox.Module) (*abitest.Subjects, error) {
	again := func(done int, reset sandbox.Reset, warm bool) (subject, error) {
		l.options.Progress("loading", done, 3)
		engine, err := l.engine(ctx, reset)
		if err != nil {
			return nil, err
		}
		module, err := l.module(ctx, engine, warm)
		if err != nil {
			return nil, fmt.Errorf("load again: %w", err)
		}
		return module.Call, nil
	}
	fresh, err := again(1, sandbox.ResetFresh, true)
	if err != nil {
		return nil, err
	}
	cold, err := again(2, sandbox.ResetAuto, false)
	lives := &abitest.Subjects{Usual: subject(usual.Call), Fresh: fresh, Cold: cold}
	if usual.Prepares() {
		lives.Usual = prepared{subject(usual.Call), usual}
	}
	return lives, err
}

func (l *loading) engine(ctx context.Context, reset sandbox.Reset) (*sandbox.Engine, error) {
	engine, err := sandbox.New(ctx, sandbox.Config{
		CacheDir: l.options.CacheDir, Reset: reset, Now: l.options.Now, Logger: slog.New(slog.DiscardHandler),
		Limits: sandbox.Limits{Fuel: l.options.Fuel},
	})
	if err == nil {
		l.engines = append(l.engines, engine)
	}
	return engine, err
}

// module loads the module with all capabilities that it asks for, and warms it as trials do.
func (l *loading) module(ctx context.Context, engine *sandbox.Engine, warm bool) (*sandbox.Module, error) {
	if warm {
		return registry.LoadOne(ctx, engine, l.wasm, l.promise())
	}
	info, err := sandbox.Inspect(l.wasm)
	if err != nil {
		return nil, err
	}
	return engine.LoadInspected(ctx, info, l.roles.Capabilities)
}

// promise is the manifest, or one that says what the roles are.
func (l *loading) promise() *abi.Manifest {
	if l.manifest != nil {
		return l.manifest
	}
	return l.roles.Manifest()
}

func (l *loading) close(ctx context.Context) {
	for _, e := range l.engines {
		_ = e.Close(ctx) // nothing runs: it waits for nobody, and frees memory only
	}
}

// rejected puts the faults of a module that was not loaded into the report. An error that is not the module's comes back.
func (l *loading) rejected(err error) error {
	var rejection *registry.RejectedError
	if !errors.As(err, &rejection) || rejection.Has(registry.FaultUnavailable) {
		return err
	}
	for _, f := range rejection.Faults {
		l.report.Fail(checkOf(f), abitest.Failure{Detail: f.Detail + advice(f) + " [" + f.Code + "]"})
	}
	return nil
}
