package court

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// What a module has the host hold is bounded over all calls of a trial: another
// call does not begin again, another module does, and the same question is not held twice.
func TestAccept_FX1_UsesOfATrialAreBounded(t *testing.T) {
	t.Parallel()
	s := newSession(&Services{Logger: slog.New(slog.DiscardHandler)}, nil, nil, &abi.Case{ID: "case"}, nil)
	ask := func(module string) *broker {
		return &broker{
			session: s, module: module,
			persona: &pipeline.Persona{Grants: []pipeline.Capability{pipeline.Capability(abi.CapLog), pipeline.Capability(abi.CapCorrelate)}},
			node:    &pipeline.Node{Masks: []pipeline.Mask{pipeline.MaskCorrelation}},
		}
	}
	long := strings.Repeat("x", 100<<10)
	question := func(n int) []byte {
		return codec.AppendCorrelateQuery(nil, &abi.CorrelateQuery{Text: long[n:], Limit: 1})
	}
	d := ask("one")
	for range 200 {
		if _, err := d.Ask(t.Context(), abi.CapCorrelate, question(0)); err != nil {
			t.Fatalf("the same question: %v", err)
		}
	}
	held := 0
	var err error
	for n := range 100 {
		d = ask("one") // each in a call of its own
		if _, err = d.Ask(t.Context(), abi.CapCorrelate, question(n)); err != nil {
			break
		}
		held = s.held["one"]
	}
	var denied *sandbox.DeniedError
	if !errors.As(err, &denied) || held > maxUseBytes || held < maxUseBytes-2*len(long) {
		t.Errorf("%d bytes are held, the limit is %d: %v", held, maxUseBytes, err)
	}
	d = ask("one")
	for range 100 {
		line := codec.AppendLogLine(nil, &abi.LogLine{Message: long})
		if _, err := d.Ask(t.Context(), abi.CapLog, line); err != nil {
			t.Fatalf("a log line is not dropped: %v", err)
		}
	}
	if len(d.uses) > 1 {
		t.Errorf("%d log lines are held beyond the limit", len(d.uses))
	}
	if _, err := ask("two").Ask(t.Context(), abi.CapCorrelate, question(1)); err != nil {
		t.Errorf("another module: %v", err)
	}
}
