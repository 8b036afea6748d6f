package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// A forged item is the case's: an opinion that says so is not punished for it,
// and one that relies on it is.
func TestAnAuditTellsWhoExposesAForgedItem(t *testing.T) {
	t.Parallel()
	a := openAuditor(t, host.AuditConfig{})
	results := func(text string) (support, security abi.CriterionResult) {
		r := judged(t, a, audit.Subject{
			Opinion:   abi.JudicialOpinion{Text: text},
			Evidence:  []abi.Evidence{{SourceRef: "depot.log:L9", Content: "manual override by shift leader", RelevanceConfidence: 0.8, Supports: "sabotage"}},
			Documents: []abi.Document{{Name: "depot.log", Text: "06:00 shift began\n06:10 belt 4 stopped\n"}},
		}).Report.Results
		return r[0], r[4]
	}
	support, security := results(`The charge of sabotage rests on depot.log:L9, "manual override by shift leader". It does not stand in the log. The court acquits.`)
	if support.NumericScore < 4 || security.NumericScore != 5 || !strings.Contains(security.Reasoning, "as the opinion says itself") {
		t.Errorf("it is exposed: %+v\n%+v", support, security)
	}
	support, security = results(`It was sabotage, for depot.log:L9 has "manual override by shift leader". The court affirms.`)
	if support.NumericScore > 2 || security.NumericScore > 3 || !strings.Contains(support.Reasoning, "depot.log:L9") {
		t.Errorf("it is relied on: %+v\n%+v", support, security)
	}
	if security.SecurityViolationFound {
		t.Error("a source that quotes from memory does it too")
	}
}

// A court writes of a forged item that it does not stand.
func TestTheOpinionOfACourtExposesForgedItems(t *testing.T) {
	t.Parallel()
	h := shared(t)
	c := dispute()

	c.Evidence = append(c.Evidence, abi.Evidence{SourceRef: "log:L3", Content: "a line that nobody ever logged", RelevanceConfidence: 0.9, Supports: "leak"})
	s, ok := court.OpinionOf(try(t, h, c), "court")
	if !ok || !strings.Contains(s.Opinion.Text, `log:L3, speaks for leak, and does not stand in the document that it names: "a line that nobody ever logged"`) {
		t.Errorf("%s", s.Opinion.Text)
	}
}

// Parameters that a module rejects are found before an opinion is audited, each
// with its place; what breaks otherwise is no fault of theirs.
func TestAccept_AU3_ParametersThatAModuleRejectsAreFoundAtTheStart(t *testing.T) {
	t.Parallel()
	a := toldJudges(t, `
judges:
  rhetor: {with: {depth: high}, knows: {first: transparency}}
  sulks:
    module: bench
    with:
      behave: give up
  broken: {module: bench, with: {behave: trap}}
  fine: {module: bench, with: {score: 4}}
criteria:
  - {id: first, category: x, judges: [rhetor, sulks, broken, fine]}
`, host.AuditConfig{})
	err := a.Probe(context.Background())
	faults, ok := errors.AsType[pipeline.Errors](err)
	if !ok || len(faults) != 2 {
		t.Fatalf("got %v", err)
	}
	for i, want := range []string{
		`told.yaml:4:18: judges["rhetor"].with: the module rhetor rejects them: bad_parameter: the rhetor has no parameter "depth" [parameters]`,
		`told.yaml:8:7: judges["sulks"].with: the module bench rejects them:`,
	} {
		if got := faults[i].Error(); !strings.HasPrefix(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
