package court

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// errUnsteady: modules changed while they were read.
var errUnsteady = errors.New("the modules change while they are read: try again when they are in place")

// How often a folder that changes is read again before it is an error, and how long to wait in between: a swap puts its
// files in place in milliseconds.
const (
	readAttempts = 100
	readPause    = 20 * time.Millisecond
)

// Sleep waits for d, or until the context ends; then it returns the context's error.
type Sleep func(ctx context.Context, d time.Duration) error

// timer is the Sleep of the real clock.
func timer(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ReadModules reads the file of each name, see [pipeline.ModuleFile], all from one generation of the folder; a nil fsys means the embedded modules.
// A missing file is left out: the registry reports it. A folder is read twice and compared, so that no half-copied set is
// accepted, and is read again while it changes. A nil sleep means the real clock.
func ReadModules(ctx context.Context, fsys fs.FS, names []string, sleep Sleep) (map[string]sandbox.File, error) {
	if fsys == nil {
		return embedded(names)
	}
	if sleep == nil {
		sleep = timer
	}
	var err error
	for range readAttempts {
		var first, second map[string][]byte
		if first, err = ReadGeneration(fsys, names); err == nil {
			second, err = ReadGeneration(fsys, names)
		}
		if err == nil && maps.EqualFunc(first, second, bytes.Equal) {
			return Files(second), nil
		}
		err = cmp.Or(err, errUnsteady)
		if !Changing(err) {
			return nil, err
		}
		if stopped := sleep(ctx, readPause); stopped != nil {
			return nil, stopped
		}
	}
	return nil, err
}

// Files are modules in memory.
func Files(modules map[string][]byte) map[string]sandbox.File {
	files := make(map[string]sandbox.File, len(modules))
	for name, wasm := range modules {
		files[name] = sandbox.Bytes(wasm)
	}
	return files
}

// embedded gives the embedded modules of those names.
func embedded(names []string) (map[string]sandbox.File, error) {
	all, err := Embedded()
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(all, func(name string, _ sandbox.File) bool { return !slices.Contains(names, name) })
	return all, nil
}

// Embedded are all embedded modules, which are decompressed when one of them is read. The error may be bundle.ErrNotBuilt.
func Embedded() (map[string]sandbox.File, error) {
	heads, err := bundle.Heads()
	if err != nil {
		return nil, err
	}
	files := make(map[string]sandbox.File, len(heads))
	for name, head := range heads {
		files[name] = sandbox.Headed{Head: head, Read: func() ([]byte, error) {
			modules, err := bundle.FS()
			if err != nil {
				return nil, err
			}
			return readFile(modules, name+".wasm")
		}}
	}
	return files, nil
}

// Changing reports whether an error may be gone when the folder is read again.
func Changing(err error) bool {
	return errors.Is(err, errUnsteady) || errors.Is(err, moduledir.ErrMixed)
}

// ReadGeneration reads modules of a folder that no swap changes meanwhile. The error is errUnsteady if one did, and
// moduledir.ErrMixed if one has not ended.
func ReadGeneration(fsys fs.FS, names []string) (map[string][]byte, error) {
	before, err := moduledir.ReadGeneration(fsys)
	if err != nil {
		return nil, err
	}
	files, err := readFiles(fsys, names)
	if err != nil {
		return nil, err
	}
	after, err := moduledir.ReadGeneration(fsys)
	if err != nil {
		return nil, err
	}
	if !before.Equal(after) {
		return nil, errUnsteady
	}
	return files, after.Check(func(name string) string {
		if wasm, ok := files[name]; ok {
			return string(record.DigestOf(wasm))
		}
		return ""
	})
}

func readFiles(fsys fs.FS, names []string) (map[string][]byte, error) {
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		file := pipeline.ModuleFile(name)
		wasm, err := readFile(fsys, file)
		switch {
		case err == nil:
			files[name] = wasm
		case !errors.Is(err, fs.ErrNotExist) && fs.ValidPath(file): // the registry says which are not there, and where they are named
			return nil, fmt.Errorf("read module %q: %w", name, err)
		}
	}
	return files, nil
}

func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadModule(f, name)
}

// ReadModule reads a module, and rejects one of more than abi.DefaultModuleBytes without holding it. name is for messages.
func ReadModule(r io.Reader, name string) ([]byte, error) {
	var b bytes.Buffer
	if f, ok := r.(fs.File); ok { // a size that is wrong costs time only
		if info, err := f.Stat(); err == nil {
			b.Grow(int(min(max(info.Size(), 0), abi.DefaultModuleBytes)) + bytes.MinRead)
		}
	}
	_, err := b.ReadFrom(io.LimitReader(r, abi.DefaultModuleBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	data := b.Bytes()
	if len(data) > abi.DefaultModuleBytes {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, abi.DefaultModuleBytes)
	}
	return data, nil
}

// Runtime runs the modules that a court or an audit needs: it has a sandbox, and the generations of modules that were installed. It is
// safe for concurrent use; the caller closes it.
type Runtime struct {
	sandbox  Sandbox
	engine   *sandbox.Engine
	registry *registry.Registry
	running  chan struct{} // one element for each call of a module that runs

	names []string        // of the modules that files are needed of
	needs []registry.Need // of them, and of those of a candidate
	check func(codeDigest func(module string) string) error
	// candidate are modules of a candidate court, which is no part of what is told of the runtime.
	candidate map[string][]byte
}

// callsAtOnce is how many calls of modules run at the same time, each in memory of its own. More would not be faster: a thousand trials
// that begin together would only have a thousand instances.
func callsAtOnce() int { return max(16, 4*runtime.GOMAXPROCS(0)) }

// open opens the sandbox without any modules.
func (r *Runtime) open(ctx context.Context, config Sandbox, logger *slog.Logger) error {
	engine, err := sandbox.New(ctx, sandbox.Config{
		CacheDir: config.CacheDir, Logger: logger, Now: config.CallClock, Limits: config.CallLimits,
	})
	if err != nil {
		return &CacheError{config.CacheDir, fmt.Errorf("open the sandbox: %w", err)}
	}
	r.sandbox, r.engine, r.registry, r.running = config, engine, registry.New(engine, config.LoadLate), make(chan struct{}, callsAtOnce())
	return nil
}

// turn waits until a call of a module may run, or its context ends, which the call sees itself.
func (r *Runtime) turn(ctx context.Context) (end func()) {
	if r == nil {
		return func() {}
	}
	select {
	case r.running <- struct{}{}:
		return func() { <-r.running }
	case <-ctx.Done():
		return func() {}
	}
}

// ModuleNames are the names of all modules that are needed, each once. Those of a candidate are not among them.
func (r *Runtime) ModuleNames() []string { return r.names }

// Read reads the modules that are needed; see [ReadModules].
func (r *Runtime) Read(ctx context.Context, fsys fs.FS) (map[string]sandbox.File, error) {
	return ReadModules(ctx, fsys, r.names, r.sandbox.Sleep)
}

// Install keeps files in the store, and makes them the current modules, with those of the candidate, all or none. The error is a
// *registry.RejectedError with every fault, one of the store, or the context's.
func (r *Runtime) Install(ctx context.Context, files map[string]sandbox.File) error {
	if r.sandbox.Store != nil {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			wasm, err := files[name].Bytes()
			if err == nil {
				_, err = r.sandbox.Store.Put(wasm)
			}
			if err != nil {
				return fmt.Errorf("keep module %q: %w", name, err)
			}
		}
	}
	all := maps.Clone(files)
	maps.Copy(all, Files(r.candidate))
	return r.registry.Install(ctx, all, r.needs, r.check)
}

// CheckSwap tells whether Install would accept files in which only the changed modules are new.
func (r *Runtime) CheckSwap(ctx context.Context, files map[string]sandbox.File, changed []string) error {
	return r.registry.CheckSwap(ctx, files, r.needs, changed, r.check)
}

// Digests of the current modules by name, without those of a candidate; a fresh map. Nil when the runtime is closed.
func (r *Runtime) Digests(ctx context.Context) map[string]string {
	g, err := r.Acquire()
	if err != nil {
		return nil
	}
	digests := g.Digests()
	_ = g.Release(context.WithoutCancel(ctx))
	maps.DeleteFunc(digests, func(name, _ string) bool { _, hidden := r.candidate[name]; return hidden })
	return digests
}

// parts are the digests of a trial's modules, sorted by name.
func (r *Runtime) parts(modules Modules) []record.Part {
	list := make([]record.Part, 0, len(r.needs))
	for i := range r.needs {
		name := r.needs[i].Module
		if _, hidden := r.candidate[name]; !hidden {
			digest := record.Digest(modules.Digest(name))
			signed := r.sandbox.Signed[digest]
			list = append(list, record.Part{Name: name, Digest: digest, Signer: signed.Signer, Policy: signed.Policy})
		}
	}
	slices.SortFunc(list, func(a, b record.Part) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Acquire gives the current modules, to be released once. The error is registry.ErrClosed.
func (r *Runtime) Acquire() (*registry.Generation, error) { return r.registry.Acquire() }

// orInForce gives the modules of a caller, or those in force where there are none, to be released once. The error is registry.ErrClosed.
func (r *Runtime) orInForce(ctx context.Context, modules Modules) (_ Modules, release func(), err error) {
	if modules != nil {
		return modules, func() {}, nil
	}
	g, err := r.Acquire()
	if err != nil {
		return nil, nil, err
	}
	return g, func() { _ = g.Release(context.WithoutCancel(ctx)) }, nil
}

// CallLimits are those of every call, as records have them.
func (r *Runtime) CallLimits() record.CallLimits {
	limits := r.engine.Limits()
	return record.CallLimits{
		MemoryBytes: limits.MemoryBytes, WallClockNanos: int64(limits.WallClock), OutputBytes: limits.OutputBytes,
		InputBytes: limits.InputBytes, Fuel: limits.Fuel,
	}
}

// Loaded tells how many modules are loaded, those included that are closing.
func (r *Runtime) Loaded() int { return r.engine.Loaded() }

// Close waits for the users of modules and frees everything.
func (r *Runtime) Close(ctx context.Context) error {
	return errors.Join(r.registry.Close(ctx), r.engine.Close(ctx))
}

// Needs lists what pipelines need of each module, in the order of their personas.
func Needs(defs ...*pipeline.Definition) []registry.Need {
	n := &needList{}
	for _, def := range defs {
		n.pipeline(def)
	}
	return n.list
}

// AuditNeeds lists what an audit needs of each module: the pipeline of collectors, and the rubric of judges. A nil def
// leaves the collectors out.
func AuditNeeds(def *pipeline.Definition, rubric *audit.Rubric) []registry.Need {
	n := &needList{}
	if def != nil {
		n.pipeline(def)
	}
	n.rubric(rubric)
	return n.list
}

type needList struct{ list []registry.Need }

func (n *needList) pipeline(def *pipeline.Definition) {
	for i := range def.Nodes {
		node := &def.Nodes[i]
		for _, id := range node.Personas {
			if p, ok := def.Persona(id); ok {
				need := n.of(p.Module)
				need.Add(abi.CallNode, node.Family, "")
				if need.GrantedBy == "" {
					need.Persona, need.GrantedBy = p.ID, grantedBy(def, p)
				}
				for _, capability := range p.Grants {
					need.Grant(capability)
				}
				if p.Fallback != "" {
					n.of(p.Fallback).Add(abi.CallNode, node.Family, "")
				}
			}
		}
		if node.Family == abi.FamilyDefend {
			n.contest(def)
		}
	}
	for i := range def.Edges {
		if e := &def.Edges[i]; !e.Unconditional() {
			n.of(e.Module).Add(abi.CallEdges, "", e.Evaluator)
		}
	}
}

// rubric adds what a rubric needs of its judges, in its order.
func (n *needList) rubric(r *audit.Rubric) {
	scored := r.Scored()
	type call struct{ module, criterion string }
	known := make(map[call]bool)
	for i := range r.Judges {
		judge := &r.Judges[i]
		for _, c := range scored[judge.ID] {
			one := call{judge.Module, judge.As(c.ID)}
			if !known[one] {
				known[one] = true
				n.of(one.module).Judge(one.criterion)
			}
		}
	}
}

// grantedBy names the place of a persona's grants; the persona's own line where it has none.
func grantedBy(def *pipeline.Definition, p *pipeline.Persona) string {
	where := "the persona " + p.ID
	file := def.File()
	if file == "" {
		return where + " of the pipeline " + def.Pipeline
	}
	if at := def.Position("personas[" + strconv.Quote(p.ID) + "].grants"); at.Line > 0 {
		return fmt.Sprintf("%s, %s:%d:%d,", where, file, at.Line, at.Column)
	}
	return where + ", " + file + ","
}

func (n *needList) of(module string) *registry.Need {
	for i := range n.list {
		if n.list[i].Module == module {
			return &n.list[i]
		}
	}
	n.list = append(n.list, registry.Need{Module: module})
	return &n.list[len(n.list)-1]
}

// contest: at the defense everybody contests whose element challenges
// another, but for the judge; the defense contests what nobody else does.
func (n *needList) contest(def *pipeline.Definition) {
	for i := range def.Personas {
		p := &def.Personas[i]
		switch p.Role {
		case pipeline.RoleDefense:
			n.of(p.Module).Add(abi.CallContest, "", "")
		case pipeline.RoleProsecution, pipeline.RoleBench:
			if p.Contests != "" {
				n.of(p.Module).Add(abi.CallContest, "", "")
			}
		case pipeline.RoleJudge, pipeline.RoleLight:
		}
	}
}
