package host

import (
	"context"
	"iter"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Audited is what came of one opinion of a file: an Audit, or an Err that says
// why there is none.
type Audited struct {
	Entry docket.OpinionEntry
	Audit *trial.Audit
	Err   error
}

// AuditAll audits opinions with a number of workers (0: one for each
// processor) and returns them in order. An error of an entry is passed on in
// its place.
func (a *Auditor) AuditAll(ctx context.Context, entries iter.Seq2[docket.OpinionEntry, error], workers int) iter.Seq[Audited] {
	in := func(yield func(Audited) bool) {
		for entry, err := range entries {
			if !yield(Audited{Entry: entry, Err: err}) {
				return
			}
		}
	}
	return court.Ordered(ctx, in, workers, func(ctx context.Context, one Audited) Audited {
		if one.Err != nil {
			return one
		}
		e := &one.Entry
		var o *audit.Outcome
		o, one.Err = a.Audit(ctx, audit.Subject{Opinion: e.Opinion, Evidence: e.Evidence, Documents: e.Documents})
		if one.Err == nil {
			one.Audit = court.AuditOf(o)
			one.Audit.Source, one.Audit.Line, one.Audit.Item = e.Source, e.Line, e.Item
			one.Audit.CutDocuments = docket.CutAgain(e.Cut, one.Audit.CutDocuments)
		}
		return one
	})
}

// AuditTrials audits the opinion of every verdict of trials, and puts it into
// their results, and into their records where they have one. courtName is the name
// of the court. Trials pass in order. A trial whose audit the end of the context interrupted has that as its Err.
func (a *Auditor) AuditTrials(ctx context.Context, trials iter.Seq[Tried], courtName string, workers int) iter.Seq[Tried] {
	return court.Ordered(ctx, trials, workers, func(ctx context.Context, tried Tried) Tried {
		if tried.Err != nil || tried.Trial == nil {
			return tried
		}
		var recorder *court.Recorder
		if tried.Record != nil {
			recorder = court.NewRecorder(tried.Record.Kept)
		}
		if err := a.audit.AuditTrial(ctx, nil, tried.Trial, courtName, tried.Record, recorder); err != nil {
			return Tried{Entry: tried.Entry, Err: err}
		}
		return tried
	})
}
