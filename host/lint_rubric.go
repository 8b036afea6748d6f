package host

import (
	"io/fs"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/registry"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// CheckJudges is [CheckModules] for a rubric: each judge's module must be there
// and judge the criteria that name it, under the names by which it knows them.
func CheckJudges(r *audit.Rubric, modules fs.FS) error {
	files, err := readModules(modules, r.Modules())
	if err != nil {
		return err
	}
	n := &needList{}
	n.rubric(r)
	return placed(registry.Check(files, n.list), r.File(), func(f *registry.Fault) (string, pipeline.Position) {
		path := placeInRubric(r, f)
		return path, r.Position(path)
	})
}

// placeInRubric is the path of what the fault of a judge's module comes from:
// where its name for a criterion that it does not serve stands, or else the
// first judge that names the module.
func placeInRubric(r *audit.Rubric, f *registry.Fault) string {
	first := ""
	for i := range r.Judges {
		j := &r.Judges[i]
		if j.Module != f.Module {
			continue
		}
		path := "judges[" + strconv.Quote(j.ID) + "]"
		if first == "" {
			first = path + ".module"
		}
		if f.Code != registry.FaultCriterion {
			continue
		}
		for _, k := range j.Knows {
			if strings.HasSuffix(f.Detail, "criterion "+k.As) {
				return path + ".knows[" + strconv.Quote(k.Criterion) + "]"
			}
		}
		if at := namedBy(r, j, f); at != "" {
			return at
		}
	}
	return first
}

// namedBy is where a criterion that the judge does not serve names the judge.
func namedBy(r *audit.Rubric, j *audit.Judge, f *registry.Fault) string {
	for c := range r.Criteria {
		for i, id := range r.Criteria[c].Judges {
			if id == j.ID && strings.HasSuffix(f.Detail, "criterion "+j.As(r.Criteria[c].ID)) {
				return "criteria[" + strconv.Itoa(c) + "].judges[" + strconv.Itoa(i) + "]"
			}
		}
	}
	return ""
}
