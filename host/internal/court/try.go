package court

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
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

// Ordered calls do for each element of in, with a number of workers (0: one for each processor), and yields the results in
// the order of in. Elements are read as they are needed. When the context ends, or the caller stops, no further element is
// read; for those that were, do is called, and waited for. All results are yielded, unless the caller stops.
func Ordered[In, Out any](ctx context.Context, in iter.Seq[In], workers int, do func(context.Context, In) Out) iter.Seq[Out] {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return func(yield func(Out) bool) {
		ctx, cancel := context.WithCancel(ctx)
		stopped := make(chan struct{})
		line := make(chan chan Out, 2*workers) // a slow element does not keep the workers waiting
		slots := make(chan struct{}, workers)
		go func() {
			defer close(line)
			if ctx.Err() != nil {
				return
			}
			for element := range in {
				done := make(chan Out, 1)
				select {
				case line <- done: // also after the end of the context: what was read is yielded
				case <-stopped:
					return
				}
				slots <- struct{}{}
				go func() {
					defer func() { <-slots }()
					done <- do(ctx, element)
				}()
				if ctx.Err() != nil {
					return
				}
			}
		}()
		defer func() {
			cancel()
			close(stopped)
			for done := range line {
				<-done
			}
		}()
		for done := range line {
			if !yield(<-done) {
				return
			}
		}
	}
}
