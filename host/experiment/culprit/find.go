package culprit

import (
	"context"
	"fmt"
	"time"
)

// Runner runs a test at commits.
type Runner interface {
	// Run runs the test of the commit with this number, 0 for the base, as often as said. What keeps it from running is no error but a
	// reason in Runs. An error ends the search.
	Run(ctx context.Context, commit, runs int) (Runs, error)
}

// Runs is what came of runs of one commit.
type Runs struct {
	Count
	// Known: nothing was run, and the Count is how runs would end, such as that nothing fails where there is no test.
	Known bool
	// Why says why there are no runs that tell something, in one sentence for people.
	Why string
	// Build is what it took until the first run could begin, as far as that was not done before. Time is what all runs took together.
	Build, Time time.Duration
}

// Purpose is what runs are for.
type Purpose string

// The purposes.
const (
	End    Purpose = "end"    // the rates at the base and at head
	Narrow Purpose = "search" // to narrow the suspects
	Verify Purpose = "verify" // to verify the culprit and its parent
)

// Options say how a culprit is found, beside the Config of its search.
type Options struct {
	Config

	// Base and Head are runs that were made before. Where there are none, Ends runs of each are made. Where head does not fail more often
	// than the base, it is run twice as often, and then twice as often again. Default of Ends: 5.
	Base, Head Count
	Ends       int
	// Verify is how often the culprit and its parent are run again to verify them. Where that shows too little, there are two more rounds,
	// each with twice the runs. Default: 3. Negative: none is verified.
	Verify int
	// Time ends the search once builds and runs took as long, MostRuns once there were as many. Zero: no limit.
	Time     time.Duration
	MostRuns int
	// Build and Run are what a build and a run are expected to take before the first was made. Default: 5 s and 0.5 s.
	Build, Run time.Duration
	// Progress, if it is not nil, is told of each step, before and after its runs.
	Progress func(Progress)

	unverified bool
}

const (
	defaultEnds   = 5
	defaultVerify = 3
	defaultBuild  = 5 * time.Second
	defaultRun    = 500 * time.Millisecond
	verifyRounds  = 3
	endRounds     = 2
)

// Progress tells what runs, what it showed, and how sure the search is.
type Progress struct {
	Purpose      Purpose
	Commit, Runs int
	// Done: the runs were made, and this came of them. Otherwise they begin.
	Done   bool
	Result Runs
	// Suspects are the most probable ones now.
	Suspects Suspects
}

// Ending says how a search ended.
type Ending string

// The endings.
const (
	// Found: the suspects are as probable as the config asks.
	Found Ending = "found"
	// Before: the test fails at the base already, as it does at head.
	Before Ending = "before"
	// None: the test fails nowhere more often than at the base.
	None Ending = "none"
	// OutOfBudget: the time or the runs were used up.
	OutOfBudget Ending = "out of budget"
	// Undecided: no run that can be made tells more.
	Undecided Ending = "undecided"
)

// Skipped is a commit that could not be run.
type Skipped struct {
	Commit int
	Why    string
}

// Result is what a search found.
type Result struct {
	Ending    Ending
	Suspects  Suspects
	Posterior Posterior
	// Verified: the culprit, or the last of the suspects, and the parent of the first one were run again, and those runs alone show that the
	// culprit fails more often with the probability that the config asks for. Pair are these runs.
	Verified bool
	Pair     Pair
	Skipped  []Skipped
	// Counts are all runs of the base and of each commit. Runs is how many told something, for each purpose.
	Counts []Count
	Runs   map[Purpose]int
	Builds int
	Time   time.Duration
}

// Pair are runs of a culprit and its parent. Known: those of the parent were not made, as in [Runs].
type Pair struct {
	Parent, Culprit Count
	Known           bool
}

// Find searches for the commit that broke a test, and verifies it. Its error is that of the options, the runner or the context; with the
// latter two, the result has what is known by then.
func Find(ctx context.Context, runner Runner, o Options) (Result, error) {
	if err := o.setDefaults(); err != nil {
		return Result{}, err
	}
	s, err := New(o.Config)
	if err != nil {
		return Result{}, err
	}
	f := &finder{options: o, search: s, runner: runner, built: map[int]bool{}, known: map[int]Count{}, result: Result{Runs: map[Purpose]int{}}}
	f.result.Ending, err = f.find(ctx)
	f.result.Suspects, f.result.Posterior, f.result.Counts = s.Suspects(), s.Posterior(), s.Counts()
	for commit, n := range f.known {
		made := &f.result.Counts[commit]
		made.Failed, made.Passed = made.Failed-n.Failed, made.Passed-n.Passed
	}
	return f.result, err
}

func (o *Options) setDefaults() error {
	if o.unverified = o.Verify < 0; o.unverified {
		o.Verify = 0
	}
	for _, n := range []struct {
		name   string
		value  *int
		usual  int
		atMost int
	}{
		{"runs of each end", &o.Ends, defaultEnds, maxRuns >> endRounds}, {"runs to verify", &o.Verify, defaultVerify, maxRuns >> verifyRounds}, {"runs at most", &o.MostRuns, maxRuns, maxRuns},
	} {
		if *n.value == 0 {
			*n.value = n.usual
		}
		if *n.value < 0 || *n.value > n.atMost {
			return fmt.Errorf("%d %s: expected 1 to %d", *n.value, n.name, n.atMost)
		}
	}
	if o.Build == 0 {
		o.Build = defaultBuild
	}
	if o.Run == 0 {
		o.Run = defaultRun
	}
	if o.Time < 0 || o.Build < 0 || o.Run < 0 {
		return fmt.Errorf("time %v, build %v, run %v: expected no negative time", o.Time, o.Build, o.Run)
	}
	return nil
}

// finder is one search with what it has spent.
type finder struct {
	options  Options
	search   *Search
	runner   Runner
	built    map[int]bool
	known    map[int]Count // that no run showed
	runs     int           // all
	builds   time.Duration
	running  time.Duration
	result   Result
	verified int      // rounds
	doubted  int      // rounds of head
	pair     Suspects // that result.Pair is about
}

func (f *finder) find(ctx context.Context) (Ending, error) {
	head := len(f.options.Prior)
	for _, end := range []struct {
		commit int
		known  Count
	}{{0, f.options.Base}, {head, f.options.Head}} {
		if end.known.runs() > 0 {
			if err := f.search.Observe(end.commit, end.known); err != nil {
				return Undecided, err
			}
			continue
		}
		if over, err := f.run(ctx, End, end.commit, f.options.Ends, nil); over || err != nil {
			return OutOfBudget, err
		}
	}
	for {
		if f.search.Found() {
			if ending, done, err := f.found(ctx); done || err != nil {
				return ending, err
			}
			continue
		}
		step, ok := f.search.Next(f.costs)
		if !ok {
			return Undecided, nil
		}
		if over, err := f.run(ctx, Narrow, step.Commit, step.Runs, nil); over || err != nil {
			return OutOfBudget, err
		}
	}
}

// found verifies what was found. It is not done where the runs make something else more probable.
func (f *finder) found(ctx context.Context) (ending Ending, done bool, err error) {
	suspects, head := f.search.Suspects(), len(f.options.Prior)
	switch {
	case suspects.Last == 0:
		return Before, true, nil
	case suspects.First > head && f.doubted < endRounds:
		// A failure that comes rarely looks the same as one that does not come back.
		f.doubted++
		over, err := f.run(ctx, End, head, f.options.Ends<<f.doubted, nil)
		return OutOfBudget, over, err
	case suspects.First > head:
		return None, true, nil
	case f.options.unverified || suspects.First == 0 || suspects.Last > head || f.verified == verifyRounds:
		return Found, true, nil
	}
	runs := f.options.Verify << f.verified
	f.verified++
	if suspects.First != f.pair.First || suspects.Last != f.pair.Last {
		f.pair, f.result.Pair = suspects, Pair{}
	}
	pair := &f.result.Pair
	for _, one := range []struct {
		commit int
		fresh  *Count
	}{{suspects.First - 1, &pair.Parent}, {suspects.Last, &pair.Culprit}} {
		if over, err := f.run(ctx, Verify, one.commit, runs, one.fresh); over || err != nil {
			return Found, true, err
		}
	}
	now := f.search.Suspects()
	f.result.Verified = f.search.Found() && now.First == suspects.First && now.Last == suspects.Last &&
		f.search.Differ(pair.Parent, pair.Culprit) >= f.search.config.Stop
	return Found, f.result.Verified, nil
}

// costs are what was measured so far.
func (f *finder) costs(commit int) Costs {
	c := Costs{Build: f.options.Build.Seconds(), Run: f.options.Run.Seconds()}
	if f.runs > 0 {
		c.Run = max(f.running.Seconds()/float64(f.runs), 1e-6)
	}
	if f.result.Builds > 0 {
		c.Build = f.builds.Seconds() / float64(f.result.Builds)
	}
	if f.built[commit] {
		c.Build = 0
	}
	return c
}

// run makes runs and adds them to the search, and to fresh if that is not nil. over says that the budget was used up before.
func (f *finder) run(ctx context.Context, purpose Purpose, commit, runs int, fresh *Count) (over bool, err error) {
	runs = min(runs, f.options.MostRuns-f.runs)
	if runs <= 0 || f.options.Time > 0 && f.result.Time >= f.options.Time {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	f.tell(Progress{Purpose: purpose, Commit: commit, Runs: runs})
	got, err := f.runner.Run(ctx, commit, runs)
	if err != nil {
		return false, err
	}
	if n := got.runs(); min(got.Failed, got.Passed) < 0 || n > runs || got.Build < 0 || got.Time < 0 {
		return false, fmt.Errorf("commit %d: the runner says that %d runs failed and %d passed in %v, of %d", commit, got.Failed, got.Passed, got.Time, runs)
	}
	if !f.built[commit] {
		f.built[commit], f.builds, f.result.Builds = true, f.builds+got.Build, f.result.Builds+1
	}
	f.runs, f.running, f.result.Time = f.runs+got.runs(), f.running+got.Time, f.result.Time+got.Build+got.Time
	if got.Known {
		f.known[commit] = f.known[commit].plus(got.Count)
	} else {
		f.result.Runs[purpose] += got.runs()
	}
	if got.runs() == 0 {
		f.result.Skipped = append(f.result.Skipped, Skipped{commit, got.Why})
		err = f.search.Skip(commit)
	} else {
		err = f.search.Observe(commit, got.Count)
	}
	if fresh != nil {
		*fresh, f.result.Pair.Known = fresh.plus(got.Count), f.result.Pair.Known || got.Known
	}
	f.tell(Progress{Purpose: purpose, Commit: commit, Runs: runs, Done: true, Result: got})
	return false, err
}

func (f *finder) tell(p Progress) {
	if f.options.Progress != nil {
		p.Suspects = f.search.Suspects()
		f.options.Progress(p)
	}
}
