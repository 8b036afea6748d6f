package dockets_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// How well a reader may do who looks at nothing but paths, harness lines and durations. Chance is 0.25. The first is the
// upper end of a one-sided 99% interval of its accuracy; a leak that tells one case in five would lift the accuracy itself
// to 0.40. The second is how many of the permutations, with the causes shuffled within each module, must do as well.
const (
	leakBound    = 0.32
	leakP        = 0.02
	permutations = 200
)

// TestDocketsDoNotLeakTheCause reads the dockets as somebody does who looks for what tells the cause by accident: naive Bayes
// over paths, harness lines and durations, each module read with what was learned from the others.
func TestDocketsDoNotLeakTheCause(t *testing.T) {
	t.Parallel()
	r := readSurface(large(t))
	right := r.crossValidate(r.causes)
	bound, p := upperBound(right, len(r.causes)), r.permutationP(right)
	t.Logf("%d of %d right, 99%% bound %.3f, p %.3f", right, len(r.causes), bound, p)
	if bound > leakBound || p < leakP {
		t.Errorf("paths, harness lines and durations alone tell the cause of %d of %d cases: the 99%% bound is %.3f (at most %.2f), "+
			"p against shuffled causes %.3f (at least %.2f)", right, len(r.causes), bound, leakBound, p, leakP)
	}
}

// TestPlantedLeaksAreFound holds that the test above would fail if the cause did leak: the same reader on the same cases,
// with a leak in one case of three.
func TestPlantedLeaksAreFound(t *testing.T) {
	t.Parallel()
	plants := map[string]func(cause, text string) string{
		"path": func(cause, text string) string { return text + "see /src/build-" + cause + "/log.txt\n" },
		"harness line": func(cause, text string) string {
			return text + strings.Repeat("=== CONT  Test\n", 1+slices.Index(gotest.Labels(), cause))
		},
		"duration": func(cause, text string) string {
			took := []string{"0.11s", "1.70s", "41.00s", "600.10s"}[slices.Index(gotest.Labels(), cause)]
			return duration.ReplaceAllString(text, "${1}("+took+")")
		},
	}
	for name, plant := range plants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 1))
			all := large(t)
			for i := range all {
				if rng.IntN(3) == 0 {
					text := &all[i].Case.Documents[0].Text
					*text = plant(all[i].Truth.Classification, *text)
				}
			}
			r := readSurface(all)
			right := r.crossValidate(r.causes)
			if bound, p := upperBound(right, len(all)), r.permutationP(right); bound <= leakBound && p >= leakP {
				t.Errorf("it is not found: the bound is %.3f, p is %.3f", bound, p)
			}
		})
	}
}

var (
	absolute = regexp.MustCompile(`(?:/[\w.@+-]+)+`)
	harness  = regexp.MustCompile(`^( *)(--- (?:FAIL|PASS|SKIP): |=== \w+|FAIL\b|ok\b|exit status|\[\.\.\. )`)
	duration = regexp.MustCompile(`(?m)^( *--- \w+: .* )\(([0-9.]+)s\)$`)
	digits   = regexp.MustCompile(`[0-9]+`)
)

// surface gives the words that a case has beside the failure's own: the folders of its paths, those in stacks too, the
// lines that the harness prints and how often, the durations by their size.
func surface(e docket.Entry) []string {
	text := e.Case.Documents[0].Text
	seen := map[string]bool{}
	count := map[string]int{}
	for line := range strings.Lines(text) {
		if found := harness.FindStringSubmatch(line); found != nil {
			count["harness "+strconv.Itoa(len(found[1]))+" "+found[2]]++
		}
		for _, path := range absolute.FindAllString(line, -1) {
			folder := path[:strings.LastIndexByte(path, '/')+1]
			folder = strings.ReplaceAll(folder, e.Case.Group, "module")
			for part := range strings.SplitSeq(folder, "/") {
				seen["folder "+digits.ReplaceAllString(part, "0")] = true
			}
		}
	}
	for line, n := range count {
		seen[line+" "+strconv.Itoa(min(n, 5))] = true
	}
	for _, found := range duration.FindAllStringSubmatch(text, -1) {
		seconds, _ := strconv.ParseFloat(found[2], 64)
		seen["duration "+strconv.Itoa(int(math.Round(2*math.Log2(seconds+0.01))))] = true
	}
	return slices.Collect(maps.Keys(seen))
}

// surfaces are the words of all cases by number, and the cases of each module.
type surfaces struct {
	words      [][]int
	causes     []int
	modules    map[string][]int
	vocabulary int
}

func readSurface(all []docket.Entry) *surfaces {
	r := &surfaces{modules: map[string][]int{}}
	ids := map[string]int{}
	for i, e := range all {
		var words []int
		for _, word := range surface(e) {
			if _, known := ids[word]; !known {
				ids[word] = len(ids)
			}
			words = append(words, ids[word])
		}
		r.words = append(r.words, words)
		r.causes = append(r.causes, slices.Index(gotest.Labels(), e.Truth.Classification))
		r.modules[e.Case.Group] = append(r.modules[e.Case.Group], i)
	}
	r.vocabulary = len(ids)
	return r
}

// tally counts cases and words by cause.
type tally struct {
	cases [4]float64
	words [][4]float64
}

func (r *surfaces) count(causes, cases []int, t *tally, weight float64) {
	for _, i := range cases {
		t.cases[causes[i]] += weight
		for _, w := range r.words[i] {
			t.words[w][causes[i]] += weight
		}
	}
}

// crossValidate says how many cases naive Bayes over the words gets right, each module read with what the others teach.
// That a word is there speaks, and that it isn't.
func (r *surfaces) crossValidate(causes []int) (right int) {
	t := &tally{words: make([][4]float64, r.vocabulary)}
	for _, cases := range r.modules {
		r.count(causes, cases, t, 1)
	}
	for _, cases := range r.modules {
		r.count(causes, cases, t, -1)
		var base [4]float64
		there := make([][4]float64, r.vocabulary)
		for c, n := range t.cases {
			base[c] = math.Log(n + 1)
			for w := range there {
				p := (t.words[w][c] + 0.5) / (n + 1)
				base[c] += math.Log(1 - p)
				there[w][c] = math.Log(p) - math.Log(1-p)
			}
		}
		for _, i := range cases {
			score := base
			for _, w := range r.words[i] {
				for c := range score {
					score[c] += there[w][c]
				}
			}
			if slices.Index(score[:], slices.Max(score[:])) == causes[i] {
				right++
			}
		}
		r.count(causes, cases, t, 1)
	}
	return right
}

// permutationP is the share of permutations of the causes, within each module, that are told as well as the real ones.
func (r *surfaces) permutationP(right int) float64 {
	rng := rand.New(rand.NewPCG(7, 7))
	names := slices.Sorted(maps.Keys(r.modules))
	asWell := 1
	for range permutations {
		causes := slices.Clone(r.causes)
		for _, name := range names {
			cases := r.modules[name]
			rng.Shuffle(len(cases), func(i, j int) {
				causes[cases[i]], causes[cases[j]] = causes[cases[j]], causes[cases[i]]
			})
		}
		if r.crossValidate(causes) >= right {
			asWell++
		}
	}
	return float64(asWell) / (permutations + 1)
}

// upperBound is the upper end of Wilson's one-sided 99% interval of a share.
func upperBound(right, of int) float64 {
	const z = 2.326
	n, p := float64(of), float64(right)/float64(of)
	return (p + z*z/(2*n) + z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))) / (1 + z*z/n)
}
