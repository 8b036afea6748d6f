package module

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

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
	slices.SortStableFunc(c.faults, func(a, b *pipeline.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
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
			for _, request := range registry.NodeRequests(abi.Family(n.Family)) {
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
	failure, err := failureOf(call, out.Bytes)
	if err != nil || failure == nil || failure.Code != string(pipeline.CodeBadParameter) {
		return true
	}
	at := c.def.Position(path)
	c.faults = append(c.faults, &pipeline.Error{
		File: c.def.File(), Line: at.Line, Column: at.Column, Path: path, Code: pipeline.CodeBadParameter, Message: "module " + name + ": " + failure.Message,
	})
	return false
}
