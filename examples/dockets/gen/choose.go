package main

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// kindShare is the most of a cause's cases in a half that one kind of fault may give.
const kindShare = 0.15

// choose takes the same number of cases of every cause from each half. No kind of fault gives more than a part of its
// cause, and modules take turns.
func choose(c config, h *harvest) []labelled {
	var chosen []labelled
	for _, half := range []string{fitHalf, testHalf} {
		lists := map[string][]labelled{}
		for _, l := range h.cases {
			if l.module.half == half {
				lists[l.cause()] = append(lists[l.cause()], l)
			}
		}
		for cause, list := range lists {
			lists[cause] = byTurn(c.seed, list)
		}
		share := len(h.cases)
		for _, cause := range causes() {
			for len(limitKinds(lists[cause], share)) < share {
				share--
			}
		}
		for _, cause := range causes() {
			chosen = append(chosen, limitKinds(lists[cause], share)...)
		}
	}
	return chosen
}

// limitKinds takes up to n cases of one cause in turn, none of a kind beyond its share.
func limitKinds(list []labelled, n int) []labelled {
	most := max(3, int(kindShare*float64(n)))
	kinds := map[string]int{}
	var taken []labelled
	for _, l := range list {
		if kind := l.attempt.Fault.Kind; kinds[kind] < most && len(taken) < n {
			kinds[kind]++
			taken = append(taken, l)
		}
	}
	return taken
}

// byTurn puts first one case of each module, drawn by the seed, then the second, and so on.
func byTurn(seed uint64, list []labelled) []labelled {
	rng := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // chosen, not secret
	list = append([]labelled(nil), list...)
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
	list = list[:0]
	for _, round := range rounds {
		list = append(list, round...)
	}
	return list
}

var numbers = regexp.MustCompile(`[0-9]+`)

// likeness is a log without its numbers and the name of its package.
func likeness(pkg, log string) string {
	text := strings.Join(strings.Fields(strings.ReplaceAll(log, pkg, "")), " ")
	return numbers.ReplaceAllString(text, "0")
}
