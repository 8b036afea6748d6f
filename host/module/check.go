package module

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
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
	slices.SortStableFunc(all, func(a, b *pipeline.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
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
	places := placesInRubric(r)
	return placed(registry.Check(files, court.AuditNeeds(nil, r)), r.File(), func(f *registry.Fault) (string, pipeline.Position) {
		path := places.of(f)
		return path, r.Position(path)
	})
}

// rubricPlaces are the paths of what the faults of judges' modules come from.
type rubricPlaces struct {
	modules  map[string]string    // where a judge is the first to name a module
	criteria map[[2]string]string // where a module is first asked to judge a criterion, by module and its own name for that
}

func placesInRubric(r *audit.Rubric) *rubricPlaces {
	p := &rubricPlaces{modules: make(map[string]string), criteria: make(map[[2]string]string)}
	first := func(module, criterion, path string) {
		if key := [2]string{module, criterion}; p.criteria[key] == "" {
			p.criteria[key] = path
		}
	}
	named := make(map[string][]string) // where criteria name a judge, in the order of what it scores
	for c := range r.Criteria {
		for i, id := range r.Criteria[c].Judges {
			named[id] = append(named[id], "criteria["+strconv.Itoa(c)+"].judges["+strconv.Itoa(i)+"]")
		}
	}
	scored := r.Scored()
	for i := range r.Judges {
		j := &r.Judges[i]
		path := "judges[" + strconv.Quote(j.ID) + "]"
		if p.modules[j.Module] == "" {
			p.modules[j.Module] = path + ".module"
		}
		for _, k := range j.Knows {
			first(j.Module, k.As, path+".knows["+strconv.Quote(k.Criterion)+"]")
		}
		for n, c := range scored[j.ID] {
			first(j.Module, j.As(c.ID), named[j.ID][n])
		}
	}
	return p
}

// of gives the path of a fault: where its name for a criterion that it does not serve stands, or else the
// first judge that names the module.
func (p *rubricPlaces) of(f *registry.Fault) string {
	if path := p.criteria[[2]string{f.Module, f.Subject}]; f.Code == registry.FaultCriterion && path != "" {
		return path
	}
	return p.modules[f.Module]
}
