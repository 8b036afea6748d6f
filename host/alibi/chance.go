package alibi

import (
	"fmt"
	"math"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Counts are runs of head and of the base in one setting, and how many of them failed.
type Counts struct{ Head, OfHead, Base, OfBase int }

// Closed is the lock of chance: it says whether head fails materially more often than the base with a probability of at most maxFalse, whatever
// the rates are, if it is asked after the steps of runs in host/experiment/plan. Materially more often means four times the odds and a rate that is
// 0.2 higher. The study lab/chance computes how often the lock closes by mistake. Where the base failed in every run, the bound is for bases that fail
// in half of their runs.
func (c Counts) Closed(maxFalse float64) bool {
	const nats = 240.0 // by the runs of the tree that has fewer, for MaxFalse
	switch {
	case c.Base == 0 || c.OfHead == 0:
		return false
	case c.Base == c.OfBase && float64(c.OfBase)*math.Ln2 >= -math.Log(maxFalse):
		return true
	}
	return c.even()-c.material() >= nats/float64(min(c.OfHead, c.OfBase))*math.Log(maxFalse)/math.Log(MaxFalse)
}

// Higher says whether the runs alone tell that head fails more often, at twice the odds.
func (c Counts) Higher() bool {
	if c.OfHead == 0 || c.OfBase == 0 {
		return false
	}
	head, base := c.rates()
	return head > base && head >= 2*base/(1+base) && c.likelihood(head, base)-c.even() >= -math.Log(1-byRuns)
}

// rises says whether head fails more often, by what chance does once in twelve times at equal rates.
func (c Counts) rises() bool {
	if c.OfHead == 0 || c.OfBase == 0 {
		return false
	}
	head, base := c.rates()
	return head > base && c.likelihood(head, base)-c.even() >= 1
}

// byRuns is how sure an answer is that runs alone give.
const byRuns = 0.999

func (c Counts) rates() (head, base float64) {
	return float64(c.Head) / float64(c.OfHead), float64(c.Base) / float64(c.OfBase)
}

// likelihood of the counts at two rates, in nats.
func (c Counts) likelihood(head, base float64) float64 {
	return times(c.Head, head) + times(c.OfHead-c.Head, 1-head) + times(c.Base, base) + times(c.OfBase-c.Base, 1-base)
}

// times is n·log p, and 0 for no runs.
func times(n int, p float64) float64 {
	if n == 0 {
		return 0
	}
	return float64(n) * math.Log(p)
}

// even is the likelihood of the equal rates that fit best.
func (c Counts) even() float64 {
	rate := float64(c.Head+c.Base) / float64(c.OfHead+c.OfBase)
	return c.likelihood(rate, rate)
}

// material is the likelihood of the materially different rates that fit best: those of the runs, or rates that just differ so.
func (c Counts) material() float64 {
	least := func(base float64) float64 { return max(4*base/(1+3*base), base+0.2) }
	if head, base := c.rates(); base <= 0.8 && head >= least(base) {
		return c.likelihood(head, base)
	}
	const points = 400
	most := math.Inf(-1)
	for i := range points {
		base := 0.8 * (float64(i) + 0.5) / points
		most = max(most, c.likelihood(least(base), base))
	}
	return most
}

// wilson is Wilson's interval of a rate, z standard deviations wide.
func wilson(failed, all int, z float64) (low, high float64) {
	n := float64(all)
	rate := float64(failed) / n
	middle, half := rate+z*z/(2*n), z*math.Sqrt(rate*(1-rate)/n+z*z/(4*n*n))
	return (middle - half) / (1 + z*z/n), (middle + half) / (1 + z*z/n)
}

// difference is Newcombe's interval of 95% for how much higher head's rate is.
func (c Counts) difference() (low, high float64) {
	const z = 1.96
	head, base := c.rates()
	headLow, headHigh := wilson(c.Head, c.OfHead, z)
	baseLow, baseHigh := wilson(c.Base, c.OfBase, z)
	return head - base - math.Hypot(head-headLow, baseHigh-base), head - base + math.Hypot(headHigh-head, base-baseLow)
}

// most bounds at 99% how many times as often head fails as the base, which must have failed, by the intervals of both rates.
func (c Counts) most() float64 {
	const z = 2.576
	head, base := c.rates()
	_, high := wilson(c.Head, c.OfHead, z)
	low, _ := wilson(c.Base, c.OfBase, z)
	product := head * base
	return (product + math.Sqrt(max(product*product-high*low*(2*head-high)*(2*base-low), 0))) / (low * (2*base - low))
}

// more says how many further runs would tell, if they fail as often as those before.
func (c Counts) more(maxFalse float64) string {
	if c.OfHead == 0 {
		return moreTime
	}
	grown := func(failed, all, to int) int { return int(math.Round(float64(failed) * float64(to) / float64(all))) }
	for _, n := range []int{7, 20, 50, 100, 200, 500, 1000} {
		s := Counts{OfHead: max(n, c.OfHead), OfBase: max(n, c.OfBase)}
		s.Head, s.Base = grown(c.Head, c.OfHead, s.OfHead), grown(c.Base, c.OfBase, s.OfBase)
		if s.Closed(maxFalse) || s.Higher() {
			return fmt.Sprintf("some %d more runs would tell", s.OfHead+s.OfBase-c.OfHead-c.OfBase)
		}
	}
	return "a thousand runs of each tree would not tell"
}

// setting is what a rate of failure depends on beside the tree.
type setting struct {
	environment abi.RunEnvironment
	order       abi.RunOrder
}

// alone and around are the settings of a test that is run by itself, and with the tests around it.
var alone, around = setting{abi.OriginalEnvironment, abi.Alone}, setting{abi.OriginalEnvironment, abi.OriginalOrder}

// settings are all of them; the first in which head fails as reported is the one that a case is about.
func settings() []setting {
	return []setting{
		alone, around, {abi.StarvedEnvironment, abi.Alone}, {abi.CleanEnvironment, abi.Alone},
	}
}

func (s setting) words() string {
	switch {
	case s.order == abi.OriginalOrder:
		return " with the tests around it"
	case s.environment == abi.StarvedEnvironment:
		return " with little processor time"
	case s.environment == abi.CleanEnvironment:
		return " in a clean environment"
	default:
		return ""
	}
}

// sides are the runs of head and of the base in one setting.
type sides struct{ head, base tally }

// reported counts failures like the reported one, and failing counts all.
func (s *sides) reported() Counts {
	return Counts{s.head.same, s.head.all(), s.base.same, s.base.all()}
}

func (s *sides) failing() Counts {
	return Counts{s.head.failed(), s.head.all(), s.base.failed(), s.base.all()}
}

// fewer is the tree that has fewer runs.
func (s *sides) fewer() abi.TreeRevision {
	if s.head.all() < s.base.all() {
		return abi.Head
	}
	return abi.Base
}

// closed wants that neither the reported failure nor failure at all is more frequent since the change.
func (s *sides) closed(maxFalse float64) bool {
	return s.reported().Closed(maxFalse) && s.failing().Closed(maxFalse)
}

// chance is the state of the lock of chance.
type chance struct {
	higher, closed bool
	// about is the setting that the lock is about, with its runs; nil where head did not fail as reported in any.
	about *sides
	setting
	fewer abi.TreeRevision // where it is open, the tree that is to be run next
}

// chance looks at each setting in which head failed as reported. In the first one the lock has to be closed; in the others the base has to have failed,
// too, unless it fails always and was not run there. Where it passes with the tests around it, head has to be run with them, and where head then seems to
// fail more often, the lock has to be closed there, too. What does not build has no chance.
func (c *seen) chance(maxFalse float64) (l chance) {
	always := false
	for _, at := range settings() {
		s := c.in[at]
		if s != nil && at == around && l.closed && s.head.all() == 0 && s.base.passed > 0 && s.base.failed() == 0 {
			return chance{about: s, setting: at, fewer: abi.Head}
		}
		if s == nil || s.head.same == 0 {
			continue
		}
		if s.reported().Higher() && s.failing().Higher() {
			return chance{higher: true, about: s, setting: at}
		}
		switch {
		case l.about == nil:
			l = chance{about: s, setting: at, fewer: s.fewer(), closed: s.closed(maxFalse) || c.unbuilt && s.base.same > 0}
			if always = s.base.same == s.base.all(); always {
				l.fewer = abi.Base
			}
		case l.closed && (s.base.same == 0 && (!always || s.base.passed > 0) || at == around && s.failing().rises() && !s.closed(maxFalse)):
			l = chance{about: s, setting: at, fewer: s.fewer()}
		}
	}
	l.closed = l.closed && !c.contradicted
	return l
}

// failsAlone says whether a test that builds fails each time that it is run alone, here and on the base.
func (c *seen) failsAlone() bool {
	s := c.in[alone]
	return s != nil && !c.unbuilt && s.head.passed+s.base.passed == 0 && s.head.same > 0 && s.base.same > 0
}

// bound says how much more often head may fail where the lock is closed; empty for what has no chance.
func (l *chance) bound(c *seen) string {
	if c.unbuilt {
		return ""
	}
	return fmt.Sprintf("; at most %.1f times as often as before", math.Ceil(10*l.about.reported().most())/10)
}

// counted are the runs of the setting that the lock is about.
func (l *chance) counted() string {
	n := l.about.reported()
	return fmt.Sprintf("%s here%s, %s on the base", Tally{n.Head, n.OfHead - n.Head}.Words(), l.words(), Tally{n.Base, n.OfBase - n.Base}.Words())
}

// missed says what the runs of an open lock show.
func (l *chance) missed() string {
	n := l.about.reported()
	if n.OfHead == 0 {
		return l.counted() + "; run alone, it fails there"
	}
	low, high := n.difference()
	return fmt.Sprintf("%s: the rate changed by %+.0f to %+.0f points (95%%), and a material rise is not excluded at 99%%", l.counted(), 100*low, 100*high)
}
