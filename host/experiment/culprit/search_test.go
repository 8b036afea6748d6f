package culprit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/experiment/culprit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func begin(t *testing.T, c culprit.Config) *culprit.Search {
	t.Helper()
	return must.Get(culprit.New(c))(t)
}

func observe(t *testing.T, s *culprit.Search, commit, failed, passed int) {
	t.Helper()
	must.Do(t, s.Observe(commit, culprit.Count{Failed: failed, Passed: passed}))
}

func even(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// all are the probabilities in their order: before, of each commit, none.
func all(p culprit.Posterior) []float64 {
	return slices.Concat([]float64{p.Before}, p.Commits, []float64{p.None})
}

// bruteForce sums the likelihood over a grid of rates, and over every answer.
func bruteForce(c culprit.Config, counts []culprit.Count) []float64 {
	const steps = 700
	density := func(r culprit.Rates, x float64) (p float64) {
		for _, k := range r {
			a, _ := math.Lgamma(float64(k.A))
			b, _ := math.Lgamma(float64(k.B))
			ab, _ := math.Lgamma(float64(k.A + k.B))
			p += k.Weight * math.Exp(ab-a-b+float64(k.A-1)*math.Log(x)+float64(k.B-1)*math.Log1p(-x))
		}
		return p
	}
	prior := slices.Concat([]float64{c.Outside / 2}, c.Prior, []float64{c.Outside / 2})
	sum := 0.0
	for _, w := range c.Prior {
		sum += w
	}
	for i := range c.Prior {
		prior[i+1] *= (1 - c.Outside) / sum
	}
	var rates, early, late [steps]float64
	for i := range steps {
		rates[i] = (float64(i) + 0.5) / steps
		early[i], late[i] = density(c.Before, rates[i]), density(c.After, rates[i])
	}
	out, total := make([]float64, len(prior)), 0.0
	for k := range prior {
		var x, y [steps]float64 // the likelihood of the runs before the culprit and from it on
		for i := range steps {
			x[i], y[i] = early[i], late[i]
			for at, n := range counts {
				p := math.Pow(rates[i], float64(n.Failed)) * math.Pow(1-rates[i], float64(n.Passed))
				if at < k {
					x[i] *= p
				} else {
					y[i] *= p
				}
			}
		}
		for i := range steps {
			for j := i; j < steps; j++ {
				share := 1.0
				if i == j {
					share = 0.5 // half of the square has x < y
				}
				out[k] += prior[k] * share * x[i] * y[j]
			}
		}
		total += out[k]
	}
	for k := range out {
		out[k] /= total
	}
	return out
}

func TestAccept_AL7_PosteriorAsByBruteForce(t *testing.T) {
	t.Parallel()
	mixture := culprit.Config{Before: culprit.Rates{{Weight: 0.7, A: 1, B: 12}, {Weight: 0.3, A: 2, B: 3}}, After: culprit.Rates{{Weight: 2, A: 9, B: 1}, {Weight: 1, A: 1, B: 1}}}
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 33))
		c := mixture
		c.Outside, c.Prior = 0.1, make([]float64, 1+r.IntN(3))
		for i := range c.Prior {
			c.Prior[i] = 0.2 + r.Float64()
		}
		s, counts := begin(t, c), make([]culprit.Count, len(c.Prior)+1)
		for i := range counts {
			counts[i] = culprit.Count{Failed: r.IntN(5), Passed: r.IntN(5)}
			observe(t, s, i, counts[i].Failed, counts[i].Passed)
		}
		got, want := all(s.Posterior()), bruteForce(c, counts)
		for k := range want {
			if math.Abs(got[k]-want[k]) > 2e-4 {
				t.Errorf("%+v: got %.5f, want %.5f", counts, got, want)
				break
			}
		}
	}
}

// TestAccept_AL7_InformationAsByBruteForce: the expected information is that between the answer and what a step shows.
func TestAccept_AL7_InformationAsByBruteForce(t *testing.T) {
	t.Parallel()
	observed := []culprit.Count{{Passed: 3}, {}, {Failed: 1, Passed: 2}, {}, {Failed: 4}}
	after := func(more map[int]culprit.Count) *culprit.Search {
		s := begin(t, culprit.Config{Prior: []float64{1, 2, 3, 1}, Most: 2})
		for i, c := range observed {
			c.Failed, c.Passed = c.Failed+more[i].Failed, c.Passed+more[i].Passed
			observe(t, s, i, c.Failed, c.Passed)
		}
		return s
	}
	entropy := func(p []float64) (bits float64) {
		for _, x := range p {
			if x > 0 {
				bits -= x * math.Log2(x)
			}
		}
		return bits
	}
	s := after(nil)
	now := all(s.Posterior())
	for commit := range observed {
		// The costs leave this commit alone to be run, once.
		step, ok := s.Next(func(i int) culprit.Costs {
			if i == commit {
				return culprit.Costs{Run: 1}
			}
			return culprit.Costs{Build: 1e12, Run: 1e12}
		})
		if !ok || step.Commit != commit || step.Runs != 1 {
			t.Fatalf("commit %d: got %+v, %v", commit, step, ok)
		}
		// What is expected after a run is what is believed before it: this gives the probability that the run fails.
		failed, passed := all(after(map[int]culprit.Count{commit: {Failed: 1}}).Posterior()), all(after(map[int]culprit.Count{commit: {Passed: 1}}).Posterior())
		widest := 0
		for k := range now {
			if math.Abs(failed[k]-passed[k]) > math.Abs(failed[widest]-passed[widest]) {
				widest = k
			}
		}
		p := (now[widest] - passed[widest]) / (failed[widest] - passed[widest])
		for k := range now {
			if math.Abs(p*failed[k]+(1-p)*passed[k]-now[k]) > 1e-9 {
				t.Errorf("commit %d: no probability %v of a failure explains %v by %v and %v", commit, p, now, failed, passed)
			}
		}
		if want := entropy(now) - p*entropy(failed) - (1-p)*entropy(passed); math.Abs(step.Information-want) > 1e-9 {
			t.Errorf("commit %d: got %v bits, want %v", commit, step.Information, want)
		}
	}
}

// outcome is one observation of a random history.
type outcome struct {
	commit         int
	failed, passed int
}

// random gives a search with what was observed. In a third of the seeds the outcomes follow no rule.
func random(t *testing.T, seed uint64) (culprit.Config, []outcome, *rand.Rand) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	c := culprit.Config{Prior: make([]float64, 1+r.IntN(6))}
	for i := range c.Prior {
		c.Prior[i] = r.ExpFloat64() + 0.01
	}
	low, high := r.Float64()*r.Float64(), r.Float64()
	at, list := r.IntN(len(c.Prior)+2), []outcome{}
	for range r.IntN(25) {
		o, rate := outcome{commit: r.IntN(len(c.Prior) + 1)}, low
		if o.commit >= at {
			rate = high
		}
		if seed%3 == 0 {
			rate = r.Float64()
		}
		for range 1 + r.IntN(3) {
			if r.Float64() < rate {
				o.failed++
			} else {
				o.passed++
			}
		}
		list = append(list, o)
	}
	return c, list, r
}

func search(t *testing.T, c culprit.Config, list []outcome) *culprit.Search {
	t.Helper()
	s := begin(t, c)
	for _, o := range list {
		observe(t, s, o.commit, o.failed, o.passed)
	}
	return s
}

func TestAccept_AL7_OrderOfOutcomesDoesNotMatter(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		c, list, r := random(t, seed)
		want := all(search(t, c, list).Posterior())
		var single []outcome
		for _, o := range list {
			single = append(single, slices.Repeat([]outcome{{o.commit, 1, 0}}, o.failed)...)
			single = append(single, slices.Repeat([]outcome{{o.commit, 0, 1}}, o.passed)...)
		}
		r.Shuffle(len(single), func(i, j int) { single[i], single[j] = single[j], single[i] })
		if got := all(search(t, c, single).Posterior()); !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
	}
}

// TestAccept_AL7_FailuresNeverPointLater: a failing run moves nothing to later commits, a passing one nothing to this commit and earlier ones.
func TestAccept_AL7_FailuresNeverPointLater(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		c, list, r := random(t, seed)
		commit := r.IntN(len(c.Prior) + 1)
		later := func(list []outcome) (sum float64) {
			for _, p := range all(search(t, c, list).Posterior())[commit+1:] {
				sum += p
			}
			return sum
		}
		now := later(list)
		failed, passed := later(append(slices.Clone(list), outcome{commit, 1, 0})), later(append(slices.Clone(list), outcome{commit, 0, 1}))
		if failed > now+1e-12 || passed < now-1e-12 {
			t.Fatalf("seed %d: later than commit %d: %v; after one more failure %v, after one more pass %v", seed, commit, now, failed, passed)
		}
	}
}

// TestAccept_AL7_UnbuildableCommitsStaySpread: what can't be run is told from nothing, and shares the probability by its prior.
func TestAccept_AL7_UnbuildableCommitsStaySpread(t *testing.T) {
	t.Parallel()
	s := begin(t, culprit.Config{Prior: []float64{1, 1, 3, 2, 1}})
	for _, skipped := range []int{2, 3} {
		must.Do(t, s.Skip(skipped))
	}
	observe(t, s, 1, 0, 20)
	observe(t, s, 4, 20, 0)
	p := s.Posterior().Commits
	if got := s.Suspects(); got.First != 2 || got.Last != 4 || got.Probability < 0.99 || !s.Found() {
		t.Errorf("got %+v of %v", got, p)
	}
	if math.Abs(p[2]/p[1]-3) > 1e-9 || math.Abs(p[3]/p[1]-2) > 1e-9 {
		t.Errorf("the posterior %v is not spread by the prior", p)
	}
	free := func(int) culprit.Costs { return culprit.Costs{Run: 1} }
	if step, ok := s.Next(free); ok && (step.Commit == 2 || step.Commit == 3) {
		t.Errorf("%+v is of a commit that can't be run", step)
	}
	for _, skipped := range []int{0, 1, 4, 5} {
		must.Do(t, s.Skip(skipped))
	}
	if step, ok := s.Next(free); ok {
		t.Errorf("%+v where nothing can be run", step)
	}
}

// TestNextWeighsBuildsAndRuns: a first step halves what is left; with a dear build it has several runs, and with one that is dear everywhere
// else it stays where the build is.
func TestNextWeighsBuildsAndRuns(t *testing.T) {
	t.Parallel()
	s := begin(t, culprit.Config{Prior: even(64)})
	observe(t, s, 0, 0, 5)
	observe(t, s, 64, 5, 0)
	if step, ok := s.Next(func(int) culprit.Costs { return culprit.Costs{Run: 1} }); !ok || step.Commit < 31 || step.Commit > 33 || step.Runs != 1 {
		t.Errorf("cheap builds: got %+v", step)
	}
	if step, ok := s.Next(func(int) culprit.Costs { return culprit.Costs{Build: 100, Run: 0.01} }); !ok || step.Runs < 2 {
		t.Errorf("dear builds: got %+v", step)
	}
	if step, ok := s.Next(func(i int) culprit.Costs {
		if i == 20 {
			return culprit.Costs{Run: 1}
		}
		return culprit.Costs{Build: 100, Run: 1}
	}); !ok || step.Commit != 20 {
		t.Errorf("commit 20 is built: got %+v", step)
	}
}

func TestNewAndObserveRejectWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config culprit.Config
		want   string
	}{
		{culprit.Config{}, "0 commits"},
		{culprit.Config{Prior: []float64{1, 0}}, "prior weight 0 of commit 2"},
		{culprit.Config{Prior: []float64{math.NaN()}}, "prior weight NaN"},
		{culprit.Config{Prior: []float64{math.Inf(1)}}, "prior weight +Inf"},
		{culprit.Config{Prior: even(2), Outside: 1}, "no commit is the culprit"},
		{culprit.Config{Prior: even(2), Stop: 0.4}, "to stop at"},
		{culprit.Config{Prior: even(2), Most: -1}, "runs at most"},
		{culprit.Config{Prior: even(2), Before: culprit.Rates{}}, "before the culprit: 0 components"},
		{culprit.Config{Prior: even(2), After: culprit.Rates{{Weight: 1, A: 0, B: 1}}}, "from the culprit: Beta(0, 1)"},
	} {
		if _, err := culprit.New(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	s := begin(t, culprit.Config{Prior: even(2)})
	for _, err := range []error{
		s.Observe(3, culprit.Count{}), s.Observe(-1, culprit.Count{}), s.Observe(1, culprit.Count{Failed: -1}),
		s.Observe(1, culprit.Count{Failed: math.MaxInt32}), s.Skip(3), s.Skip(-1),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
	if got := fmt.Sprint(s.Counts()); got != "[{0 0} {0 0} {0 0}]" {
		t.Errorf("the counts are %s", got)
	}
}
