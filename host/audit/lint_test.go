package audit_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

func TestAWeightThatWeighsNothing(t *testing.T) {
	t.Parallel()
	r, err := audit.Parse("r.yaml", []byte(`rubric: r
weights: {style: 2, Looks: 3}
judges: {a: {}}
criteria: [{id: x, category: Style, judges: [a]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := `r.yaml:2:21: weights["Looks"]: no criterion is of the category "Looks" [unused_weight]`
	if got := audit.Lint(r); got.Error() != want {
		t.Errorf("got %q", got)
	}
	shipped, err := audit.LoadFS(pipelines.FS, pipelines.CourtOpinions)
	if err != nil {
		t.Fatal(err)
	}
	if warnings := audit.Lint(shipped); len(warnings) > 0 {
		t.Error(warnings)
	}
}

// Rubrics and pipelines are told apart even where they are faulty.
func TestWhatMeansToBeARubric(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"rubric: a":                         true,
		"{rubric: a}":                       true,
		"\"rubric\": a\njudges: [":          true,
		"judges: {}":                        true,
		"weights: {}\ncriteria: 7":          true,
		"pipeline: a":                       false,
		"pipeline: a\nrubric: b":            false,
		"pipeline: a\nnodes: [\nrubric: b":  false,
		"description: |\n  rubric: a":       false,
		"description: |\n  rubric: a\nx: [": false,
		"nodes: []":                         false,
		"- rubric: a":                       false,
		"":                                  false,
		"rubric: a\n" + strings.Repeat("#", audit.MaxFileBytes): false,
	} {
		if got := audit.IsRubric([]byte(text)); got != want {
			t.Errorf("%.40q: got %v", text, got)
		}
	}
}
