package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

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
