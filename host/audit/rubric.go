package audit

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Rubric says by which criteria opinions are audited, and who judges them.
type Rubric struct {
	// Name of the rubric (YAML: rubric).
	Name string `yaml:"rubric" write:"always"`
	// Description is for people. Optional.
	Description string `yaml:"description"`
	// Weights of categories beside the default ones, in file order. Optional.
	Weights []CategoryWeight `yaml:"weights" table:"duplicate_key"`
	// Judges in file order; at least one, at most MaxJudges.
	Judges []Judge `yaml:"judges" table:"duplicate_key"`
	// Criteria in file order, which is the order of reports; at least one, at most MaxCriteria.
	Criteria []Criterion `yaml:"criteria" write:"always"`

	file   string
	places strictyaml.Places
}

// CategoryWeight is how much the criteria of a category count.
type CategoryWeight struct {
	Category string
	Weight   float64 // above 0, at most MaxWeight
}

// Judge is one who scores criteria, bound to a module.
type Judge struct {
	// ID is the key under judges, by which criteria name it.
	ID string
	// Module is the module's file name without ".wasm". Default: the ID.
	Module string `yaml:"module" write:"always"`
	// Knows says by which name the module knows a criterion that the rubric calls otherwise. Optional.
	Knows []Alias `yaml:"knows" table:"duplicate_key"`
	// With are parameters for the module, in file order.
	With []pipeline.Param `yaml:"with" table:"duplicate_key"`
}

// Alias is the name of a criterion for one module.
type Alias struct {
	Criterion string
	As        string
}

// Criterion is what an opinion is scored by.
type Criterion struct {
	// ID is unique in the rubric, and known to the judges.
	ID string `yaml:"id" write:"always"`
	// Category decides on the weight.
	Category string `yaml:"category" write:"always"`
	// Weight among all criteria, times that of the category; above 0, at most MaxWeight. Default 1.
	Weight float64 `yaml:"weight" write:"always"`
	// Description tells people and judges what is asked. Optional.
	Description string `yaml:"description"`
	// Judges are IDs; at least one.
	Judges []string `yaml:"judges" write:"always"`
	// Lead is one of Judges whose score weighs most. Optional.
	Lead string `yaml:"lead"`
}

// MaxWeight is the largest weight of a category or criterion.
const MaxWeight = 1000

// How many judges and criteria a rubric may have.
const (
	MaxJudges   = 1000
	MaxCriteria = 1000
)

// Criterion returns the criterion with that ID.
func (r *Rubric) Criterion(id string) (*Criterion, bool) {
	i := slices.IndexFunc(r.Criteria, func(c Criterion) bool { return c.ID == id })
	if i < 0 {
		return nil, false
	}
	return &r.Criteria[i], true
}

// Judge returns the judge with that ID.
func (r *Rubric) Judge(id string) (*Judge, bool) {
	i := slices.IndexFunc(r.Judges, func(j Judge) bool { return j.ID == id })
	if i < 0 {
		return nil, false
	}
	return &r.Judges[i], true
}

// ScoredBy gives the criteria that a judge scores, in the order of the rubric; [Rubric.Scored] gives those of all.
func (r *Rubric) ScoredBy(judge string) []*Criterion {
	var list []*Criterion
	for i := range r.Criteria {
		if slices.Contains(r.Criteria[i].Judges, judge) {
			list = append(list, &r.Criteria[i])
		}
	}
	return list
}

// Scored gives the criteria that each judge scores, in the order of the rubric, by the ID of the judge; a fresh map.
func (r *Rubric) Scored() map[string][]*Criterion {
	scored := make(map[string][]*Criterion, len(r.Judges))
	for i := range r.Criteria {
		c := &r.Criteria[i]
		for _, id := range c.Judges {
			if list := scored[id]; len(list) == 0 || list[len(list)-1] != c { // who is named twice scores once
				scored[id] = append(list, c)
			}
		}
	}
	return scored
}

// As is the name by which the judge's module knows a criterion.
func (j *Judge) As(criterion string) string {
	for _, k := range j.Knows {
		if k.Criterion == criterion {
			return k.As
		}
	}
	return criterion
}

// Modules names the modules of the judges, each once.
func (r *Rubric) Modules() []string {
	var names []string
	seen := make(map[string]bool, len(r.Judges))
	for i := range r.Judges {
		if m := r.Judges[i].Module; !seen[m] {
			seen[m] = true
			names = append(names, m)
		}
	}
	return names
}

// File returns the name under which the rubric was loaded, empty for one made in Go.
func (r *Rubric) File() string { return r.file }

// Position returns the place of a data path such as `judges["warden"].module`, or of the nearest thing around it.
func (r *Rubric) Position(path string) pipeline.Position {
	return r.places.At(path)
}

// Complete fills in the defaults. [Parse] does it already; a Rubric made in Go needs it before [Rubric.Validate].
func (r *Rubric) Complete() {
	for i := range r.Judges {
		r.Judges[i].Module = cmp.Or(r.Judges[i].Module, r.Judges[i].ID)
	}
	for i := range r.Criteria {
		r.Criteria[i].Weight = cmp.Or(r.Criteria[i].Weight, 1)
	}
}
