package try

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/knowledge"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/run/input"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// configuration is all that the results depend on besides the dockets.
func (o *tryOptions) configuration(ctx context.Context, h *host.Host, inputs *input.Dockets) ([]record.Part, error) {
	parts, err := h.Configuration(ctx)
	if err != nil {
		return nil, err
	}
	add := func(name, value string) {
		parts = append(parts, record.Part{Name: name, Digest: record.DigestOf([]byte(value))})
	}
	if o.watch {
		add("--watch", "true")
	}
	add("--light", o.LightFor(inputs))
	add("--redact", strings.Join(o.redact, "\x00"))
	add("--timings", strconv.FormatBool(o.timings))
	parts, err = o.audit.configuration(ctx, parts)
	if o.watch { // each result names the modules that it was made with
		parts = slices.DeleteFunc(parts, func(p record.Part) bool {
			return strings.HasPrefix(p.Name, "module ") || strings.HasPrefix(p.Name, "audit module ")
		})
	}
	return parts, err
}

// checkRemember validates --remember with the other flags.
func (o *tryOptions) checkRemember() error {
	if o.Remember && o.explain != "" {
		return errors.New("--remember keeps whole runs: leave out --explain, which tries one case")
	}
	if o.Remember && len(o.redact) > 0 {
		return errors.New("--remember keeps the text of the cases as it is: leave out --redact")
	}
	return nil
}

// remember takes note of what came of an entry, to be kept when the docket is
// done: of one that could not be tried, that it failed.
func (r *tryRun) remember(tried *host.Tried) {
	if r.book == nil || tried.Entry.Case.ID == "" {
		return
	}
	final := trial.Final{Status: trial.Mistrial}
	if tried.Err == nil {
		final = tried.Trial.Result.Final
	}
	r.remembered = append(r.remembered, knowledge.Entry(&tried.Entry.Case, tried.Entry.Truth, &final))
}

// keepVerdicts adds the run to the casebook, all of it or nothing. One that
// was interrupted is added when it is resumed and done.
func (r *tryRun) keepVerdicts(ctx context.Context, inputs *input.Dockets) error {
	if r.book == nil || ctx.Err() != nil || r.journal != nil && r.journal.Remembered() {
		return nil //nolint:nilerr // the run says that it was interrupted
	}
	// A process that is killed behind Remember leaves a journal, and a casebook that is not the one of its header any more.
	if r.journal != nil {
		if err := r.journaled(r.journal.End()); err != nil {
			return err
		}
	}
	run := casebook.Run{Suites: slices.Collect(maps.Keys(inputs.Passed)), Entries: r.remembered}
	if _, err := r.book.Remember(ctx, run); err != nil {
		return fmt.Errorf("--remember: %w", err)
	}
	return nil
}
