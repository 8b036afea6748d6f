package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

func TestTheShippedRubricLoads(t *testing.T) {
	t.Parallel()
	r := must.Get(audit.LoadFS(pipelines.FS, pipelines.CourtOpinions))(t)
	w := r.ScoreWeights()
	if len(r.Criteria) != 5 || len(r.Judges) != 3 || w.Category("Evidence") != 1.5 || w.Category("Security") != 2 || w.Category("Fairness") != 1 {
		t.Errorf("%+v", r)
	}
	if j, _ := r.Judge("assayer"); len(r.ScoredBy("assayer")) != 3 || j.Module != "assayer" || j.As("calibration") != "calibration" {
		t.Errorf("%+v", j)
	}
	scored := r.Scored()
	for i := range r.Judges {
		if id := r.Judges[i].ID; len(scored[id]) == 0 || !slices.Equal(scored[id], r.ScoredBy(id)) {
			t.Errorf("%s scores %v", id, scored[id])
		}
	}
	if warnings := audit.Lint(r); len(warnings) > 0 {
		t.Error(warnings)
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
	want := must.Get(os.ReadFile("testdata/faulty.txt"))(t)
	check.Equal(t, faults.Error()+"\n", string(want))
}

func TestWhatIsNoRubric(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]pipeline.Code{
		"":                            pipeline.CodeSyntax,
		"a: [":                        pipeline.CodeSyntax,
		"rubric: a\n---\nrubric: b\n": pipeline.CodeSyntax,
		"- 1\n":                       pipeline.CodeWrongType,
		"rubric: &x a\njudges: *x\n":  pipeline.CodeAlias,
		"\xff\xfe":                    pipeline.CodeEncoding,
		strings.Repeat("#", audit.MaxFileBytes+1): pipeline.CodeTooLarge,
	} {
		_, err := audit.Parse("r.yaml", []byte(text))
		var faults pipeline.Errors
		if !errors.As(err, &faults) || !slices.ContainsFunc(faults, func(f *pipeline.Error) bool { return f.Code == code }) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	check.Fails(t, check.Err(audit.Load("testdata/none.yaml")), string(pipeline.CodeUnreadable))
}

// numbered is a rubric of so many judges and criteria, a line each.
func numbered(judges, criteria int) []byte {
	var b strings.Builder
	b.WriteString("rubric: r\njudges:\n")
	for i := range judges {
		fmt.Fprintf(&b, "  j%d: {}\n", i)
	}
	b.WriteString("criteria:\n")
	for i := range criteria {
		names := []string{fmt.Sprint("j", i%judges)}
		for j := i + criteria; j < judges; j += criteria {
			names = append(names, fmt.Sprint("j", j))
		}
		fmt.Fprintf(&b, "  - {id: c%d, category: x, judges: [%s]}\n", i, strings.Join(names, ", "))
	}
	return []byte(b.String())
}

func TestARubricHasSoManyJudgesAndCriteria(t *testing.T) {
	t.Parallel()
	s := schemaOf(t)
	for _, tc := range []struct {
		judges, criteria int
		want             []string
	}{
		{audit.MaxJudges, audit.MaxCriteria, nil},
		{audit.MaxJudges + 1, 7, []string{`r.yaml:1003:3: judges["j1000"]: there are 1001 judges; a rubric has at most 1000 [too_large]`}},
		{3, 20_000, []string{"r.yaml:1007:5: criteria[1000]: there are 20000 criteria; a rubric has at most 1000 [too_large]"}},
		{4500, 1001, []string{"there are 4500 judges", "there are 1001 criteria"}},
	} {
		r, err := audit.Parse("r.yaml", numbered(tc.judges, tc.criteria))
		var faults pipeline.Errors
		if errors.As(err, &faults) != (tc.want != nil) || len(faults) != len(tc.want) {
			t.Errorf("%d judges, %d criteria: %v", tc.judges, tc.criteria, err)
			continue
		}
		for i, want := range tc.want {
			check.Contains(t, faults[i].Error(), want, faults[i])
		}
		if !allowed(t, s, string(numbered(tc.judges, tc.criteria))) != (tc.want != nil) {
			t.Errorf("%d judges, %d criteria: the schema is of another mind", tc.judges, tc.criteria)
		}
		if err == nil && (len(r.Scored()) != tc.judges || len(r.Modules()) != tc.judges) {
			t.Errorf("%d judges score, of %d modules", len(r.Scored()), len(r.Modules()))
		}
	}
}

// Categories are the same in any case of letters, so one has one weight.
func TestAWeightIsGivenOnce(t *testing.T) {
	t.Parallel()
	_, err := audit.Parse("r.yaml", []byte(`rubric: r
weights: {Sec: 1, sec: 1000,
  SEC: 0.001}
judges: {warden: {}}
criteria: [{id: security, category: sEc, judges: [warden]}]
`))
	const want = `r.yaml:2:19: weights["sec"]: "sec" is the category "Sec", which has a weight already: the case of letters makes no difference [duplicate_key]
r.yaml:3:3: weights["SEC"]: "SEC" is the category "Sec", which has a weight already: the case of letters makes no difference [duplicate_key]`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v", err)
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
	must.Do(t, err)
	j, _ := r.Judge("looker")
	if j.As("support") != "quotations" || j.Module != "quotes" || len(j.With) != 3 || r.Criteria[0].Weight != 1 {
		t.Errorf("%+v", r)
	}
}

func TestMarshalKeepsTheMeaning(t *testing.T) {
	t.Parallel()
	r := must.Get(audit.LoadFS(pipelines.FS, pipelines.CourtOpinions))(t)
	r.Judges[0].Knows = []audit.Alias{{Criterion: "calibration", As: "true"}}
	r.Judges[0].With = []pipeline.Param{pipeline.Number("n", 1e-7), pipeline.Text("t", "yes"), {Name: "f", Kind: pipeline.ParamFlag, Flag: true}}
	first := must.Get(audit.Marshal(r))(t)
	again := must.Get(audit.Parse("again.yaml", first))(t, first)
	second := must.Get(audit.Marshal(again))(t)
	check.Equal(t, string(first), string(second))
	check.Same(t, cmp.Diff(r, again, cmpopts.IgnoreUnexported(audit.Rubric{})))
}

func TestAWeightThatWeighsNothing(t *testing.T) {
	t.Parallel()
	r, err := audit.Parse("r.yaml", []byte(`rubric: r
weights: {style: 2, Looks: 3}
judges: {a: {}}
criteria: [{id: x, category: Style, judges: [a]}]
`))
	must.Do(t, err)
	want := `r.yaml:2:21: weights["Looks"]: no criterion is of the category "Looks" [unused_weight]`
	if got := audit.Lint(r); got.Error() != want {
		t.Errorf("got %q", got)
	}
}

// A faulty rubric is still recognized as a rubric, and a faulty pipeline as a pipeline.
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
		check.Equal(t, audit.IsRubric([]byte(text)), want, text)
	}
}

// A rubric is read or rejected with a reason. One that is read is complete: its weights can be
// summed, and it can be written and read again as the same.
func FuzzParse(f *testing.F) {
	f.Add(must.Get(pipelines.FS.ReadFile(pipelines.CourtOpinions))(f))
	f.Add([]byte("rubric: r\njudges:\n  a: {module: m, with: {n: .inf}}\ncriteria:\n  - {id: c, category: Security, weight: 1e308, judges: [a], lead: a}\nweights: {security: 2}\n"))
	f.Add([]byte("rubric: &x [*x]\n"))
	f.Add([]byte("rubric: r\njudges: {a: {}, a: {}}\ncriteria:\n  - {id: c, judges: [a, a]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rubric, err := audit.Parse("r.yaml", text)
		if err != nil {
			if err.Error() == "" || rubric != nil {
				t.Errorf("rejected with %q and %v", err, rubric)
			}
			return
		}
		must.Do(t, rubric.Validate(), "read, and not valid")
		for _, w := range rubric.Weighings() {
			if !(w.Weight > 0 && w.Share > 0 && w.Share <= 1) {
				t.Errorf("a weighing is %+v", w)
			}
		}
		first := must.Get(audit.Marshal(rubric))(t)
		again := must.Get(audit.Parse("again.yaml", first))(t, "what is written is rejected", first)
		if second, err := audit.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%v\n%s\nis written again as\n%s", err, first, second)
		}
	})
}
