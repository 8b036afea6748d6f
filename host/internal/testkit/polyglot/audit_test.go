//go:build sdk

package polyglot

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// The rubric of examples/audit brings in judges in Rust, C and TypeScript by itself: each scores its criteria of every example opinion, and
// rightly. Those whose tools are missing are left out of the rubric.
func TestAccept_FR6_ARubricBringsInJudgesOfEveryLanguage(t *testing.T) {
	rubric := must.Get(audit.Load(root(t, "examples", "audit", "judges.yaml")))(t)
	files := embedded(t)
	built := 0
	for folder, j := range judgesByFolder() {
		if rubric.ScoredBy(folder) == nil {
			t.Errorf("the rubric does not name %s", folder)
		}
		t.Run(folder, func(t *testing.T) {
			j.l.need(t)
			files[folder+".wasm"] = &fstest.MapFile{Data: j.l.build(t, root(t, "examples", "judges", folder))}
			built++
		})
		if files[folder+".wasm"] == nil {
			withoutJudge(rubric, folder)
		}
	}
	if t.Failed() {
		return
	}
	if built == 0 {
		t.Skip("the tools of no language are here")
	}
	must.Do(t, module.CheckRubric(t.Context(), rubric, files))
	a := must.Get(host.OpenAuditor(t.Context(), host.AuditConfig{Rubric: rubric, Modules: files}))(t)
	defer func() {
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	auditExamples(t, a)
}

// withoutJudge takes a judge out of a rubric, and the criteria that nobody scores then.
func withoutJudge(r *audit.Rubric, judge string) {
	r.Judges = slices.DeleteFunc(r.Judges, func(j audit.Judge) bool { return j.ID == judge })
	for i := range r.Criteria {
		r.Criteria[i].Judges = slices.DeleteFunc(r.Criteria[i].Judges, func(id string) bool { return id == judge })
	}
	r.Criteria = slices.DeleteFunc(r.Criteria, func(c audit.Criterion) bool { return len(c.Judges) == 0 })
}

// auditExamples audits the opinions of examples/audit.
func auditExamples(t *testing.T, a *host.Auditor) {
	t.Helper()
	in := must.Get(os.Open(root(t, "examples", "audit", "opinions.jsonl")))(t)
	defer func() { _ = in.Close() }()
	scores := map[string][]int{}
	for one := range a.AuditAll(t.Context(), docket.Opinions("opinions.jsonl", in), 1) {
		must.Do(t, one.Err)
		heard(t, a.Rubric(), one.Audit, scores)
	}
	for judge, want := range map[string][]int{
		"quotes":   {5, 3, 3}, // only the first opinion quotes
		"surprise": {3, 3, 3}, // no log is long enough for a line to stand out
		"breach":   {5, 1, 5}, // the second addresses its reader
	} {
		if _, there := a.Rubric().Judge(judge); there && !slices.Equal(scores[judge], want) {
			t.Errorf("%s scored %v, want %v", judge, scores[judge], want)
		}
	}
}

// heard checks that every judge of the rubric counts for each of its criteria, and adds its scores.
func heard(t *testing.T, r *audit.Rubric, one *trial.Audit, scores map[string][]int) {
	t.Helper()
	if len(one.Errors) > 0 || len(one.Results) != len(r.Criteria) {
		t.Fatalf("%s: %d results, errors %+v", one.CaseID, len(one.Results), one.Errors)
	}
	for i := range one.Results {
		result := &one.Results[i]
		if want := r.Criteria[i].Judges; result.Degraded || len(result.Judges) != len(want) {
			t.Errorf("%s: %s was scored by %d of %v", one.CaseID, result.CriterionID, len(result.Judges), want)
		}
		for _, j := range result.Judges {
			if j.Standing != string(audit.Counts) || j.NumericScore == nil {
				t.Errorf("%s: %s on %s is %s: %v", one.CaseID, j.Judge, result.CriterionID, j.Standing, j.Why)
				continue
			}
			scores[j.Judge] = append(scores[j.Judge], *j.NumericScore)
		}
	}
}
