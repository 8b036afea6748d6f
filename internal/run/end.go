package run

import (
	"context"
	"errors"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// end completes the record and the outputs, remembers the verdicts and ends the journal, in this order.
func (r *Run) end(ctx context.Context) error {
	complete := ctx.Err() == nil && r.sum.Unread == 0
	nothing := r.sum.Tried == 0 && (ctx.Err() != nil || r.sum.Unread+r.sum.Faults > 0 || r.config.OneCase)
	if err := errors.Join(r.record.end(complete), r.out.Close(), r.place(nothing)); err != nil {
		return err
	}
	if ctx.Err() == nil {
		if err := r.keepVerdicts(ctx); err != nil {
			return err
		}
	}
	if nothing || !complete || r.config.Resume { // a resumed run may continue with a longer docket
		return r.journal.keep()
	}
	return r.journal.remove()
}

// place puts the files in their places, or leaves those as they were.
func (r *Run) place(nothing bool) error {
	if nothing {
		r.config.Files.Discard()
		return nil
	}
	return r.config.Files.Commit()
}

// remember takes note of what came of an entry, to be kept when the docket is done: of one that could not be tried, that it
// failed.
func (r *Run) remember(tried *host.Tried) {
	if r.config.Casebook == nil || tried.Entry.Case.ID == "" {
		return
	}
	final := trial.Final{Status: trial.Mistrial}
	if tried.Err == nil {
		final = tried.Trial.Result.Final
	}
	r.remembered = append(r.remembered, Entry(&tried.Entry.Case, tried.Entry.Truth, &final))
	for i := range tried.Entry.Members {
		r.remembered = append(r.remembered, Entry(&tried.Entry.Members[i], tried.Entry.Truth, &final))
	}
}

// keepVerdicts adds the run to the casebook, all of it or nothing. One that was interrupted is added when it is resumed and done.
func (r *Run) keepVerdicts(ctx context.Context) error {
	if r.config.Casebook == nil || r.journal != nil && r.journal.remembered {
		return nil
	}
	// A process that is killed behind Remember leaves a journal, and a casebook that is not the one of its header any more.
	if err := r.journal.end(); err != nil {
		return err
	}
	done := casebook.Run{Entries: r.remembered}
	if r.config.Passed != nil {
		done.Suites = r.config.Passed()
	}
	if _, err := r.config.Casebook.Remember(ctx, done); err != nil {
		return &CasebookError{err}
	}
	return nil
}
