package audit_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

func TestTheShippedRubricLoads(t *testing.T) {
	t.Parallel()
	r, err := audit.LoadFS(pipelines.FS, pipelines.CourtOpinions)
	if err != nil {
		t.Fatal(err)
	}
	w := r.ScoreWeights()
	if len(r.Criteria) != 5 || len(r.Judges) != 3 || w.Category("Evidence") != 1.5 || w.Category("Security") != 2 || w.Category("Fairness") != 1 {
		t.Errorf("%+v", r)
	}
	if j, _ := r.Judge("assayer"); len(r.ScoredBy("assayer")) != 3 || j.Module != "assayer" || j.As("calibration") != "calibration" {
		t.Errorf("%+v", j)
	}
}

// All faults come at once, each with its place, in the order of the file.
func TestEveryFaultOfARubric(t *testing.T) {
	t.Parallel()
	_, err := audit.Load("testdata/faulty.yaml")
	var faults pipeline.Errors
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/faulty.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := faults.Error() + "\n"; got != string(want) {
		t.Errorf("got\n%s", got)
	}
}

func TestWhatIsNoRubric(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]pipeline.Code{
		"":                            pipeline.CodeSyntax,
		"a: [":                        pipeline.CodeSyntax,
		"rubric: a\n---\nrubric: b\n": pipeline.CodeSyntax,
		"- 1\n":                       pipeline.CodeWrongType,
		"rubric: &x a\njudges: *x\n":  pipeline.CodeAlias,
		"\xff\xfe":                    pipeline.CodeSyntax,
		strings.Repeat("#", audit.MaxFileBytes+1): pipeline.CodeTooLarge,
	} {
		_, err := audit.Parse("r.yaml", []byte(text))
		var faults pipeline.Errors
		if !errors.As(err, &faults) || !slices.ContainsFunc(faults, func(f *pipeline.Error) bool { return f.Code == code }) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if _, err := audit.Load("testdata/none.yaml"); err == nil || !strings.Contains(err.Error(), string(pipeline.CodeUnreadable)) {
		t.Errorf("got %v", err)
	}
}

func TestAJudgeMayKnowACriterionByAnotherName(t *testing.T) {
	t.Parallel()
	r, err := audit.Parse("r.yaml", []byte(`
rubric: r
judges:
  looker: {module: quotes, knows: {support: quotations}, with: {min_similarity: 0.8, strict: true, mode: fast}}
criteria:
  - {id: support, category: Evidence, judges: [looker]}
`))
	if err != nil {
		t.Fatal(err)
	}
	j, _ := r.Judge("looker")
	if j.As("support") != "quotations" || j.Module != "quotes" || len(j.With) != 3 || r.Criteria[0].Weight != 1 {
		t.Errorf("%+v", r)
	}
}

func TestMarshalKeepsTheMeaning(t *testing.T) {
	t.Parallel()
	r, err := audit.LoadFS(pipelines.FS, pipelines.CourtOpinions)
	if err != nil {
		t.Fatal(err)
	}
	r.Judges[0].Knows = []audit.Alias{{Criterion: "calibration", As: "true"}}
	r.Judges[0].With = []pipeline.Param{pipeline.Number("n", 1e-7), pipeline.Text("t", "yes"), pipeline.Flag("f", true)}
	first, err := audit.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := audit.Parse("again.yaml", first)
	if err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	second, err := audit.Marshal(again)
	if err != nil || string(first) != string(second) {
		t.Errorf("%v\n%s\n%s", err, first, second)
	}
	if diff := cmp.Diff(r, again, cmpopts.IgnoreUnexported(audit.Rubric{})); diff != "" {
		t.Error(diff)
	}
}
