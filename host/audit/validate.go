package audit

import (
	"regexp"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// The faults of a rubric, beside those of package pipeline.
const (
	CodeUnknownJudge     pipeline.Code = "unknown_judge"     // a judge that is not under judges
	CodeUnusedJudge      pipeline.Code = "unused_judge"      // a judge that scores nothing
	CodeUnknownCriterion pipeline.Code = "unknown_criterion" // a name under knows that the judge does not score
	CodeLead             pipeline.Code = "lead"              // a lead judge that does not score the criterion
)

// Validate checks a completed rubric. The error, if any, is a pipeline.Errors with every fault, in the order of the file.
func (r *Rubric) Validate() error {
	v := validator{Reader: &strictyaml.Reader{File: r.file, Places: r.places}, rubric: r}
	v.run()
	return v.Err()
}

// validator finds faults of meaning. What hangs on a value that was rejected already is not reported again.
type validator struct {
	*strictyaml.Reader
	rubric *Rubric
	known  map[string]bool         // judges by ID
	scored map[string][]*Criterion // by judge
}

func (v *validator) run() {
	r := v.rubric
	v.Required("rubric", r.Name)
	v.some("judges", len(r.Judges))
	v.some("criteria", len(r.Criteria))
	v.weights()
	if v.tooMany() {
		return
	}
	v.scored = r.Scored()
	v.known = make(map[string]bool, len(r.Judges))
	for i := range r.Judges {
		v.known[r.Judges[i].ID] = true
	}
	before := make(map[string]bool, len(r.Criteria))
	for i := range r.Criteria {
		v.criterion(i, before)
	}
	before = make(map[string]bool, len(r.Judges))
	for i := range r.Judges {
		v.judge(i, before)
	}
}

// tooMany says at the first judge or criterion too many that it is one.
func (v *validator) tooMany() bool {
	judges, criteria := len(v.rubric.Judges), len(v.rubric.Criteria)
	if judges > MaxJudges {
		v.FailAt(strictyaml.KeyPath("judges", v.rubric.Judges[MaxJudges].ID), pipeline.CodeTooLarge, "there are %d judges; a rubric has at most %d", judges, MaxJudges)
	}
	if criteria > MaxCriteria {
		v.FailAt("criteria["+strconv.Itoa(MaxCriteria)+"]", pipeline.CodeTooLarge, "there are %d criteria; a rubric has at most %d", criteria, MaxCriteria)
	}
	return judges > MaxJudges || criteria > MaxCriteria
}

// weights of categories, whose names are the same in any case of letters.
func (v *validator) weights() {
	first := make(map[string]string, len(v.rubric.Weights))
	for _, w := range v.rubric.Weights {
		path := strictyaml.KeyPath("weights", w.Category)
		v.weight(path, w.Weight)
		if before, twice := first[category(w.Category)]; twice {
			v.FailAt(path, pipeline.CodeDuplicateKey, "%s is the category %s, which has a weight already: the case of letters makes no difference",
				quoted(w.Category), quoted(before))
			continue
		}
		first[category(w.Category)] = w.Category
	}
}

// criterion checks one whose predecessors have the IDs before, and adds its own.
func (v *validator) criterion(i int, before map[string]bool) {
	c := &v.rubric.Criteria[i]
	path := "criteria[" + strconv.Itoa(i) + "]"
	v.Required(path+".id", c.ID)
	if before[c.ID] && c.ID != "" {
		v.FailAt(path+".id", pipeline.CodeDuplicateID, "a second criterion of this id")
	}
	before[c.ID] = true
	v.Required(path+".category", c.Category)
	v.weight(path+".weight", c.Weight)
	v.some(path+".judges", len(c.Judges))
	named := make(map[string]bool, len(c.Judges))
	for j, id := range c.Judges {
		at := path + ".judges[" + strconv.Itoa(j) + "]"
		switch {
		case id == "":
			v.FailAt(at, pipeline.CodeMissing, "is missing or empty")
		case !v.known[id]:
			v.FailAt(at, CodeUnknownJudge, "no judge is called %s", quoted(id))
		case named[id]:
			v.FailAt(at, pipeline.CodeDuplicateID, "%s is named twice", quoted(id))
		}
		named[id] = true
	}
	if c.Lead != "" && !named[c.Lead] {
		v.FailAt(path+".lead", CodeLead, "%s does not score this criterion", quoted(c.Lead))
	}
}

// judge checks one whose predecessors have the IDs before, and adds its own.
func (v *validator) judge(i int, before map[string]bool) {
	j := &v.rubric.Judges[i]
	path := strictyaml.KeyPath("judges", j.ID)
	if j.ID == "" {
		v.FailAt(path, pipeline.CodeMissing, "a judge has no name")
	}
	if before[j.ID] {
		v.FailAt(path, pipeline.CodeDuplicateID, "a second judge of this name")
	}
	before[j.ID] = true
	if bad := pipeline.BadModule(j.Module); bad != "" {
		v.FailAt(path+".module", pipeline.CodeBadReference, "%s", bad)
	}
	scored := v.scored[j.ID]
	if len(scored) == 0 && !v.Broken("criteria") {
		v.FailAt(path, CodeUnusedJudge, "no criterion names this judge")
	}
	criteria := make(map[string]bool, len(scored))
	for _, c := range scored {
		criteria[c.ID] = true
	}
	for _, k := range j.Knows {
		at := strictyaml.KeyPath(path+".knows", k.Criterion)
		v.Required(at, k.As)
		if !criteria[k.Criterion] {
			v.FailAt(at, CodeUnknownCriterion, "the judge scores no criterion of this id")
		}
	}
}

func (v *validator) some(path string, n int) {
	if n == 0 {
		v.FailAt(path, pipeline.CodeMissing, "is missing or empty")
	}
}

func (v *validator) weight(path string, w float64) {
	if !(w > 0 && w <= MaxWeight) { // NaN too
		v.FailAt(path, pipeline.CodeOutOfRange, "%v is outside (0, %d]", w, MaxWeight)
	}
}

// quoted shows a value of the file, short enough for a message.
func quoted(s string) string { return strconv.Quote(strictyaml.Clip(s)) }

// WarnUnusedWeight warns of a weight that weighs nothing.
const WarnUnusedWeight pipeline.Code = "unused_weight"

// Lint finds what a checked Rubric allows but hardly means. The result is in the order of the file, and empty for a clean rubric.
func Lint(r *Rubric) pipeline.Errors {
	var warnings pipeline.Errors
	used := make(map[string]bool, len(r.Criteria))
	for i := range r.Criteria {
		used[category(r.Criteria[i].Category)] = true
	}
	for _, w := range r.Weights {
		if used[category(w.Category)] {
			continue
		}
		path := strictyaml.KeyPath("weights", w.Category)
		at := r.Position(path)
		warnings = append(warnings, &pipeline.Error{
			File: r.file, Line: at.Line, Column: at.Column, Path: path, Code: WarnUnusedWeight,
			Message: "no criterion is of the category " + quoted(w.Category),
		})
	}
	return warnings.Sorted()
}

// topKey finds the keys that tell a rubric from a pipeline in a text that is no YAML.
var topKey = regexp.MustCompile(`(?m)^["']?(rubric|pipeline)["']?\s*:`)

// IsRubric says whether the text of a file means to be a rubric, however faulty: it has a key `rubric` at the top, and no `pipeline`; or
// neither, and judges or criteria.
func IsRubric(data []byte) bool {
	var doc yaml.Node
	if len(data) > MaxFileBytes {
		return false
	}
	if err := yaml.Unmarshal(data, &doc); err != nil {
		first := topKey.FindSubmatch(data)
		return first != nil && string(first[1]) == "rubric"
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return false
	}
	keys := doc.Content[0].Content
	has := func(key string) bool {
		for i := 0; i < len(keys); i += 2 {
			if keys[i].Value == key {
				return true
			}
		}
		return false
	}
	return !has("pipeline") && (has("rubric") || has("judges") || has("criteria"))
}
