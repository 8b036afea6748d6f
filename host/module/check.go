package module

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// CheckPipeline checks the modules that a pipeline names: that they are there, serve its families, evaluators and calls, and
// are granted what they ask for. Nothing is compiled or run, and limits are not checked. modules holds NAME.wasm files; nil
// means the embedded ones. The error is a pipeline.Errors with every fault at the place that names the module or the
// evaluator, bundle.ErrNotBuilt, or one of the file system or the context.
func CheckPipeline(ctx context.Context, def *pipeline.Definition, modules fs.FS) error {
	files, err := court.ReadModules(ctx, modules, def.Modules(), nil)
	if err != nil {
		return err
	}
	return placed(registry.Check(files, court.Needs(def)), def.File(), func(f *registry.Fault) (string, pipeline.Position) {
		path := placeOf(def, f)
		return path, def.Position(path)
	})
}

// placed gives the faults of modules their places in the file that names them, in its order.
func placed(err error, file string, place func(*registry.Fault) (path string, at pipeline.Position)) error {
	var rejected *registry.RejectedError
	if !errors.As(err, &rejected) {
		return err
	}
	var all pipeline.Errors
	for i := range rejected.Faults {
		f := &rejected.Faults[i]
		path, at := place(f)
		all = append(all, &pipeline.Error{
			File: file, Line: at.Line, Column: at.Column, Path: path, Code: pipeline.Code(f.Code),
			Message: "module " + f.Module + ": " + f.Detail,
		})
	}
	slices.SortStableFunc(all, inFile)
	return all
}

// inFile compares two faults by their places.
func inFile(a, b *pipeline.Error) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// nodeOf is the index of the node that the fault of a family is about, or -1.
func nodeOf(def *pipeline.Definition, f *registry.Fault) int {
	return slices.IndexFunc(def.Nodes, func(n pipeline.Node) bool {
		return string(n.Family) == f.Subject && slices.ContainsFunc(n.Personas, func(id string) bool {
			p, ok := def.Persona(id)
			return ok && p.Module == f.Module
		})
	})
}

// placeOf is the path of what the fault of a module comes from: the evaluator
// that it does not serve, or else the first thing that names the module.
func placeOf(def *pipeline.Definition, f *registry.Fault) string {
	edge := func(field string, is func(*pipeline.Edge) bool) string {
		i := slices.IndexFunc(def.Edges, func(e pipeline.Edge) bool { return e.Module == f.Module && !e.Unconditional() && is(&e) })
		if i < 0 {
			return ""
		}
		path := "edges[" + strconv.Itoa(i) + "]"
		if p := def.Position(path + "." + field); p != def.Position(path) {
			return path + "." + field
		}
		return path + ".id"
	}
	if f.Code == registry.FaultEdge {
		if path := edge("evaluator", func(e *pipeline.Edge) bool { return e.Evaluator == f.Subject }); path != "" {
			return path
		}
	}
	if f.Code == registry.FaultFamily {
		if i := nodeOf(def, f); i >= 0 {
			return "nodes[" + strconv.Itoa(i) + "].persona"
		}
	}
	for i := range def.Personas {
		if def.Personas[i].Module == f.Module {
			return "personas[" + strconv.Quote(def.Personas[i].ID) + "].module"
		}
	}
	if f.Module == def.Clerk {
		return "clerk"
	}
	return edge("module", func(*pipeline.Edge) bool { return true })
}

// CheckRubric is [CheckPipeline] for a rubric: each judge's module must be there
// and judge the criteria that name it, under the names by which it knows them.
func CheckRubric(ctx context.Context, r *audit.Rubric, modules fs.FS) error {
	files, err := court.ReadModules(ctx, modules, r.Modules(), nil)
	if err != nil {
		return err
	}
	return placed(registry.Check(files, court.AuditNeeds(nil, r)), r.File(), func(f *registry.Fault) (string, pipeline.Position) {
		path := placeInRubric(r, f)
		return path, r.Position(path)
	})
}

// placeInRubric is the path of what the fault of a judge's module comes from: where its name for a criterion that it does not serve stands, or
// else the first judge that names the module.
func placeInRubric(r *audit.Rubric, f *registry.Fault) string {
	first := ""
	for i := range r.Judges {
		j := &r.Judges[i]
		if j.Module != f.Module {
			continue
		}
		path := "judges[" + strconv.Quote(j.ID) + "]"
		first = cmp.Or(first, path+".module")
		if f.Code != registry.FaultCriterion {
			break
		}
		for _, k := range j.Knows {
			if k.As == f.Subject {
				return path + ".knows[" + strconv.Quote(k.Criterion) + "]"
			}
		}
		for c := range r.Criteria {
			if at := slices.Index(r.Criteria[c].Judges, j.ID); at >= 0 && j.As(r.Criteria[c].ID) == f.Subject {
				return "criteria[" + strconv.Itoa(c) + "].judges[" + strconv.Itoa(at) + "]"
			}
		}
	}
	return first
}

// CheckParams hands the parameters of a pipeline's nodes and edges to the modules that get them, with a small request each, and reports
// those that a module rejects as [pipeline.CodeBadParameter]: in a run every trial would end in a mistrial for them. What else a module makes
// of the request does not count. It compiles the modules; cacheDir is a folder for that, empty for none. A module that is not there, or
// can't be loaded, is left to [CheckPipeline]. The error is a pipeline.Errors, or one of the file system or the context.
func CheckParams(ctx context.Context, def *pipeline.Definition, modules fs.FS, cacheDir string) error {
	c := &paramCheck{def: def, modules: make(map[string]*sandbox.Module)}
	names := c.names()
	if len(names) == 0 {
		return nil
	}
	files, err := court.ReadModules(ctx, modules, names, nil)
	if err != nil {
		return err
	}
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: cacheDir})
	if err != nil {
		return fmt.Errorf("open the sandbox: %w", err)
	}
	defer func() { _ = engine.Close(context.WithoutCancel(ctx)) }()
	for name, file := range files {
		wasm, err := file.Bytes()
		if err != nil {
			return err
		}
		if m, err := engine.Load(ctx, wasm); err == nil {
			c.modules[name] = m
		}
	}
	c.edges(ctx)
	c.nodes(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(c.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(c.faults, inFile)
	return c.faults
}

type paramCheck struct {
	def     *pipeline.Definition
	modules map[string]*sandbox.Module
	faults  pipeline.Errors
}

// names are the modules that get parameters.
func (c *paramCheck) names() []string {
	var names []string
	for i := range c.def.Edges {
		if e := &c.def.Edges[i]; len(e.With) > 0 && !e.Unconditional() {
			names = append(names, e.Module)
		}
	}
	for i := range c.def.Nodes {
		if n := &c.def.Nodes[i]; len(n.With) > 0 {
			names = append(names, c.players(n)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (c *paramCheck) players(n *pipeline.Node) []string {
	var names []string
	for _, id := range n.Personas {
		if p, ok := c.def.Persona(id); ok {
			names = append(names, p.Module)
		}
	}
	return names
}

func (c *paramCheck) edges(ctx context.Context) {
	for i := range c.def.Edges {
		e := &c.def.Edges[i]
		if len(e.With) == 0 || e.Unconditional() {
			continue
		}
		request := registry.EdgeRequest(abi.EdgeQuestion{ID: e.ID, Evaluator: e.Evaluator, Params: court.Params(e.With)})
		c.ask(ctx, e.Module, abi.CallEdges, codec.AppendEdgeRequest(nil, request), "edges["+strconv.Itoa(i)+"].with")
	}
}

func (c *paramCheck) nodes(ctx context.Context) {
	for i := range c.def.Nodes {
		n := &c.def.Nodes[i]
		if len(n.With) == 0 {
			continue
		}
		path := "nodes[" + strconv.Itoa(i) + "].with"
		for _, name := range c.players(n) {
			for _, request := range registry.NodeRequests(n.Family) {
				request.Params = court.Params(n.With)
				if !c.ask(ctx, name, abi.CallNode, codec.AppendNodeRequest(nil, request), path) {
					break // the others would say the same
				}
			}
		}
	}
}

// ask says whether a module takes the parameters of a request.
func (c *paramCheck) ask(ctx context.Context, name string, call abi.Call, request []byte, path string) bool {
	m := c.modules[name]
	if m == nil {
		return true
	}
	out, err := m.Call(ctx, call, request)
	if err != nil {
		return true
	}
	failure, err := abitest.FailureOf(call, out.Bytes)
	if err != nil || failure == nil || failure.Code != string(pipeline.CodeBadParameter) {
		return true
	}
	at := c.def.Position(path)
	c.faults = append(c.faults, &pipeline.Error{
		File: c.def.File(), Line: at.Line, Column: at.Column, Path: path, Code: pipeline.CodeBadParameter, Message: "module " + name + ": " + failure.Message,
	})
	return false
}
