package module

import (
	"context"
	"io/fs"
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

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
