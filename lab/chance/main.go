// Command chance compares rules that tell a flaky test from one that fails more often since a change, by the counts of runs alone.
//
//	go run ./chance -tables tables/chance
//
// No outcome is drawn: how often a rule closes is computed for each pair of rates of failure, over all steps of a ladder of runs. A false
// alibi is that it closes after any step for a pair that differs materially, as if one stopped there.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

func main() {
	folder := flag.String("tables", "", "folder for the tables as CSV; else they are printed")
	flag.Parse()
	err := errors.New("takes flags alone")
	if flag.NArg() == 0 {
		err = study.Save(*folder, []study.Table{{Name: "rules", Text: compared()}, {Name: "grid", Text: wholeGrid()}}, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chance:", err)
		os.Exit(1)
	}
}

// pair is how often a test fails in runs of head and of the base.
type pair struct{ head, base float64 }

// leastHead is the rate from which head differs materially from a base that fails at times: its odds are four times the base's, and its rate
// is 0.2 higher.
func leastHead(base float64) float64 { return max(4*base/(1+3*base), base+0.2) }

// boundary are pairs that just differ materially: any other material pair is farther from equal rates than one of them.
func boundary() (list []pair) {
	for percent := 1; percent <= 80; percent++ {
		base := float64(percent) / 100
		list = append(list, pair{min(leastHead(base), 1), base})
	}
	return list
}

// grid are the pairs of 14 rates of head and 12 of the base.
func grid() (list []pair) {
	for _, base := range []float64{0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8} {
		for _, head := range []float64{0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1} {
			list = append(list, pair{head, base})
		}
	}
	return list
}

// material says whether head fails materially more often.
func (p pair) material() bool { return p.base == 0 || p.base <= 0.8 && p.head >= leastHead(p.base) }

// counts are the runs of both trees that failed, and all of them.
type counts struct{ head, ofHead, base, ofBase int }

// ladder is how the runs of both trees grow, without the failures.
type ladder struct {
	name  string
	steps []counts
}

func ladders() []ladder {
	singly := ladder{name: "a run of each"}
	for n := 1; n <= 100; n++ {
		singly.steps = append(singly.steps, counts{ofHead: n, ofBase: n})
	}
	early := ladder{name: "5, 20, 100 and 2, 5, 20, 100"}
	for _, n := range [][2]int{{5, 2}, {5, 5}, {20, 5}, {20, 20}, {100, 20}, {100, 100}} {
		early.steps = append(early.steps, counts{ofHead: n[0], ofBase: n[1]})
	}
	return []ladder{singly, early, *court()}
}

// rule says whether counts show that the rates don't differ materially. All rules want a failure of the base.
type rule struct {
	name   string
	closes func(counts) bool
}

func rules() []rule {
	return []rule{
		{"the base failed, too", func(counts) bool { return true }},
		{"e-value beyond 100", func(c counts) bool {
			return evenMean(c)-material(c) >= math.Log(100)
		}},
		{"likelihood ratio beyond 4.63", func(c counts) bool { return evenMost(c)-material(c) >= 4.63 }},
		byRuns(307), byRuns(240),
	}
}

// byRuns wants the more of the likelihood ratio the fewer runs there are: what is spent on early answers is missing later.
func byRuns(nats float64) rule {
	return rule{fmt.Sprintf("likelihood ratio beyond %v by the runs of the tree that has fewer", nats), func(c counts) bool {
		return evenMost(c)-material(c) >= nats/float64(min(c.ofHead, c.ofBase))
	}}
}

// times is n·log p, and nothing for no runs.
func times(n int, p float64) float64 {
	if n == 0 {
		return 0
	}
	return float64(n) * math.Log(p)
}

// likelihood of counts at a pair, in nats.
func (c counts) likelihood(p pair) float64 {
	return times(c.head, p.head) + times(c.ofHead-c.head, 1-p.head) + times(c.base, p.base) + times(c.ofBase-c.base, 1-p.base)
}

// evenMost is the likelihood of the equal rates that fit best.
func evenMost(c counts) float64 {
	rate := float64(c.head+c.base) / float64(c.ofHead+c.ofBase)
	return c.likelihood(pair{rate, rate})
}

// evenMean is the likelihood of equal rates in the mean of Jeffreys' prior.
func evenMean(c counts) float64 {
	beta := func(a, b float64) float64 {
		x, _ := math.Lgamma(a)
		y, _ := math.Lgamma(b)
		z, _ := math.Lgamma(a + b)
		return x + y - z
	}
	failed, all := float64(c.head+c.base), float64(c.ofHead+c.ofBase)
	return beta(failed+0.5, all-failed+0.5) - beta(0.5, 0.5)
}

// material is the likelihood of the material pair that fits best: of the rates themselves, or of one on the boundary.
func material(c counts) float64 {
	own := pair{float64(c.head) / float64(c.ofHead), float64(c.base) / float64(c.ofBase)}
	if own.base <= 0.8 && own.head >= leastHead(own.base) {
		return c.likelihood(own)
	}
	const points = 400
	most := math.Inf(-1)
	for i := range points {
		base := 0.8 * (float64(i) + 0.5) / points
		most = max(most, c.likelihood(pair{leastHead(base), base}))
	}
	return most
}

// decided is how often a rule closes by the end of a ladder, and how many runs there are then in the mean.
func (l *ladder) decided(closed [][][]bool, p pair) (share, runs float64) {
	end := l.steps[len(l.steps)-1]
	now := make([][]float64, end.ofHead+1) // how probable failures are, where the rule is open
	for i := range now {
		now[i] = make([]float64, end.ofBase+1)
	}
	now[0][0] = 1
	before, left := counts{}, 1.0
	for at, s := range l.steps {
		runs += left * float64(s.ofHead-before.ofHead+s.ofBase-before.ofBase)
		for n := before.ofHead; n < s.ofHead; n++ {
			for h := n + 1; h >= 0; h-- {
				for b := range before.ofBase + 1 {
					now[h][b] *= 1 - p.head
					if h > 0 {
						now[h][b] += now[h-1][b] * p.head
					}
				}
			}
		}
		for n := before.ofBase; n < s.ofBase; n++ {
			for h := range s.ofHead + 1 {
				for b := n + 1; b >= 0; b-- {
					now[h][b] *= 1 - p.base
					if b > 0 {
						now[h][b] += now[h][b-1] * p.base
					}
				}
			}
		}
		for h := range closed[at] {
			for b := range closed[at][h] {
				if closed[at][h][b] {
					share += now[h][b]
					left -= now[h][b]
					now[h][b] = 0
				}
			}
		}
		before = s
	}
	return share, runs
}

// closings says for each step and all failures of both trees whether a rule closes.
func (l *ladder) closings(r *rule) [][][]bool {
	list := make([][][]bool, len(l.steps))
	for at, s := range l.steps {
		list[at] = make([][]bool, s.ofHead+1)
		for h := range list[at] {
			list[at][h] = make([]bool, s.ofBase+1)
			for b := 1; b <= s.ofBase; b++ {
				list[at][h][b] = r.closes(counts{h, s.ofHead, b, s.ofBase})
			}
		}
	}
	return list
}

// outcome is what comes of a rule on a ladder: the most false alibis, the least that is decided where the rates are equal and from 0.1 to
// 0.5, and the most runs for that in the mean.
type outcome struct{ boundary, grid, decided, runs float64 }

func try(r *rule, l *ladder) outcome {
	closed := l.closings(r)
	most := func(pairs []pair) (most float64) {
		for _, p := range pairs {
			if p.material() {
				share, _ := l.decided(closed, p)
				most = max(most, share)
			}
		}
		return most
	}
	o := outcome{boundary: most(boundary()), grid: most(grid()), decided: 1}
	for percent := 10; percent <= 50; percent += 5 {
		share, runs := l.decided(closed, pair{float64(percent) / 100, float64(percent) / 100})
		o.decided, o.runs = min(o.decided, share), max(o.runs, runs)
	}
	return o
}

func compared() string {
	var text strings.Builder
	text.WriteString("| rule | runs here and on the base | most false alibis | in the grid | least decided | most runs in the mean |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, r := range rules() {
		for _, l := range ladders() {
			o := try(&r, &l)
			fmt.Fprintf(&text, "| %s | %s | %.2f%% | %.2f%% | %.1f%% | %.0f |\n", r.name, l.name, 100*o.boundary, 100*o.grid, 100*o.decided, o.runs)
		}
	}
	return text.String()
}
