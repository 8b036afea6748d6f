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

// Through the whole pipeline: what an opinion makes up is found and named, each
// quotation by itself, and scores less than what only lacks a source.
func TestAnAuditLooksUpEachQuotationLineAndFigure(t *testing.T) {
	t.Parallel()
	a := openAuditor(t, host.AuditConfig{})
	support := func(text string) abi.CriterionResult {
		return judged(t, a, audit.Subject{
			Opinion: abi.JudicialOpinion{Text: text},
			Documents: []abi.Document{{Name: "depot.log", Text: "06:00 shift began\n06:10 belt 4 stopped: 1250 parcels waiting\n" +
				"06:12 scanner north restarted with 64 lanes\n06:40 belt 4 running again, delay 0.75 s\n"}},
		}).Report.Results[0]
	}
	const honest = `The log says "belt 4 stopped" and "scanner north restarted", then "running again". Line 3 of depot.log has 64 lanes of the scanner. `
	for _, tc := range []struct {
		name, text string
		from, to   int
		names      string
	}{
		{"all stands", honest, 5, 5, ""},
		{"one lacks a source", honest + "A rat gnawed through the cable of the motor.", 3, 4, "A rat gnawed"},
		{"one quotation rides along", `The log says "belt 4 stopped" and "a rat gnawed through the cable".`, 1, 2, `"a rat gnawed through the cable"`},
		{"one is made up among many", honest + `The log says "a rat gnawed through the cable".`, 1, 2, `"a rat gnawed through the cable"`},
		{"a figure differs", "When belt 4 stopped there were 90 parcels waiting.", 1, 2, "90 in"},
		{"a line is not there", "Rats gnawed through the cable, as depot.log:L41 shows.", 1, 2, ""},
	} {
		r := support(tc.text)
		if r.NumericScore < tc.from || r.NumericScore > tc.to || !strings.Contains(r.Reasoning, tc.names) {
			t.Errorf("%s: %+v", tc.name, r)
		}
	}
}

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

// A rubric without parameters is not probed.
func TestWhatHasNoParametersIsNotProbed(t *testing.T) {
	t.Parallel()
	calls := 0
	a := openAuditor(t, host.AuditConfig{Observe: func(host.CallRecord) { calls++ }})
	if err := a.Probe(context.Background()); err != nil || calls > 0 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
