package experiment

import (
	"context"
	"errors"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

var errReruns = errors.New("only reruns of this tree are allowed")

// Offers are the experiments that can be run for the case, the cheapest first: the same for the same case. None where nothing can be
// run, for which [Lab.Why] has the reason. The error is that of the context.
func (l *Lab) Offers(ctx context.Context, subject *abi.Case) ([]abi.ExperimentOffer, error) {
	if err := ctx.Err(); err != nil || l.problem != "" {
		return nil, err
	}
	f, err := l.failureOf(subject)
	if err != nil {
		return nil, nil //nolint:nilerr // Why tells it
	}
	offers := plan.Offers(f.elapsed, f.toolchain.pace(), func(e abi.Experiment) plan.Build { return l.builds(ctx, f, e) })
	return offers, ctx.Err()
}

// Able says whether any experiment can be run.
func (l *Lab) Able() bool { return l.problem == "" }

// Why says in a line why there are no offers for a case, or not all of the mode; empty if there are. Of a nil case it says what
// holds for all.
func (l *Lab) Why(subject *abi.Case) string {
	if l.problem != "" {
		return l.problem
	}
	if subject != nil {
		f, err := l.failureOf(subject)
		if err != nil {
			return oneLine(err.Error())
		}
		if l.config.Mode == Reruns {
			return errReruns.Error()
		}
		if w := l.trees[revisions{abi.Green, abi.Green}]; w != nil {
			if err := f.toolchain.serves(w.tree); err != nil {
				return err.Error()
			}
		}
	}
	return l.noGreen
}
