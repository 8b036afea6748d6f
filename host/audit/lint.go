package audit

import (
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// WarnUnusedWeight warns of a weight that weighs nothing.
const WarnUnusedWeight pipeline.Code = "unused_weight"

// Lint finds what a checked Rubric allows but hardly means. The result is in
// the order of the file, and empty for a clean rubric.
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

// IsRubric says whether the text of a file means to be a rubric, however faulty:
// it has a key `rubric` at the top, and no `pipeline`; or neither, and judges
// or criteria.
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
