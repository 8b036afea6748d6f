package audit_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// schemaOf is the compiled schema of rubrics.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(audit.Schema())))(t)
	c := jsonschema.NewCompiler()
	must.Do(t, c.AddResource("urn:test", document))
	return must.Get(c.Compile("urn:test"))(t)
}

// allowed says whether the schema takes a file.
func allowed(t *testing.T, s *jsonschema.Schema, text string) bool {
	t.Helper()
	var v any
	must.Do(t, yaml.Unmarshal([]byte(text), &v))
	return s.Validate(v) == nil
}

func TestTheSchemaTakesTheRubricsThatAreShipped(t *testing.T) {
	t.Parallel()
	s := schemaOf(t)
	for _, name := range []string{"../../pipelines/rubrics/court-opinions.yaml", "../../examples/audit/judges.yaml"} {
		text := must.Get(os.ReadFile(name))(t)
		if !allowed(t, s, string(text)) {
			t.Errorf("%s is rejected", name)
		}
		r := must.Get(audit.Parse(name, text))(t)
		whole, err := audit.Marshal(r) // with every default
		if err != nil || !allowed(t, s, string(whole)) {
			t.Errorf("%s in full is rejected: %v", name, err)
		}
	}
}

// every has each key that a rubric may have.
const every = `
rubric: r
description: d
weights: {Style: 2}
judges:
  a: {module: m, knows: {first: f}, with: {n: 1.5, t: x, b: true}}
criteria:
  - {id: first, category: Style, weight: 0.5, description: d, judges: [a], lead: a}
`

// The schema and the parser are of one mind on every change to a rubric.
func TestTheSchemaAgreesWithTheParser(t *testing.T) {
	t.Parallel()
	s := schemaOf(t)
	for _, tc := range []struct {
		old, instead string
		fine         bool
	}{
		{"", "", true},
		{"rubric: r", "rubric: ''", false},
		{"rubric: r\n", "", false},
		{"rubric: r", "rubric: 7", false},
		{"description: d\n", "", true},
		{"description: d\nw", "discription: d\nw", false},
		{"weights: {Style: 2}\n", "", true},
		{"Style: 2", "Style: 0", false},
		{"Style: 2", "Style: 1000", true},
		{"Style: 2", "Style: 1000.5", false},
		{"Style: 2", "Style: many", false},
		{"module: m, ", "", true},
		{"module: m", "module: [m]", false},
		{"module: m", "modul: m", false},
		{"knows: {first: f}, ", "", true},
		{"first: f}", "first: ''}", false},
		{"{n: 1.5, t: x, b: true}", "{}", true},
		{"t: x", "t: [x]", false},
		{"t: x", "t: ", false},
		{"id: first, ", "", false},
		{"category: Style, ", "", false},
		{"weight: 0.5, ", "", true},
		{"weight: 0.5", "weight: -1", false},
		{"weight: 0.5", "weight: 0", false},
		{"description: d, ", "", true},
		{"judges: [a]", "judges: []", false},
		{"judges: [a]", "judges: a", false},
		{"judges: [a]", "judges: [a, a]", false},
		{"judges: [a]", "judges: [a, '']", false},
		{", lead: a", "", true},
		{"lead: a", "lead: 1", false},
		{"lead: a", "leed: a", false},
		{"judges:\n  a: {module: m, knows: {first: f}, with: {n: 1.5, t: x, b: true}}", "judges: {}", false},
		{"  - {id: first", "  {id: first", false},
	} {
		text := strings.Replace(every, tc.old, tc.instead, 1)
		if tc.old != "" && text == every {
			t.Fatalf("%q is not in the rubric", tc.old)
		}
		_, err := audit.Parse("r.yaml", []byte(text))
		if got := allowed(t, s, text); got != tc.fine || (err == nil) != tc.fine {
			t.Errorf("%q in place of %q: schema %t, parser %v, want %t", tc.instead, tc.old, got, err, tc.fine)
		}
	}
}
