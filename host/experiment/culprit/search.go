// Package culprit finds the commit that broke a test, also where runs of the test are noisy and some commits can't be built. [Search] is the
// search by itself, and [Find] drives it: it asks a [Runner] for runs, which may be a laboratory or saved outcomes. [Line] is
// the commits of a git repository, each run in a laboratory of its own, with a prior from what they touch.
//
// The search keeps a posterior over the commits. Under each of them, the test fails at one rate before the commit and at a higher one
// from it on; both rates are unknown and have Beta distributions, over which the likelihood of all runs is integrated exactly. The next
// run is the one with the most expected information per second.
package culprit

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Config says what is known before a search.
type Config struct {
	// Prior has a weight for each commit, from the first one after the base to head: how probable it is, relative to the others, that it is
	// the culprit. All are positive.
	Prior []float64
	// Outside is the probability that none of the commits is the culprit, shared by the two ways in which that may be. Default: 0.02.
	Outside float64
	// Before and After are the failure rates before the culprit and from it on. The first one is lower in any case. Default: most tests
	// never fail before, and always from then on.
	Before, After Rates
	// Stop is the probability at which a culprit is found. Default: 0.95.
	Stop float64
	// Most is the most runs of a step. Default: 8.
	Most int
}

const (
	defaultOutside = 0.02
	defaultStop    = 0.95
	defaultMost    = 8
	// MaxCommits is the most commits that are searched.
	MaxCommits = 1 << 16
	maxRuns    = 1 << 20 // of all commits
)

func (c *Config) setDefaults() error {
	if c.Outside == 0 {
		c.Outside = defaultOutside
	}
	if c.Stop == 0 {
		c.Stop = defaultStop
	}
	if c.Most == 0 {
		c.Most = defaultMost
	}
	if c.Before == nil {
		c.Before = usualBefore
	}
	if c.After == nil {
		c.After = usualAfter
	}
	switch {
	case len(c.Prior) == 0 || len(c.Prior) > MaxCommits:
		return fmt.Errorf("%d commits: expected 1 to %d", len(c.Prior), MaxCommits)
	case !(c.Outside > 0 && c.Outside < 1):
		return fmt.Errorf("probability %v that no commit is the culprit: expected more than 0 and less than 1", c.Outside)
	case !(c.Stop > 0.5 && c.Stop < 1):
		return fmt.Errorf("probability %v to stop at: expected more than 0.5 and less than 1", c.Stop)
	case c.Most < 1:
		return fmt.Errorf("%d runs at most in a step: expected a positive number", c.Most)
	}
	for i, w := range c.Prior {
		if !(w > 0) || w > math.MaxFloat64/float64(len(c.Prior)) {
			return fmt.Errorf("prior weight %v of commit %d: expected a positive number", w, i+1)
		}
	}
	return nil
}

// Costs is what runs take, in seconds or any other unit.
type Costs struct {
	// Build is what a commit takes before its first run, and Run what a run takes then.
	Build, Run float64
}

// Search is a search for the first commit with which a test fails more often. Commits have the numbers 1 to n, oldest first; 0 is the base.
// Not safe for concurrent use.
type Search struct {
	config  Config
	model   *model
	prior   []float64 // logarithms: of the base and before, of each commit, and of none
	counts  []Count   // of the base and each commit
	skipped []bool
	runs    int
}

// New begins a search. It rejects what the fields of the config don't allow.
func New(config Config) (*Search, error) {
	if err := config.setDefaults(); err != nil {
		return nil, err
	}
	m, err := newModel(config.Before, config.After)
	if err != nil {
		return nil, err
	}
	n, sum := len(config.Prior), 0.0
	for _, w := range config.Prior {
		sum += w
	}
	s := &Search{config: config, model: m, prior: make([]float64, n+2), counts: make([]Count, n+1), skipped: make([]bool, n+1)}
	s.prior[0], s.prior[n+1] = math.Log(config.Outside/2), math.Log(config.Outside/2)
	for i, w := range config.Prior {
		s.prior[i+1] = math.Log(w) - math.Log(sum) + math.Log1p(-config.Outside)
	}
	return s, nil
}

// Observe adds runs of a commit, or of the base.
func (s *Search) Observe(commit int, c Count) error {
	switch {
	case commit < 0 || commit >= len(s.counts):
		return fmt.Errorf("commit %d: there are %d", commit, len(s.counts)-1)
	case min(c.Failed, c.Passed) < 0 || c.runs() > maxRuns-s.runs:
		return fmt.Errorf("commit %d: %d runs failed and %d passed: expected no negative numbers, and at most %d runs in all", commit, c.Failed, c.Passed, maxRuns)
	}
	s.counts[commit] = s.counts[commit].plus(c)
	s.runs += c.runs()
	return nil
}

// Skip says that a commit, or the base, can't be run. Unless it was run before, nothing then tells it from the next commit that can.
func (s *Search) Skip(commit int) error {
	if commit < 0 || commit >= len(s.counts) {
		return fmt.Errorf("commit %d: there are %d", commit, len(s.counts)-1)
	}
	s.skipped[commit] = true
	return nil
}

// Posterior says how probable each answer is. The sum of all is 1.
type Posterior struct {
	// Before: the test fails at the base already, at the rate of head.
	Before float64
	// Commits are the probabilities that the commits are the culprit, that of commit 1 first.
	Commits []float64
	// None: the test fails nowhere more often than at the base.
	None float64
}

// Posterior gives the probabilities after all runs so far.
func (s *Search) Posterior() Posterior {
	p := s.posterior()
	n := len(p) - 2
	return Posterior{Before: p[0], Commits: p[1 : n+1 : n+1], None: p[n+1]}
}

// sides gives, for each answer, the runs before the culprit and those from it on.
func (s *Search) sides() (before, after []Count) {
	before, after = make([]Count, len(s.prior)), make([]Count, len(s.prior))
	for k, c := range s.counts {
		before[k+1] = before[k].plus(c)
	}
	for k := len(s.counts) - 1; k >= 0; k-- {
		after[k] = after[k+1].plus(s.counts[k])
	}
	return before, after
}

func (s *Search) posterior() []float64 {
	before, after := s.sides()
	p, most := make([]float64, len(s.prior)), math.Inf(-1)
	for k := range p {
		p[k] = s.prior[k] + s.model.marginal(before[k], after[k])
		most = max(most, p[k])
	}
	sum := 0.0
	for k := range p {
		p[k] = math.Exp(p[k] - most)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// Suspects are the commits First to Last, of which one is the culprit with a probability. There are several where all but the last can't be run.
// First is 0 where the test may fail at the base already, and then Last is, too, if it is certain that no commit is the culprit. Both are
// n+1 where the test fails nowhere more often than at the base.
type Suspects struct {
	First, Last int
	Probability float64
}

// Suspects are the most probable ones.
func (s *Search) Suspects() Suspects {
	p := s.posterior()
	best := Suspects{Probability: -1}
	for first := 0; first < len(p); {
		group := Suspects{first, first, p[first]}
		for group.Last < len(s.skipped) && s.skipped[group.Last] && s.counts[group.Last].runs() == 0 {
			group.Last++
			group.Probability += p[group.Last]
		}
		if group.Probability > best.Probability {
			best = group
		}
		first = group.Last + 1
	}
	best.Probability = min(best.Probability, 1)
	return best
}

// Differ is the probability that a parent and its child fail at different rates, the child more often, from runs of these two alone. Equal
// rates are those before the culprit or those from it on; each of the three is as probable before.
func (s *Search) Differ(parent, child Count) float64 {
	differ, both := s.model.marginal(parent, child), parent.plus(child)
	equal := logSum(s.model.marginal(both, Count{}), s.model.marginal(Count{}, both))
	return math.Exp(differ - logSum(differ, equal))
}

// Found says whether the most probable suspects are as probable as the config asks.
func (s *Search) Found() bool { return s.Suspects().Probability >= s.config.Stop }

// Step is runs of one commit.
type Step struct {
	Commit, Runs int
	// Information is what the runs are expected to tell of the culprit, in bits.
	Information float64
}

// leastBits is the least that runs must be expected to tell.
const leastBits = 1e-9

// Next gives the step with the most expected information per cost, and false if no run tells anything. costs gives what runs of a commit
// take; they must be positive.
func (s *Search) Next(costs func(commit int) Costs) (Step, bool) {
	p := s.posterior()
	before, after := s.sides()
	now := make([]float64, len(p))
	for k := range p {
		now[k] = s.model.marginal(before[k], after[k])
	}
	var best Step
	most := 0.0
	for _, runs := range sizes(s.config.Most) {
		bits := s.information(p, now, before, after, runs)
		for i := range s.counts {
			if s.skipped[i] || bits[i] < leastBits {
				continue
			}
			c := costs(i)
			if rate := bits[i] / (c.Build + float64(runs)*c.Run); rate > most {
				best, most = Step{i, runs, bits[i]}, rate
			}
		}
	}
	return best, best.Runs > 0
}

// sizes are the numbers of runs that a step may have.
func sizes(most int) []int {
	var list []int
	for n := 1; n < most; n += max(1, n/2) {
		list = append(list, n)
	}
	return append(list, most)
}

// information gives, for the base and each commit, the bits that a number of runs are expected to tell.
func (s *Search) information(p, now []float64, before, after []Count, runs int) []float64 {
	bits := make([]float64, len(s.counts))
	// Of how many fail: the probability where the runs are before the culprit (early) and from it on (late), and its entropy.
	early, late := make([][]float64, runs+1), make([][]float64, runs+1)
	for failed := range early {
		c := Count{failed, runs - failed}
		ways := s.model.choose(runs, failed)
		e, l := make([]float64, len(p)), make([]float64, len(p))
		for k := range p {
			if k > 0 && before[k] == before[k-1] { // nothing tells these two apart so far
				e[k], l[k] = e[k-1], l[k-1]
				continue
			}
			e[k] = math.Exp(ways + s.model.marginal(before[k].plus(c), after[k]) - now[k])
			l[k] = math.Exp(ways + s.model.marginal(before[k], after[k].plus(c)) - now[k])
		}
		early[failed], late[failed] = e, l
	}
	for failed := range early {
		// Of commit i, the answers k <= i have it late, the others early.
		sum, known := 0.0, 0.0
		for k := range p {
			sum += p[k] * early[failed][k]
			known += p[k] * entropy(early[failed][k])
		}
		for i := range bits {
			sum += p[i] * (late[failed][i] - early[failed][i])
			known += p[i] * (entropy(late[failed][i]) - entropy(early[failed][i]))
			bits[i] += entropy(sum) - known
		}
	}
	for i := range bits {
		bits[i] = max(bits[i], 0)
	}
	return bits
}

func entropy(p float64) float64 {
	if p <= 0 {
		return 0
	}
	return -p * math.Log2(p)
}

// Counts are the runs so far: of the base, and of each commit.
func (s *Search) Counts() []Count { return slices.Clone(s.counts) }

// Count is how often a test failed and passed.
type Count struct{ Failed, Passed int }

func (c Count) plus(d Count) Count { return Count{c.Failed + d.Failed, c.Passed + d.Passed} }

func (c Count) runs() int { return c.Failed + c.Passed }

// Component is a Beta distribution of a failure rate, with the share of tests that it describes. A is one more than the failures, and B one
// more than the passes, that it is worth; both are at least 1, so that its density has one peak.
type Component struct {
	Weight float64
	A, B   int
}

// Rates is a mixture of Beta distributions. Weights are relative.
type Rates []Component

// The usual rates: before the culprit most tests never fail, and from it on most always do.
var (
	usualBefore = Rates{{0.7, 1, 200}, {0.3, 1, 3}}
	usualAfter  = Rates{{0.9, 200, 1}, {0.1, 2, 1}}
)

const (
	maxComponents = 8
	maxParameter  = 1000
	maxKnown      = 1 << 16 // marginals that are remembered
)

func (r Rates) check(what string) error {
	if len(r) == 0 || len(r) > maxComponents {
		return fmt.Errorf("rates %s the culprit: %d components, expected 1 to %d", what, len(r), maxComponents)
	}
	for _, c := range r {
		if !(c.Weight > 0) || math.IsInf(c.Weight, 0) || min(c.A, c.B) < 1 || max(c.A, c.B) > maxParameter {
			return fmt.Errorf("rates %s the culprit: Beta(%d, %d) with weight %v: expected parameters from 1 to %d and a positive weight", what, c.A, c.B, c.Weight, maxParameter)
		}
	}
	return nil
}

// model has a failure rate before the culprit and a higher one from it on. It gives exact marginal likelihoods of counts, under mixtures
// of Beta distributions of which the first rate is lower than the second.
type model struct {
	before, after Rates
	factorials    []float64 // logarithms
	known         map[[2]Count]float64
}

func newModel(before, after Rates) (*model, error) {
	if err := errors.Join(before.check("before"), after.check("from")); err != nil {
		return nil, err
	}
	return &model{before: before, after: after, known: map[[2]Count]float64{}}, nil
}

// marginal is the logarithm of the probability that runs before the culprit, and runs from it on, came out as they did, but for a constant.
func (m *model) marginal(before, after Count) float64 {
	key := [2]Count{before, after}
	if p, ok := m.known[key]; ok {
		return p
	}
	total := math.Inf(-1)
	for _, x := range m.before {
		for _, y := range m.after {
			p := math.Log(x.Weight) - m.beta(x.A, x.B) + math.Log(y.Weight) - m.beta(y.A, y.B) +
				m.ordered(x.A+before.Failed, x.B+before.Passed, y.A+after.Failed, y.B+after.Passed)
			total = logSum(total, p)
		}
	}
	if len(m.known) >= maxKnown {
		clear(m.known)
	}
	m.known[key] = total
	return total
}

// ordered is the logarithm of the integral of x^(a-1) (1-x)^(b-1) y^(c-1) (1-y)^(d-1) over 0 < x < y < 1.
func (m *model) ordered(a, b, c, d int) float64 {
	const most = 0.9 // of the whole may be subtracted without a loss of precision
	if min(a, d) < min(b, c) {
		whole := m.beta(a, b) + m.beta(c, d)
		if other := math.Exp(m.sum(c, d, a, b) - whole); other < most {
			return whole + math.Log1p(-other)
		}
	}
	return m.sum(a, b, c, d)
}

// sum is the same as ordered. For whole parameters it is a sum of positive terms: that of the tail of one Beta distribution as a binomial one,
// integrated over the other.
func (m *model) sum(a, b, c, d int) float64 {
	if b < c { // the same integral of 1-y < 1-x has fewer terms
		a, b, c, d = d, c, b, a
	}
	// The sum over i < c of C(d+i-1, i) B(a+i, b+d), relative to its first term.
	const large = 1e200
	term, sum, scale := 1.0, 1.0, 0.0
	for i := range c - 1 {
		term *= float64(d+i) / float64(i+1) * float64(a+i) / float64(a+b+d+i)
		if sum += term; sum > large {
			term, sum, scale = term/large, sum/large, scale+math.Log(large)
		}
	}
	return m.beta(a, b+d) + m.beta(c, d) + math.Log(sum) + scale
}

// beta is the logarithm of the Beta function.
func (m *model) beta(a, b int) float64 {
	return m.factorial(a-1) + m.factorial(b-1) - m.factorial(a+b-1)
}

func (m *model) factorial(n int) float64 {
	if m.factorials == nil {
		m.factorials = []float64{0}
	}
	for len(m.factorials) <= n {
		m.factorials = append(m.factorials, m.factorials[len(m.factorials)-1]+math.Log(float64(len(m.factorials))))
	}
	return m.factorials[n]
}

// choose is the logarithm of the number of ways to choose k of n.
func (m *model) choose(n, k int) float64 { return m.factorial(n) - m.factorial(k) - m.factorial(n-k) }

// logSum is the logarithm of the sum of what two logarithms stand for.
func logSum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
