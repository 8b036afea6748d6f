package work_test

import (
	"errors"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// A refit counts the known labels of one format, and opens no court where they are too few.
func TestProposeNeedsEnough(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	list := make([]docket.Entry, work.LeastKnown-1)
	for i := range list {
		list[i] = entries(t, "go-failures.jsonl", run.JSONL)[0]
		list[i].Truth = &trial.Truth{Classification: list[i].Case.Labels[0]}
	}
	submit(t, s, store.Submission{Submitter: "ci", Format: run.JSONL}, list)
	for {
		b, err := s.BeginBatch(t.Context(), "w")
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		must(t, err)
		o := &store.Outcome{Configuration: "c"}
		for _, e := range b.Entries {
			o.Verdicts = append(o.Verdicts, store.NewVerdict{Digest: e.Digest, Trial: &trial.Trial{Result: trial.Result{
				ID: e.Case.ID, Final: trial.Final{Status: trial.Affirmed, Classification: e.Case.Labels[0], Confidence: 0.5},
			}}})
		}
		must(t, s.CompleteBatch(t.Context(), b, "w", o))
	}
	for format, known := range map[string]int{"": len(list), run.JSONL: len(list), run.GoTest: 0} {
		_, err := work.Propose(t.Context(), work.RefitConfig{Store: s, Format: format, File: func(format string) string { return "profile:" + format }})
		if few, ok := errors.AsType[*work.TooFewError](err); !ok || few.Known != known {
			t.Errorf("%q: %v", format, err)
		}
	}
}
