package main

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The most of a cause's cases in a half that one kind of fault and one module may give.
const (
	kindShare   = 0.15
	moduleShare = 0.15
)

// choose takes the same number of cases of every cause from each half, of each look as many: what the harness prints beside
// the failure's own words and which folders it names are then as frequent in one cause as in the other. No kind of fault
// and no module gives more than a part of its cause, and modules take turns.
func choose(c config, h *harvest) []labelled {
	var chosen []labelled
	for _, half := range []string{fitHalf, testHalf} {
		looks := map[string]map[string][]labelled{}
		for _, cause := range causes() {
			list := slices.DeleteFunc(slices.Clone(h.cases), func(l labelled) bool { return l.module.half != half || l.cause() != cause })
			for _, l := range limitShares(byTurn(c.seed, list)) {
				key := look(l.log())
				if looks[key] == nil {
					looks[key] = map[string][]labelled{}
				}
				looks[key][cause] = append(looks[key][cause], l)
			}
		}
		chosen = append(chosen, alike(looks)...)
	}
	return chosen
}

// alike takes of each look the same number of cases of every cause.
func alike(looks map[string]map[string][]labelled) (taken []labelled) {
	for _, byCause := range looks {
		share := len(byCause[systemIssue])
		for _, cause := range causes() {
			share = min(share, len(byCause[cause]))
		}
		for _, cause := range causes() {
			taken = append(taken, byCause[cause][:share]...)
		}
	}
	return taken
}

// limitShares leaves out what is beyond the share of a kind of fault or of a module.
func limitShares(list []labelled) []labelled {
	mostOfKind, mostOfModule := max(4, int(kindShare*float64(len(list)))), max(4, int(moduleShare*float64(len(list))))
	kinds, ofModule := map[string]int{}, map[string]int{}
	return slices.DeleteFunc(list, func(l labelled) bool {
		kind := l.attempt.Fault.Kind
		if kinds[kind] == mostOfKind || ofModule[l.module.path] == mostOfModule {
			return true
		}
		kinds[kind]++
		ofModule[l.module.path]++
		return false
	})
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
	pathInText  = regexp.MustCompile(`(?:^|[\s"'=(\[])/(tmp|src|home|etc|usr|dev|proc|var)/`)
)

// look tells how a log looks to somebody who doesn't read it: how many lines the harness printed and how deep the test is
// nested, and the folders that the text names outside of stacks.
func look(log string) string {
	lines := harnessLine.FindAllStringSubmatch(log, -1)
	depth := -1
	if len(lines) > 0 {
		depth = len(lines[0][1])
	}
	folders := map[string]bool{}
	for line := range strings.Lines(log) {
		if isFrame(line) {
			continue
		}
		for _, found := range pathInText.FindAllStringSubmatch(line, -1) {
			folders[found[1]] = true
		}
	}
	key := []string{strconv.Itoa(min(len(lines), 2)), strconv.Itoa(min(depth, 4))}
	if folders["tmp"] || folders["src"] {
		key = append(key, "folders")
	}
	return strings.Join(key, " ")
}

// isFrame says whether a line is of a stack, which is the failure's own word.
func isFrame(line string) bool {
	return strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "created by ")
}

// likeness is a log without its numbers and the name of its package.
func likeness(pkg, log string) string {
	text := strings.Join(strings.Fields(strings.ReplaceAll(log, pkg, "")), " ")
	return numbers.ReplaceAllString(text, "0")
}
