package experiment

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
)

var errNoTest = errors.New("no failing Go test is named")

// catalogue are the experiments, in the order in which they are offered where they cost the same.
var catalogue = []abi.Experiment{
	{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5},
	{Product: abi.Head, Tests: abi.Head, Environment: abi.StarvedEnvironment, Order: abi.Alone, Runs: 5},
	{Product: abi.Head, Tests: abi.Head, Environment: abi.CleanEnvironment, Order: abi.Alone, Runs: 1},
	{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.OriginalOrder, Runs: 2},
	{Product: abi.Green, Tests: abi.Green, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 2},
	{Product: abi.Head, Tests: abi.Green, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 1},
	{Product: abi.Green, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 1},
}

// What experiments are expected to take, where nothing is known of the test. A tree of head compiles little, because the go command
// has built it before.
const (
	runStart       = 300 * time.Millisecond // of the process and its isolation
	defaultElapsed = time.Second
	headBuild      = 3 * time.Second
	otherBuild     = 6 * time.Second
	starvedFactor  = 3  // two busy loops share the processor with the test
	packageFactor  = 10 // what all tests of a package take, in tests
)

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
	var offers []abi.ExperimentOffer
	for _, e := range catalogue {
		if l.trees[revisions{e.Product, e.Tests}] != nil {
			offers = append(offers, abi.ExperimentOffer{Experiment: e, Seconds: seconds(f, e)})
		}
	}
	slices.SortStableFunc(offers, func(a, b abi.ExperimentOffer) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return offers, nil
}

// seconds are expected of an experiment, to a tenth.
func seconds(f *failure, e abi.Experiment) float64 {
	run, build := cmp.Or(f.test.Elapsed, defaultElapsed), headBuild
	if e.Order == abi.OriginalOrder {
		run *= packageFactor
	}
	if e.Environment == abi.StarvedEnvironment {
		run *= starvedFactor
	}
	if e.Product != abi.Head || e.Tests != abi.Head {
		build = otherBuild
	}
	total := (build + time.Duration(e.Runs)*(runStart+min(run, runLimit(f, e)))).Seconds()
	return math.Round(10*total) / 10
}

// Why says in a line why there are no offers for a case, or not all of the mode; empty if there are. Of a nil case it says what
// holds for all.
func (l *Lab) Why(subject *abi.Case) string {
	if l.problem != "" {
		return l.problem
	}
	if subject != nil {
		if _, err := l.failureOf(subject); err != nil {
			return oneLine(err.Error())
		}
	}
	return l.noGreen
}
