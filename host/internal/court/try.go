package court

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Options of one trial. The zero value tries the case with the modules in force and everything that the court has, unrecorded.
type Options struct {
	// Recorder records the trial, or replays one. Optional.
	Recorder *Recorder
	// Modules of the trial. Default: those in force.
	Modules Modules

	light Light // answers in place of the court's own
}

// Modules are those of a trial: they answer encoded requests, and do not change while it goes on. A *registry.Generation is one.
type Modules interface {
	// Call sends a request. The module's questions go to the broker of the context. The error is a *sandbox.CallError.
	Call(ctx context.Context, module string, call abi.Call, request []byte) (sandbox.Output, error)
	// Digest of a module, "sha256:" and 64 hex digits; empty if there is none of that name.
	Digest(module string) string
}

// Outcome of a trial.
type Outcome struct {
	Trial *trial.Trial
	// Record of the trial; nil without a Recorder.
	Record *record.Trial
}

// ErrNoLight: the case has no Light classification and nobody to ask for one.
var ErrNoLight = errors.New("the case has no Light classification and there is no Light to ask")

// Try tries a case, and has the candidate try it, too. The error is an *abi.ValidationError of the case, [ErrNoLight], registry.ErrClosed,
// or the context's; whatever goes wrong inside the trial is a mistrial in its result.
func (c *Court) Try(ctx context.Context, subject abi.Case, o Options) (out Outcome, err error) {
	subject.Documents = slices.Clone(subject.Documents)
	docket.CutDocuments(subject.Documents, abi.DefaultDocumentBytes, abi.DefaultCaseDocumentBytes)
	if c.lightPath != nil || c.config.Reclassify {
		subject.Light = nil
	}
	modules, release, err := c.orInForce(ctx, o.Modules)
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	o.Modules = modules
	if o.light == nil && c.config.Light != nil {
		o.light = attributedLight{c.config.Light}
	}
	if c.candidate != nil && o.light != nil {
		o.light = &remembering{light: o.light}
	}
	t := c.newTrial(ctx, &subject, &o)
	defer t.limit.free()
	if err := t.begin(ctx); err != nil {
		return Outcome{}, fmt.Errorf("case %q: %w", subject.ID, err)
	}
	for !t.ended() {
		if err := t.traverse(ctx); err != nil {
			return Outcome{}, fmt.Errorf("case %q: %w", subject.ID, err)
		}
	}
	t.describe()
	out = Outcome{Trial: t.out}
	if c.candidate.selects(t.result) {
		out.Trial.Beside = c.tryCandidate(ctx, &subject, o).Trial
	}
	if o.Recorder != nil {
		out.Record, err = o.Recorder.End(&subject, c.parts(o.Modules), t.result)
	}
	return out, err
}
