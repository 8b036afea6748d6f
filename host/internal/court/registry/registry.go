package registry

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// Registry holds the current generation. It is safe for concurrent use.
type Registry struct {
	engine  *sandbox.Engine
	late    func(module string)
	current atomic.Pointer[Generation]
	install sync.Mutex // one Install at a time
	closed  atomic.Bool
	number  uint64
}

// New makes an empty registry on an engine, which stays the caller's. With late, which is told its name then, a module of this program is
// loaded at its first call; nil loads all at once.
func New(engine *sandbox.Engine, late func(module string)) *Registry {
	return &Registry{engine: engine, late: late}
}

// Install loads modules, checks them against needs, and makes them the current generation. files are wasm files by module name; check is
// asked last with the digests of the code, and may reject the whole set. A module that the current generation has already is kept as it is,
// warm. The error is a *RejectedError with all faults, or the context's: then the generation before stays.
func (r *Registry) Install(ctx context.Context, files map[string]sandbox.File, needs []Need, check func(codeDigest func(module string) string) error) error {
	r.install.Lock()
	defer r.install.Unlock()
	if r.closed.Load() {
		return ErrClosed
	}
	modules, err := r.load(ctx, files, needs)
	if err == nil && check != nil {
		if rejection := check(func(name string) string { return modules[name].Info().CodeDigest.String() }); rejection != nil {
			err = &RejectedError{Faults: []Fault{{Code: FaultSides, Detail: rejection.Error()}}}
		}
	}
	if err != nil {
		for _, m := range modules {
			err = errors.Join(err, m.letGo(context.WithoutCancel(ctx)))
		}
		return err
	}
	r.number++
	old := r.current.Swap(&Generation{number: r.number, modules: modules})
	if old != nil {
		return old.retire(ctx)
	}
	return nil
}

// load compiles the modules side by side and checks each.
func (r *Registry) load(ctx context.Context, files map[string]sandbox.File, needs []Need) (map[string]*Module, error) {
	incumbents := map[string]*Module{} // which nobody closes while an Install goes on
	if g := r.current.Load(); g != nil {
		incumbents = g.modules
	}
	loaded := make([]*Module, len(needs))
	faults := make([][]Fault, len(needs))
	var wait sync.WaitGroup
	for i := range needs {
		wait.Go(func() { loaded[i], faults[i] = r.loadOne(ctx, files, &needs[i], incumbents[needs[i].Module]) })
	}
	wait.Wait()
	modules := make(map[string]*Module, len(needs))
	for _, m := range loaded {
		if m != nil {
			modules[m.Name] = m
		}
	}
	if err := ctx.Err(); err != nil {
		return modules, err
	}
	if all := slices.Concat(faults...); len(all) > 0 {
		return modules, &RejectedError{Faults: all}
	}
	return modules, nil
}

// inspected is a module as its file tells, without compiling it.
type inspected struct {
	info     sandbox.Info
	manifest abi.Manifest
	err      error // of the file; then there is no manifest
	faults   []Fault
}

// inspect checks a module as far as that needs no compiling. A file that is no valid module is in err.
func (r *Registry) inspect(files map[string]sandbox.File, need *Need) (i inspected) {
	file, ok := files[need.Module]
	if !ok {
		i.faults = []Fault{missing(need.Module)}
		return i
	}
	if i.info, i.err = file.Inspect(); i.err != nil {
		return i
	}
	m, bad := checkManifest(need, &i.info)
	i.faults = bad
	if m != nil {
		i.manifest = *m
		i.faults = append(i.faults, checkLimits(need.Module, m, r.engine.Limits())...)
	}
	return i
}

// loadOne checks a module and loads it, unless it is the incumbent. The caller holds what it gets.
func (r *Registry) loadOne(ctx context.Context, files map[string]sandbox.File, need *Need, incumbent *Module) (*Module, []Fault) {
	// The manifest is read first: it costs nothing, and compiling costs a second.
	i := r.inspect(files, need)
	if len(i.faults) > 0 {
		return nil, i.faults
	}
	granted := need.granted(&i.manifest)
	if i.err == nil && incumbent != nil && incumbent.is(i.info.Digest, granted) {
		incumbent.holders.Add(1)
		return incumbent, nil
	}
	m := &Module{Name: need.Module, Manifest: i.manifest, info: i.info, granted: granted}
	m.holders.Add(1)
	if r.late != nil && i.err == nil && i.info.Described() {
		m.load = func(ctx context.Context) (*sandbox.Module, error) {
			r.late(m.Name)
			return r.engine.LoadInspected(ctx, i.info, granted, warmCalls(&i.manifest)...)
		}
		return m, nil
	}
	var module *sandbox.Module
	err := i.err
	if err == nil {
		module, err = r.engine.LoadInspected(ctx, i.info, granted, warmCalls(&i.manifest)...)
	} else {
		module, err = r.loadFaulty(ctx, files[need.Module])
	}
	if err != nil {
		return nil, loadFaults(need.Module, err)
	}
	m.info = module.Info() // without the file, whose bytes can go
	m.sandbox.Store(module)
	return m, nil
}

// loadFaulty loads a file that is no module: the engine says in its own terms what is wrong.
func (r *Registry) loadFaulty(ctx context.Context, file sandbox.File) (*sandbox.Module, error) {
	wasm, err := file.Bytes()
	if err != nil {
		return nil, err
	}
	return r.engine.Load(ctx, wasm)
}

// CheckSwap is what Install would say of files in which only the changed modules are new: those are compiled and called once,
// the others are checked by their manifests. Nothing is installed. The error is a *RejectedError or the context's.
func (r *Registry) CheckSwap(ctx context.Context, files map[string]sandbox.File, needs []Need, changed []string, check func(codeDigest func(string) string) error) error {
	isNew := func(n Need) bool { return slices.Contains(changed, n.Module) }
	codes := map[string]string{}
	var faults []Fault
	for i := range needs {
		one := r.inspect(files, &needs[i])
		codes[needs[i].Module] = one.info.CodeDigest.String()
		if isNew(needs[i]) {
			continue // loading tells
		}
		faults = append(faults, one.faults...)
		if one.err != nil {
			faults = append(faults, loadFaults(needs[i].Module, one.err)...)
		}
	}
	modules, err := r.load(ctx, files, slices.DeleteFunc(slices.Clone(needs), func(n Need) bool { return !isNew(n) }))
	for _, m := range modules {
		err = errors.Join(err, m.letGo(context.WithoutCancel(ctx)))
	}
	if rejected, ok := errors.AsType[*RejectedError](err); ok {
		faults = append(faults, rejected.Faults...)
	} else if err != nil {
		return err
	}
	if len(faults) == 0 && check != nil {
		if rejection := check(func(name string) string { return codes[name] }); rejection != nil {
			faults = []Fault{{Code: FaultSides, Detail: rejection.Error()}}
		}
	}
	if len(faults) > 0 {
		slices.SortStableFunc(faults, func(a, b Fault) int { return needOf(needs, a) - needOf(needs, b) })
		return &RejectedError{Faults: faults}
	}
	return nil
}

// needOf is the place of a fault's module among the needs.
func needOf(needs []Need, f Fault) int {
	return slices.IndexFunc(needs, func(n Need) bool { return n.Module == f.Module })
}

// LoadOne loads a module on its own, warmed with what its manifest promises and
// with all capabilities that it asks for, or with neither if that is nil. The error is a *RejectedError or the context's.
func LoadOne(ctx context.Context, engine *sandbox.Engine, wasm []byte, manifest *abi.Manifest) (*sandbox.Module, error) {
	info, err := sandbox.Inspect(wasm)
	var warm []sandbox.Warm
	var granted []abi.Capability
	if manifest != nil {
		warm, granted = warmCalls(manifest), manifest.Capabilities
		// What is promised and not exported is for others to tell of.
		warm = slices.DeleteFunc(warm, func(w sandbox.Warm) bool { return !slices.Contains(info.Calls, w.Call) })
	}
	var module *sandbox.Module
	if err == nil {
		module, err = engine.LoadInspected(ctx, info, granted, warm...)
	} else {
		module, err = engine.Load(ctx, wasm) // which says in its own terms what is wrong
	}
	switch {
	case err == nil:
		return module, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, &RejectedError{Faults: loadFaults("", err)}
}

// loadFaults are the faults of a module that the sandbox did not load.
func loadFaults(name string, err error) []Fault {
	var rejected *sandbox.LoadError
	if !errors.As(err, &rejected) {
		return []Fault{{Module: name, Code: FaultUnavailable, Detail: err.Error()}}
	}
	faults := make([]Fault, len(rejected.Faults))
	for i, f := range rejected.Faults {
		faults[i] = Fault{Module: name, Code: FaultCode(f.Code), Detail: f.Detail}
	}
	return faults
}

// Acquire gives the current generation, to be released once. The error is ErrClosed, also before the first Install.
func (r *Registry) Acquire() (*Generation, error) {
	for {
		g := r.current.Load()
		if g == nil {
			return nil, ErrClosed
		}
		if g.acquire() {
			return g, nil
		}
		// Retired between Load and acquire: a newer one is there, or none is.
		if r.closed.Load() {
			return nil, ErrClosed
		}
	}
}

// Close rejects further installs and trials, and closes the current generation once its last trial has released it.
func (r *Registry) Close(ctx context.Context) error {
	r.install.Lock()
	defer r.install.Unlock()
	r.closed.Store(true)
	if g := r.current.Load(); g != nil {
		return g.retire(ctx)
	}
	return nil
}

// ErrClosed: the registry was closed.
var ErrClosed = errors.New("the host is closed")

// FaultCode says why a module was rejected. Codes are stable; those of the
// sandbox (not_wasm, missing_export, forbidden_import, ...) are passed on.
type FaultCode = string

// The registry's own codes.
const (
	FaultMissing     FaultCode = "missing_module"
	FaultNoManifest  FaultCode = "no_manifest"
	FaultManifest    FaultCode = "invalid_manifest"
	FaultABIVersion  FaultCode = "abi_version"
	FaultCall        FaultCode = "call_not_served"
	FaultFamily      FaultCode = "family_not_served"
	FaultEdge        FaultCode = "edge_not_served"
	FaultCriterion   FaultCode = "criterion_not_served"
	FaultImport      FaultCode = "forbidden_import" // of a capability; the sandbox has it too
	FaultCapability  FaultCode = "capability_not_granted"
	FaultLimits      FaultCode = "limits_not_granted"
	FaultSides       FaultCode = "sides_not_apart"
	FaultUnavailable FaultCode = "unavailable"
)

// missing is the fault of a module that is not there.
func missing(name string) Fault {
	detail := "there is no module of this name"
	switch {
	case strings.Contains(name, ":"):
		detail = "it was not fetched: a host looks for what a reference names among its modules, and goes to no registry itself"
	case strings.ContainsAny(name, `/\`):
		detail += ": a module is named without folder and .wasm"
	}
	return Fault{Module: name, Code: FaultMissing, Detail: detail}
}

// Fault is one reason why modules were rejected.
type Fault struct {
	Module string
	Code   FaultCode
	Detail string
	// Subject is the family, evaluator, criterion, call or capability that the fault is about; empty otherwise.
	Subject string
}

// String renders the fault as `module: detail [code]`.
func (f Fault) String() string {
	s := f.Detail + " [" + f.Code + "]"
	if f.Module != "" {
		s = f.Module + ": " + s
	}
	return s
}

// RejectedError holds every fault of the modules that were to be installed. What was installed before goes on.
type RejectedError struct{ Faults []Fault }

// Error gives one fault a line.
func (e *RejectedError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Has reports whether a fault of that code is among them.
func (e *RejectedError) Has(code FaultCode) bool {
	return slices.ContainsFunc(e.Faults, func(f Fault) bool { return f.Code == code })
}
