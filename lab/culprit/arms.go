package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/culprit"
)

// flips is the share of outcomes that are failures in noisy cases, whatever the test says.
const flips = 0.2

// replay answers by saved outcomes. Each run of a commit has one outcome, the same for all arms.
type replay struct {
	line   *line
	fault  *fault
	noisy  bool
	chance []*rand.Rand // of each commit
	drawn  [][]bool     // whether its runs failed, as far as they were drawn
	made   []int        // runs of this arm
	costs  culprit.Costs
}

func newReplay(l *line, f *fault, noisy bool) *replay {
	r := &replay{line: l, fault: f, noisy: noisy, drawn: make([][]bool, len(l.Commits)+1)}
	for i := range r.drawn {
		r.chance = append(r.chance, seeded(f.ID, "runs", strconv.Itoa(i)))
	}
	return r
}

// begin begins an arm, with what it thinks that builds and runs take.
func (r *replay) begin(costs culprit.Costs) {
	r.made, r.costs = make([]int, len(r.drawn)), costs
}

// failed makes the next run of a commit.
func (r *replay) failed(commit int) bool {
	for len(r.drawn[commit]) <= r.made[commit] {
		saved := r.fault.Before
		if commit >= r.line.Culprit {
			saved = r.fault.After
		}
		// Both are drawn, so that the flips of a commit don't depend on its outcomes.
		fails, flipped := saved[r.chance[commit].IntN(len(saved))] != 'P', r.chance[commit].Float64() < flips
		r.drawn[commit] = append(r.drawn[commit], fails || r.noisy && flipped)
	}
	r.made[commit]++
	return r.drawn[commit][r.made[commit]-1]
}

// Run implements [culprit.Runner].
func (r *replay) Run(_ context.Context, commit, runs int) (culprit.Runs, error) {
	out := culprit.Runs{Time: seconds(r.costs.Run * float64(runs))}
	if r.made[commit] == 0 {
		out.Build = seconds(r.costs.Build)
	}
	for range runs {
		if r.failed(commit) {
			out.Failed++
		} else {
			out.Passed++
		}
	}
	return out, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// answer is what an arm said of one case, and what it took.
type answer struct {
	right bool
	found bool // there is one commit
	// Runs for the answer, at the base and head before, and to verify it after.
	runs, ends, verify int
	verified           bool
	builds             int // of other commits than the base and head, and of those two where they were run for the answer
	seconds            float64
}

// searched is one case with the answers of all arms.
type searched struct {
	line    *line
	fault   *fault
	noisy   bool
	answers []answer
}

// arm is a way to find a culprit.
type arm struct {
	name string
	find func(ctx context.Context, r *replay) (answer, error)
}

func arms() []arm {
	return []arm{
		{"`git bisect run`, 1 run", bisect(1)},
		{"`git bisect run`, 5 runs", bisect(5)},
		{"search, each run costs the same", search(perRun, true, -1)},
		{"the same, even prior", search(perRun, false, -1)},
		{"the same, verified", search(perRun, true, 0)},
		{"search by seconds", search(perSecond, true, -1)},
		{"the same, verified ", search(perSecond, true, 0)},
	}
}

// perRun has each run cost the same, and builds nothing.
func perRun(*replay) culprit.Costs { return culprit.Costs{Run: 1} }

// perSecond has builds and runs cost what they took.
func perSecond(r *replay) culprit.Costs { return culprit.Costs{Build: r.fault.Build, Run: r.fault.Run} }

// bisect is `git bisect run` on a line of commits: the base is good and head bad without a run, and a commit is good if any run passes.
func bisect(runs int) func(context.Context, *replay) (answer, error) {
	return func(_ context.Context, r *replay) (answer, error) {
		r.begin(culprit.Costs{})
		good, bad := 0, len(r.line.Commits)
		a := answer{found: true}
		for bad-good > 1 {
			middle, passed := (good+bad)/2, false
			a.builds++
			for i := 0; i < runs && !passed; i++ {
				a.runs++
				passed = !r.failed(middle)
			}
			if passed {
				good = middle
			} else {
				bad = middle
			}
		}
		a.right = bad == r.line.Culprit
		a.seconds = float64(a.builds)*r.fault.Build + float64(a.runs)*r.fault.Run
		return a, nil
	}
}

// search is the search of the product.
func search(costs func(*replay) culprit.Costs, prior bool, verify int) func(context.Context, *replay) (answer, error) {
	return func(ctx context.Context, r *replay) (answer, error) {
		c := costs(r)
		r.begin(c)
		o := culprit.Options{Verify: verify, Build: max(seconds(c.Build), 1), Run: seconds(c.Run)}
		o.Prior = slices.Repeat([]float64{1}, len(r.line.Commits))
		if prior {
			var touched [][]string
			for _, c := range r.line.Commits {
				touched = append(touched, c.Paths)
			}
			o.Prior = culprit.Prior(r.fault.Case, r.line.Files, touched)
		}
		got, err := culprit.Find(ctx, r, o)
		if err != nil {
			return answer{}, err
		}
		a := answer{runs: got.Runs[culprit.Narrow], ends: got.Runs[culprit.End], verify: got.Runs[culprit.Verify], verified: got.Verified}
		a.found = got.Ending == culprit.Found && got.Suspects.First == got.Suspects.Last
		a.right = a.found && got.Suspects.First == r.line.Culprit
		for i, n := range r.made {
			if n > 0 && i > 0 && i < len(r.made)-1 {
				a.builds++
			}
		}
		// Those of the base and head are known before, as they are for git bisect.
		a.seconds = float64(a.builds)*r.fault.Build + float64(a.runs+a.verify)*r.fault.Run
		return a, nil
	}
}

// searchAll has every arm search every case. Every second one is noisy, unless its test fails by chance anyway; these come last.
func searchAll(ctx context.Context, lines []line, known []fault) ([]searched, error) {
	list := make([]searched, len(lines))
	for i := range lines {
		at := slices.IndexFunc(known, func(f fault) bool { return f.ID == lines[i].ID })
		if at < 0 {
			return nil, fmt.Errorf("there is no saved case %s", lines[i].ID)
		}
		list[i] = searched{line: &lines[i], fault: &known[at]}
	}
	slices.SortFunc(list, func(a, b searched) int {
		if a.fault.Planted != b.fault.Planted {
			return map[bool]int{false: -1, true: 1}[a.fault.Planted]
		}
		return cmp.Compare(a.line.ID, b.line.ID)
	})
	for i := range list {
		s := &list[i]
		s.noisy = i%2 == 1 && !s.fault.Planted
		r := newReplay(s.line, s.fault, s.noisy)
		for _, arm := range arms() {
			a, err := arm.find(ctx, r)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", s.line.ID, arm.name, err)
			}
			s.answers = append(s.answers, a)
		}
	}
	return list, nil
}
