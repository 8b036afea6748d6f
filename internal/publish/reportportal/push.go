package reportportal

import (
	"context"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Action is what is done with an item.
type Action string

// The actions.
const (
	Set    Action = "set"    // nobody has decided yet
	Update Action = "update" // this program wrote another answer before
	Keep   Action = "keep"   // it is there already
	Leave  Action = "leave"  // Why says why
	Failed Action = "failed" // Err says why
)

// Step is what is done with one item, or would be.
type Step struct {
	ID string // of the case
	// Name of the item; empty where it was not read.
	Name       string
	Type       string // the defect type to set; empty for none
	Confidence float64
	Action     Action
	Why        string
	Err        error
	// Written says that it was written.
	Written bool

	item    int64
	comment string
}

func (s *Step) fail(err error) { s.Action, s.Err = Failed, err }

// Plan reads the items of results, and says for each what is to be done, and why not. An item that can't be read is a step that failed; only
// where the project itself can't be read there is no plan.
func (p *Project) Plan(ctx context.Context, rule Rule, results []trial.Result) ([]Step, error) {
	names, err := p.types(ctx)
	if err != nil {
		return nil, err
	}
	var steps []Step
	var failures publish.Failures
	for i := range results {
		r := &results[i]
		f := rule.finding(r)
		if _, known := names[f.label]; f.whyNot == "" && !known {
			f.whyNot = "the project has no defect type " + f.label
		}
		for _, id := range append([]string{r.ID}, r.Members...) {
			s := Step{ID: id, Type: f.label, Confidence: f.confidence, Action: Leave, Why: f.whyNot}
			number, ok := itemID(id)
			switch {
			case f.whyNot != "":
			case !ok:
				s.Why = "its id is not the number of an item"
			default:
				s.item, s.comment = number, comment(r, &f, names)
				p.look(ctx, &s, &failures)
			}
			steps = append(steps, s)
		}
	}
	return steps, nil
}

// look reads the item of a step, and decides what is to be done.
func (p *Project) look(ctx context.Context, s *Step, failures *publish.Failures) {
	if err := failures.Stopped(ctx); err != nil {
		s.fail(err)
		return
	}
	i, err := p.read(ctx, s.item)
	if failures.Count(err); err != nil {
		s.fail(err)
		return
	}
	s.Name = sanitize.Cut(i.Name, maxName)
	switch s.Why = i.taken(); {
	case s.Why != "":
		s.Action = Leave
	case i.Issue.Type == toInvestigate:
		s.Action = Set
	case i.Issue.Type == s.Type && plain(i.Issue.Comment) == s.comment:
		s.Action = Keep
	default:
		s.Action = Update
	}
}

// Write carries out a plan. It reads each item again before it writes, since somebody may have decided meanwhile, and goes on behind a failure.
// ReportPortal has no conditional writes: a decision between that reading and the writing, some milliseconds, is lost.
func (p *Project) Write(ctx context.Context, steps []Step) {
	var failures publish.Failures
	for i := range steps {
		s := &steps[i]
		if s.Action != Set && s.Action != Update {
			continue
		}
		if p.look(ctx, s, &failures); s.Action != Set && s.Action != Update {
			continue
		}
		err := p.define(ctx, s.item, s.Type, s.comment)
		if failures.Count(err); err != nil {
			s.fail(err)
		}
		s.Written = err == nil
	}
}
