package measure

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// shuffled deals the truths out anew.
func shuffled(entries []docket.Entry, seed uint64) []docket.Entry {
	list, truths := slices.Clone(entries), make([]*trial.Truth, len(entries))
	for i := range entries {
		truths[i] = entries[i].Truth
	}
	r := rand.New(rand.NewPCG(seed, 6))
	r.Shuffle(len(truths), func(i, j int) { truths[i], truths[j] = truths[j], truths[i] })
	for i := range list {
		list[i].Truth = truths[i]
	}
	return list
}

// some draws n cases.
func some(entries []docket.Entry, n int, seed uint64) []docket.Entry {
	list := slices.Clone(entries)
	r := rand.New(rand.NewPCG(seed, 7))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:n]
}

// verdicts are what trials came to, a line each.
func verdicts(list []*trial.Trial) []string {
	var out []string
	for _, x := range list {
		out = append(out, fmt.Sprint(x.Case.ID, x.Result.Activated, x.Result.Path, x.Result.Final))
	}
	return out
}

// On shuffled labels nothing can be learned. The profile says so and changes nothing.
func TestAccept_QU3_ShuffledLabelsTeachNothing(t *testing.T) {
	t.Parallel()
	const shuffles = 2
	for _, h := range trusted(t) {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			lost, tried := 0.0, false
			for seed := range uint64(shuffles) {
				p, report := written(t, Fit, shuffled(h.fitted, seed))
				lost += (rightBy(nil, h.tried) - rightBy(p, h.tried)) / shuffles
				if report.Learned || tried {
					continue
				}
				tried = true
				if got, want := verdicts(trials(t, p, h.tried)), verdicts(trials(t, nil, h.tried)); !reflect.DeepEqual(got, want) {
					t.Errorf("a profile that learned nothing changes verdicts:\n%s\nwithout it\n%s", strings.Join(got[:5], "\n"), strings.Join(want[:5], "\n"))
				}
			}
			if !tried {
				t.Errorf("something was learned from each of %d shuffles", shuffles)
			}
			if lost > 0.02 {
				t.Errorf("shuffled labels cost %.3f on average", lost)
			}
		})
	}
}

// Real failures of Go tests: few groups, and even labels, so that the court without a profile is the best that base rates can be
// compared with on shuffled labels too. In the long tier there are more shuffles.
func TestAccept_QU3_ShuffledLabelsOfFewGroupsTeachNothing(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure", "abi/odds")
	shuffles := uint64(2)
	if tier.Whole() {
		shuffles = 20
	}
	goFit, goTest := read(t, "go-fit-1"), read(t, "go-test-1")
	for _, h := range []halves{{"go-fit-1", goFit, goTest}, {"go-test-1", goTest, goFit}} {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			lost, learned := 0.0, 0
			for seed := range shuffles {
				p, report := written(t, Fit, shuffled(h.fitted, 100+seed))
				lost += (rightBy(nil, h.tried) - rightBy(p, h.tried)) / float64(shuffles)
				learned += one(report.Learned)
			}
			t.Logf("learned from %d of %d shuffles, which cost %.3f on average", learned, shuffles, lost)
			if lost > 0.02 {
				t.Errorf("shuffled labels cost %.3f on average", lost)
			}
		})
	}
}

// rightBy is the share of cases in which the court's model is right, by a profile or without one.
func rightBy(p *abi.Profile, entries []docket.Entry) float64 {
	if p == nil {
		p = &abi.Profile{Name: "none"}
	}
	m, n := NewModel(p), 0
	for i := range entries {
		n += one(top(m, &entries[i].Case) == entries[i].Truth.Classification)
	}
	return rate(n, len(entries))
}

// Few labels are never worse than none by more than noise: twenty, in the long tier also 50 and 100. Nor are 50 or 100 that are
// shuffled; of twenty, some shuffles look like the truth.
func TestAccept_QU3_TwentyLabelsCostNothing(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure", "abi/odds")
	const draws = 8
	sizes := []int{20}
	if tier.Whole() {
		sizes = append(sizes, 50, 100)
	}
	for _, h := range trusted(t) {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			without := rightBy(nil, h.tried)
			for _, n := range sizes {
				with, noise, learned, fooled := 0.0, 0.0, 0, 0
				for seed := range uint64(draws) {
					drawn := some(h.fitted, n, seed)
					p, report := written(t, Fit, drawn)
					with, learned = with+rightBy(p, h.tried)/draws, learned+one(report.Learned)
					p, report = written(t, Fit, shuffled(drawn, seed))
					noise, fooled = noise+rightBy(p, h.tried)/draws, fooled+one(report.Learned)
				}
				t.Logf("%d labels: learned in %d of %d draws, right in %.3f; shuffled learned in %d, right in %.3f; %.3f without a profile", n, learned, draws, with, fooled, noise, without)
				if with < without-0.02 || n > LeastCases && noise < without-0.02 {
					t.Errorf("with %d labels right in %.3f, shuffled %.3f, without a profile in %.3f", n, with, noise, without)
				}
			}
		})
	}
}
