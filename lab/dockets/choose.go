package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// greatestShare is the most of a cause's cases in a half that one kind of fault or one module may give, as a part of those
// that all could give.
const greatestShare = 0.15

// choose takes the same number of cases of every cause from each half, of each look as many: what the harness prints beside
// the failure's own words, and stacks with their paths, are then as frequent in one cause as in the other. No kind of fault
// and no module gives more than a part of its cause, and modules take turns.
func choose(c config, h *harvest) (chosen []labelled) {
	for _, half := range []string{fitHalf, testHalf} {
		looks := map[string]map[string][]labelled{}
		byCause := map[string][]labelled{}
		for _, l := range h.cases {
			if l.module.half == half {
				byCause[l.cause()] = append(byCause[l.cause()], l)
			}
		}
		taker := newTaker()
		taker.limit(byCause)
		for _, cause := range causes() {
			for _, l := range byTurn(c.seed, byCause[cause]) {
				key := look(l.log())
				if looks[key] == nil {
					looks[key] = map[string][]labelled{}
				}
				looks[key][cause] = append(looks[key][cause], l)
			}
		}
		for _, key := range rarestFirst(looks) {
			chosen = append(chosen, taker.alike(looks[key])...)
		}
	}
	return chosen
}

// rarestFirst orders the looks by how many cases they can give of every cause: an attempt that could be of several looks
// goes to the one that has few.
func rarestFirst(looks map[string]map[string][]labelled) []string {
	return slices.SortedFunc(maps.Keys(looks), func(a, b string) int {
		return cmp.Or(fewest(looks[a])-fewest(looks[b]), strings.Compare(a, b))
	})
}

func fewest(byCause map[string][]labelled) int {
	n := len(byCause[systemIssue])
	for _, cause := range causes() {
		n = min(n, len(byCause[cause]))
	}
	return n
}

// taker takes cases and holds the limits of what was taken: of an attempt, of one log, of a kind of fault, of a module.
type taker struct {
	attempts map[*attempt]int
	logs     map[string]bool
	shares   map[string]int // by cause, and kind or module
	most     int
}

func newTaker() *taker {
	return &taker{attempts: map[*attempt]int{}, logs: map[string]bool{}, shares: map[string]int{}}
}

// limit sets the shares after the cause of which there are fewest cases.
func (t *taker) limit(byCause map[string][]labelled) {
	fewestPossible := math.MaxInt
	for _, list := range byCause {
		attempts := map[*attempt]int{}
		possible := 0
		for _, l := range list {
			if attempts[l.attempt] < casesOf(l.attempt) {
				attempts[l.attempt]++
				possible++
			}
		}
		fewestPossible = min(fewestPossible, possible)
	}
	t.most = max(5, int(greatestShare*float64(fewestPossible)))
}

// alike takes the same number of cases of every cause.
func (t *taker) alike(byCause map[string][]labelled) (taken []labelled) {
	share := fewest(byCause)
	for {
		trial := &taker{maps.Clone(t.attempts), maps.Clone(t.logs), maps.Clone(t.shares), t.most}
		possible := share
		for _, cause := range causes() {
			possible = min(possible, len(trial.take(byCause[cause], share)))
		}
		if possible == share {
			break
		}
		share = possible
	}
	for _, cause := range causes() {
		taken = append(taken, t.take(byCause[cause], share)...)
	}
	return taken
}

// take takes up to n cases of one cause.
func (t *taker) take(list []labelled, n int) (taken []labelled) {
	for _, l := range list {
		kind, from := l.cause()+" "+l.attempt.Fault.Kind, l.cause()+" "+l.module.path
		log := l.module.path + likeness(l.module.pkg(), l.log())
		full := t.shares[kind] >= t.most || t.shares[from] >= t.most
		if len(taken) == n || full || t.logs[log] || t.attempts[l.attempt] == casesOf(l.attempt) {
			continue
		}
		t.attempts[l.attempt]++
		t.shares[kind]++
		t.shares[from]++
		t.logs[log] = true
		taken = append(taken, l)
	}
	return taken
}

// byTurn puts first one case of each module, drawn by the seed, then the second, and so on.
func byTurn(seed uint64, list []labelled) []labelled {
	rng := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // chosen, not secret
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	turns := map[string]int{}
	var rounds [][]labelled
	for _, l := range list {
		n := turns[l.module.path]
		turns[l.module.path]++
		if n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], l)
	}
	return slices.Concat(rounds...)
}

var (
	numbers     = regexp.MustCompile(`[0-9]+`)
	harnessLine = regexp.MustCompile(`(?m)^( *)--- \w+: `)
)

// look tells how a log looks to somebody who doesn't read it: how many lines the harness printed, how deep the test is
// nested, whether there is a stack.
func look(log string) string {
	lines := harnessLine.FindAllStringSubmatch(log, -1)
	depth := -1
	if len(lines) > 0 {
		depth = len(lines[0][1])
	}
	return fmt.Sprintf("%d lines, depth %d, stack %v", min(len(lines), 2), min(depth, 4), frame.MatchString(log))
}

// likeness is a log without its numbers and the name of its package.
func likeness(pkg, log string) string {
	text := strings.Join(strings.Fields(strings.ReplaceAll(log, pkg, "")), " ")
	return numbers.ReplaceAllString(text, "0")
}
