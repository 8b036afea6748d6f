// Package plan lists the experiments that there are and what they are expected to take, and chooses the one that would tell most of
// a case for its seconds. It runs nothing.
package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// catalogue are the experiments, in the order in which they are offered where they cost the same. The runs of one cell come in steps, which
// add up to those that lab/chance studies.
var catalogue = slices.Concat(
	steps(abi.Head, abi.Head, abi.OriginalEnvironment, abi.Alone, 5, 15, 30, 50, 300),
	steps(abi.Head, abi.Head, abi.StarvedEnvironment, abi.Alone, 5, 15, 30),
	steps(abi.Head, abi.Head, abi.CleanEnvironment, abi.Alone, 1, 4, 15),
	steps(abi.Head, abi.Head, abi.OriginalEnvironment, abi.OriginalOrder, 2, 5, 13, 30),
	steps(abi.Base, abi.Base, abi.OriginalEnvironment, abi.Alone, 2, 5, 13, 30, 50, 300),
	steps(abi.Base, abi.Base, abi.StarvedEnvironment, abi.Alone, 2, 5, 13, 30),
	steps(abi.Base, abi.Base, abi.CleanEnvironment, abi.Alone, 1, 6, 13),
	steps(abi.Base, abi.Base, abi.OriginalEnvironment, abi.OriginalOrder, 2, 5, 13, 30),
	steps(abi.Head, abi.Base, abi.OriginalEnvironment, abi.Alone, 1),
	steps(abi.Base, abi.Head, abi.OriginalEnvironment, abi.Alone, 1),
	steps(abi.Target, abi.Target, abi.OriginalEnvironment, abi.Alone, 2, 3, 15),
	steps(abi.Merge, abi.Merge, abi.OriginalEnvironment, abi.Alone, 2, 3, 15),
)

func steps(product, tests abi.TreeRevision, environment abi.RunEnvironment, order abi.RunOrder, runs ...int) []abi.Experiment {
	list := make([]abi.Experiment, len(runs))
	for i, n := range runs {
		list[i] = abi.Experiment{Product: product, Tests: tests, Environment: environment, Order: order, Runs: n}
	}
	return list
}

// Has says whether there is such an experiment.
func Has(e abi.Experiment) bool { return slices.Contains(catalogue, e) }

// IsFirst says whether an experiment is the first step of its cell. The others find what it has built.
func IsFirst(e abi.Experiment) bool {
	at := slices.IndexFunc(catalogue, func(other abi.Experiment) bool {
		other.Runs = e.Runs
		return other == e
	})
	return at < 0 || catalogue[at] == e
}

// What the details of results say of what tests don't have, in their first line: which flag gives it to them.
const (
	ShowsHome     = "--experiments home shows it"
	LeavesNetwork = "--experiments network leaves it"
)

// Natively begins the details of reruns outside of the laboratory that did not fail as reported, Otherwise those of reruns in it that all fail in another
// way, and ReadOnly is in those of runs that failed since folders are read-only in it.
const (
	Natively  = "outside of the laboratory: "
	Otherwise = "the failure does not come back: each rerun fails, but not as the report says"
	ReadOnly  = "wrote to a folder that is read-only in experiments"
)

// Besides begins the details of results of a tree that fails as the case did, but without lines that stand beside what failed.
const Besides = "it fails in this way, too, but without: "

// SeveralTests says why runs of a test tell nothing.
const SeveralTests = "several tests have this name, and no run tells them apart"

// OtherWorld begins the details of results whose runs did not have all that is their tree's own, such as its dependencies.
const OtherWorld = "the runs did not have all that is their tree's own: "

// UsedUp ends the details of experiments that were not made since there was no time left for them.
const UsedUp = " is used up"

// Skipped is the detail of results of a tree that has the test, and skips it.
const Skipped = "the test is skipped"

// Moved and Untracked begin the details of results of a base that does not have the test: its file was another one there, or git does not know it.
const (
	Moved     = "the change moved the test from "
	Untracked = "git does not know "
)

// EndedBefore begins the details of results of a tree in which no run came as far as to the test.
const EndedBefore = "the run ended before the test:"

// NotTraced ends the details of results of which it is not known in full what the tests looked for in vain.
const NotTraced = "not traced: files, sockets and programs that experiments hide may be missing"

// What tests may be given that they don't have otherwise.
const (
	Home    = "home"
	Network = "network"
)

// Lacking finds a result whose runs may have lacked what tests can be given, and says what: the user's home, where the failure did not come
// back, or the network. It is nil where there is none.
func Lacking(results []abi.ExperimentResult) (*abi.ExperimentResult, string) {
	for i := range results {
		r := &results[i]
		line, _, _ := strings.Cut(r.Detail, "\n") // the rest is what the tests print
		switch {
		case odds.IsRerun(&r.Experiment) && r.Made() > 0 && r.Same == 0 && strings.Contains(line, ShowsHome):
			return r, Home
		case r.Outcome == abi.OutcomeNotRun && strings.Contains(line, LeavesNetwork):
			return r, Network
		}
	}
	return nil, ""
}

// What experiments are expected to take, where nothing is known of the test. A tree of head compiles little, because the go command
// has built it before.
const (
	RunStart       = 300 * time.Millisecond // of the process and its isolation
	defaultElapsed = time.Second
	headBuild      = 3 * time.Second
	otherBuild     = 6 * time.Second
	otherStart     = 700 * time.Millisecond
)

// Pace is what experiments take beside the tests: the start of each run, and the build of the tree under test or of another one. Around is what all
// tests around one take; zero where that is not known.
type Pace struct{ Start, Head, Other, Around time.Duration }

// GoPace is that of Go.
func GoPace() Pace { return Pace{Start: RunStart, Head: headBuild, Other: otherBuild} }

// OtherPace is that of other languages, where their runner is not known: most build nothing.
func OtherPace() Pace { return Pace{Start: RunStart + otherStart} }

// How much longer a test takes, or what all tests of a package take, in tests; no run takes longer than MostRun.
const (
	StarvedFactor = 3 // two busy loops share the processor with the test
	PackageFactor = 10
	MostRun       = 5 * time.Minute
)

// Build says what an experiment builds.
type Build int

// What it may build. An experiment whose result is known without a run builds nothing; one that can't be made is impossible.
const (
	Impossible Build = iota
	Nothing
	Head  // the tree under test
	Other // another tree
)

// BuildOf is what an experiment builds if its trees differ.
func BuildOf(e abi.Experiment) Build {
	if e.Product == abi.Head && e.Tests == abi.Head {
		return Head
	}
	return Other
}

// mostSeconds is what an experiment that is offered is expected to take at most.
const mostSeconds = 3600

// Offers are the experiments that are possible within an hour for a test that took this long when it failed, the cheapest first. Zero stands for a
// time that is not known.
func Offers(elapsed time.Duration, pace Pace, builds func(abi.Experiment) Build) []abi.ExperimentOffer {
	var offers []abi.ExperimentOffer
	for _, e := range catalogue {
		b := builds(e)
		if b == Impossible {
			continue
		}
		if seconds := Seconds(elapsed, pace, e, b); seconds <= mostSeconds {
			offers = append(offers, abi.ExperimentOffer{Experiment: e, Seconds: seconds})
		}
	}
	slices.SortStableFunc(offers, func(a, b abi.ExperimentOffer) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return offers
}

// Seconds are expected of an experiment with a test that took this long, to a tenth.
func Seconds(elapsed time.Duration, pace Pace, e abi.Experiment, b Build) float64 {
	if b == Nothing {
		return 0
	}
	run, build := min(cmp.Or(elapsed, defaultElapsed), MostRun), pace.Head
	if e.Order == abi.OriginalOrder {
		run = cmp.Or(pace.Around, run*PackageFactor)
	}
	if e.Environment == abi.StarvedEnvironment {
		run *= StarvedFactor
	}
	switch {
	case !IsFirst(e):
		build = 0
	case b == Other:
		build = pace.Other
	}
	total := (build + time.Duration(e.Runs)*(pace.Start+min(run, MostRun))).Seconds()
	return math.Round(10*total) / 10
}

// minGain in nats is what an experiment has to tell to be worth naming. An even guess between two labels has 0.69.
const minGain = 0.03

// Outlook is what may come of all experiments after results, by the outcome model of a profile.
func Outlook(labels []string, p *abi.Profile, results []abi.ExperimentResult) *odds.Outlook {
	return odds.NewOutlook(labels, p, results, catalogue)
}

// Best is the experiment that is expected to tell most of the label for its seconds, by the outcome model of a profile and the outlook
// after the results that there are; nil where none tells anything. now are the probabilities of the labels, at least one. Experiments that
// are not among the offers are expected to take what the pace says, elapsed is as in Offers. Those with a target are left out unless they
// are on offer: not every change has one.
func Best(outlook *odds.Outlook, now []float64, p *abi.Profile, results []abi.ExperimentResult, offered []abi.ExperimentOffer, elapsed time.Duration, pace Pace) *abi.ExperimentOffer {
	offers := Offers(elapsed, pace, func(e abi.Experiment) Build {
		aims := e.Product == abi.Target || e.Product == abi.Merge
		if came(results, e) || aims && !slices.ContainsFunc(offered, func(o abi.ExperimentOffer) bool { return o.Experiment == e }) {
			return Impossible
		}
		return BuildOf(e)
	})
	for i := range offers {
		if at := slices.IndexFunc(offered, func(o abi.ExperimentOffer) bool { return o.Experiment == offers[i].Experiment }); at >= 0 {
			offers[i] = offered[at]
		}
	}
	best, _ := odds.Choose(p, results, offers, minGain, outlook.From(now).Information)
	return best
}

// came says whether an experiment was run, even if its runs don't count: they would not another time.
func came(results []abi.ExperimentResult, e abi.Experiment) bool {
	return slices.ContainsFunc(results, func(r abi.ExperimentResult) bool {
		return r.Experiment == e && (r.Outcome != abi.OutcomeNotRun || r.Made() > 0)
	})
}
