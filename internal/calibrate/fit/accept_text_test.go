package fit_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// bothWays are two halves, each fitted once and tried once; in the quick tier the first is fitted and the second tried.
func bothWays(t *testing.T, name, one, other string) []halves {
	t.Helper()
	a, b := read(t, one), read(t, other)
	list := []halves{{name, a, b}, {name + ", the other way", b, a}}
	if !tier.Whole() {
		return list[:1]
	}
	return list
}

// tuned are the halves that were looked at when the learners were chosen; the intents took no part in that.
func tuned(t *testing.T) []halves {
	t.Helper()
	return append(bothWays(t, "sentiment", "sentiment-fit", "sentiment-test"), bothWays(t, "go", "go-fit-1", "go-test-1")...)
}

func intents(t *testing.T) []halves {
	t.Helper()
	return append(bothWays(t, "banking", "banking-1", "banking-2"), bothWays(t, "domains", "domains-1", "domains-2")...)
}

// On all halves together the court is level with a logistic regression with TF-IDF: not behind by more than one point. Every second case is tried; with
// the long tier each.
func TestAccept_QU4_LevelWithLogisticRegressionWithTFIDF(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/calibrate", "abi/odds")
	step, least := 2, 700
	if tier.Whole() {
		step, least = 1, 2800
	}
	var m match
	play := func(list []halves) {
		for _, h := range list {
			p, rule := h.profile(t), peer(h.fitted)
			for _, x := range trials(t, p, every(h.tried, step)) {
				if x.Result.Activated {
					m.add(h.name, &docket.Entry{Case: x.Case, Truth: x.Truth}, x.Result.Final.Classification, rule)
				}
			}
		}
	}
	play(append(tuned(t), intents(t)...))
	if mean, _ := m.ahead(t); mean < -0.01 {
		t.Error("the court is behind by more than one point")
	}
	if m.tried < least {
		t.Fatalf("only %d cases were tried", m.tried)
	}
}

// The regression trusts texts however many answers a made-up one turns. A court that does is not behind it by more than a standard error.
func TestAccept_QU4_LevelWithLogisticRegressionThatTrustsTextsAsMuch(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/calibrate", "abi/odds")
	var m match
	for _, h := range tuned(t) {
		result, err := fit.Fit(t.Context(), h.fitted, fit.Config{Seed: 1, Workers: 2, TrustText: true})
		if err != nil {
			t.Fatal(err)
		}
		model, rule := fit.NewModel(result.Profile), peer(h.fitted)
		for i := range h.tried {
			m.add(h.name, &h.tried[i], top(model, &h.tried[i].Case), rule)
		}
	}
	if mean, deviation := m.ahead(t); mean < -deviation {
		t.Error("the court is behind by more than a standard error")
	}
}

// match counts right answers of the court and of a rule.
type match struct {
	court, rule, tried int
	gaps               map[string][]float64 // by group
}

func (m *match) add(name string, e *docket.Entry, answer string, by rule) {
	mine, its := one(answer == e.Truth.Classification), one(by(votersOf(e)) == e.Truth.Classification)
	m.court, m.rule, m.tried = m.court+mine, m.rule+its, m.tried+1
	if m.gaps == nil {
		m.gaps = map[string][]float64{}
	}
	group := name + " " + cmp.Or(e.Case.Group, e.Case.ID)
	m.gaps[group] = append(m.gaps[group], float64(mine-its))
}

func (m *match) ahead(t *testing.T) (mean, deviation float64) {
	t.Helper()
	mean, deviation = meanOfGroups(m.gaps)
	t.Logf("of %d cases the court is right in %d, the logistic regression in %d: %+.1f points, standard error %.1f", m.tried, m.court, m.rule, 100*mean, 100*deviation)
	return mean, deviation
}

// meanOfGroups gives the mean of all figures and its standard error, by the sums of the groups, which are independent.
func meanOfGroups(groups map[string][]float64) (mean, deviation float64) {
	n := 0.0
	for _, list := range groups {
		for _, x := range list {
			mean, n = mean+x, n+1
		}
	}
	mean /= n
	for _, list := range groups {
		sum := 0.0
		for _, x := range list {
			sum += x - mean
		}
		deviation += sum * sum
	}
	return mean, math.Sqrt(deviation) / n
}

func every(entries []docket.Entry, step int) []docket.Entry {
	var list []docket.Entry
	for i := 0; i < len(entries); i += step {
		list = append(list, entries[i])
	}
	return list
}

// A transcript names the words of the profile that stand in the documents, each with the label that it speaks for.
func TestAccept_QU4_TheTranscriptSaysWhichWordsSpeakForWhichLabel(t *testing.T) {
	t.Parallel()
	all := shape(t, "issue texts").Docket(31, 260)
	p, _ := written(t, fit.Fit, all[:250])
	several := 0
	for _, x := range trials(t, p, all[250:]) {
		if len(x.Passes) == 0 || x.Passes[0].Discovery == nil {
			continue
		}
		for _, f := range x.Passes[0].Discovery.Findings {
			words := signalsIn(p, f.Observation)
			for _, s := range words {
				if label := spokenFor(s, x.Case.Labels); len(words) > 1 && label != "" && !strings.Contains(f.Observation, "\""+s.Phrase+"\" (once, for "+label+")") &&
					!strings.Contains(f.Observation, " times, for "+label+")") {
					t.Errorf("%q does not say that %q is for %s", f.Observation, s.Phrase, label)
				}
			}
			several += one(len(words) > 1)
		}
	}
	if several < 5 {
		t.Errorf("only %d findings have several signals", several)
	}
}

func signalsIn(p *abi.Profile, observation string) []*abi.Signal {
	var list []*abi.Signal
	for i := range p.Signals {
		if strings.Contains(observation, "\""+p.Signals[i].Phrase+"\"") {
			list = append(list, &p.Signals[i])
		}
	}
	return list
}

// spokenFor is the label that a signal favours.
func spokenFor(s *abi.Signal, labels []string) string {
	most, label := 0.0, ""
	for _, w := range s.Weights {
		if w.Weight > most && slices.Contains(labels, w.Label) {
			most, label = w.Weight, w.Label
		}
	}
	return label
}
