package culprit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/culprit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// simulated is a test that fails at one rate before a commit and at another one from it on.
type simulated struct {
	random    *rand.Rand
	culprit   int
	low, high float64
	broken    []int // commits that don't build
	calls     []string
	fail      error
}

func (s *simulated) Run(_ context.Context, commit, runs int) (culprit.Runs, error) {
	s.calls = append(s.calls, fmt.Sprint(commit, "x", runs))
	out := culprit.Runs{Build: time.Second, Time: time.Duration(runs) * time.Second}
	if slices.Contains(s.broken, commit) {
		return culprit.Runs{Why: "it does not build", Build: time.Second}, s.fail
	}
	rate := s.low
	if commit >= s.culprit {
		rate = s.high
	}
	for range runs {
		if s.random.Float64() < rate {
			out.Failed++
		} else {
			out.Passed++
		}
	}
	return out, s.fail
}

func simulate(seed uint64, at int, low, high float64, broken ...int) *simulated {
	return &simulated{random: rand.New(rand.NewPCG(seed, 7)), culprit: at, low: low, high: high, broken: broken}
}

// TestAccept_AL7_FindsCulpritsInNoise: of 60 searches for each pair of rates, at most as many are wrong as the posterior allows.
func TestAccept_AL7_FindsCulpritsInNoise(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/experiment/culprit")
	for _, rates := range [][2]float64{{0, 1}, {0.2, 1}, {0, 0.6}, {0.1, 0.5}} {
		wrong, verified := 0, 0
		const searches = 60
		for seed := range uint64(searches) {
			n := 1 + int(seed*13%128)
			s := simulate(seed, 1+int(seed*7)%n, rates[0], rates[1])
			r := must.Get(culprit.Find(t.Context(), s, culprit.Options{Config: culprit.Config{Prior: even(n)}, Ends: 10}))(t)
			if r.Ending != culprit.Found || r.Suspects.First != s.culprit || r.Suspects.Last != s.culprit {
				wrong++
			}
			if r.Verified {
				verified++
			}
		}
		if wrong > searches/20 || verified < searches/2 {
			t.Errorf("rates %v: %d of %d wrong, %d verified", rates, wrong, searches, verified)
		}
	}
}

// TestFindIsDeterministic, and the culprit and its parent are run last, as often as asked.
func TestFindIsDeterministic(t *testing.T) {
	t.Parallel()
	var calls []string
	for range 2 {
		s := simulate(5, 40, 0, 1)
		r, err := culprit.Find(t.Context(), s, culprit.Options{Config: culprit.Config{Prior: even(100)}, Verify: 4})
		if err != nil || !r.Verified {
			t.Fatalf("got %+v, %v", r, err)
		}
		if got := strings.Join(s.calls[len(s.calls)-2:], " "); got != "39x4 40x4" {
			t.Errorf("the last runs are %s", got)
		}
		if got := fmt.Sprint(r.Pair, r.Runs[culprit.End], r.Runs[culprit.Verify]); got != "{{0 4} {4 0} false} 10 8" {
			t.Errorf("got %s", got)
		}
		if calls != nil && !slices.Equal(calls, s.calls) {
			t.Errorf("first %v, then %v", calls, s.calls)
		}
		calls = s.calls
	}
}

// TestAccept_AL7_Endings: each way in which a search may end, and what it says then.
func TestAccept_AL7_Endings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		runner      *simulated
		options     culprit.Options
		ending      culprit.Ending
		first, last int
	}{
		{"a base that fails", simulate(1, 0, 0, 1), culprit.Options{}, culprit.Before, 0, 0},
		{"a failure that does not come back", simulate(1, 99, 0, 1), culprit.Options{}, culprit.None, 17, 17},
		{"runs that were made before", simulate(1, 9, 0, 1), culprit.Options{Base: culprit.Count{Passed: 9}, Head: culprit.Count{Failed: 9}}, culprit.Found, 9, 9},
		{"commits that don't build", simulate(1, 9, 0, 1, 7, 8), culprit.Options{}, culprit.Found, 7, 9},
		{"no commit that builds but the last", simulate(1, 9, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), culprit.Options{}, culprit.Found, 1, 16},
		{"a base that does not build", simulate(1, 1, 0, 1, 0), culprit.Options{}, culprit.Found, 0, 1},
		{"a budget of runs", simulate(1, 9, 0.3, 0.7), culprit.Options{MostRuns: 12}, culprit.OutOfBudget, -1, -1},
		{"a budget of time", simulate(1, 9, 0.3, 0.7), culprit.Options{Time: 13 * time.Second}, culprit.OutOfBudget, -1, -1},
	} {
		c.options.Prior = even(16)
		r, err := culprit.Find(t.Context(), c.runner, c.options)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if r.Ending != c.ending || c.first >= 0 && (r.Suspects.First != c.first || r.Suspects.Last != c.last) {
			t.Errorf("%s: got %s, %+v", c.name, r.Ending, r.Suspects)
		}
		for _, s := range r.Skipped {
			if s.Why != "it does not build" || !slices.Contains(c.runner.broken, s.Commit) {
				t.Errorf("%s: skipped %+v", c.name, s)
			}
		}
		if r.Verified && r.Ending != culprit.Found {
			t.Errorf("%s: verified", c.name)
		}
		if most := c.options.MostRuns; most > 0 && r.Runs[culprit.End]+r.Runs[culprit.Narrow]+r.Runs[culprit.Verify] != most {
			t.Errorf("%s: runs %v", c.name, r.Runs)
		}
	}
}

func TestFindTellsItsProgressAndErrors(t *testing.T) {
	t.Parallel()
	begun, done := 0, 0
	o := culprit.Options{Config: culprit.Config{Prior: even(8)}, Progress: func(p culprit.Progress) {
		if p.Done {
			done++
		} else if begun++; begun != done+1 {
			t.Errorf("%d steps began, %d are done", begun, done)
		}
	}}
	s := simulate(1, 3, 0, 1)
	if _, err := culprit.Find(t.Context(), s, o); err != nil || begun != len(s.calls) || done != begun {
		t.Errorf("%d began, %d done, %d calls, error %v", begun, done, len(s.calls), err)
	}
	s.fail = errors.New("the disk is full")
	if _, err := culprit.Find(t.Context(), s, o); !errors.Is(err, s.fail) {
		t.Errorf("got %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if r, err := culprit.Find(ctx, simulate(1, 3, 0, 1), o); !errors.Is(err, context.Canceled) || len(r.Posterior.Commits) != 8 {
		t.Errorf("got %+v, %v", r, err)
	}
	o.Ends = -1
	if _, err := culprit.Find(t.Context(), s, o); err == nil || !strings.Contains(err.Error(), "runs of each end") {
		t.Errorf("got %v", err)
	}
	o.Ends, o.Time = 0, -1
	if _, err := culprit.Find(t.Context(), s, o); err == nil || !strings.Contains(err.Error(), "no negative time") {
		t.Errorf("got %v", err)
	}
	if _, err := culprit.Find(t.Context(), liar{}, culprit.Options{Config: culprit.Config{Prior: even(2)}}); err == nil || !strings.Contains(err.Error(), "the runner says") {
		t.Errorf("got %v", err)
	}
}

// liar says that more runs failed than there were.
type liar struct{}

func (liar) Run(_ context.Context, _, runs int) (culprit.Runs, error) {
	return culprit.Runs{Count: culprit.Count{Failed: runs + 1}}, nil
}
