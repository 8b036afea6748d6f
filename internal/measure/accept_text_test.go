package measure

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// pairsOfHalves are the real dockets, one half to fit on and one to try; in the long tier the other way, too.
func pairsOfHalves(t *testing.T) []halves {
	t.Helper()
	var list []halves
	for _, name := range [][2]string{{"sentiment-fit", "sentiment-test"}, {"go-fit-1", "go-test-1"}, {"banking-1", "banking-2"}, {"domains-1", "domains-2"}} {
		one, other := read(t, name[0]), read(t, name[1])
		list = append(list, halves{name[0], one, other})
		if tier.Whole() {
			list = append(list, halves{name[1], other, one})
		}
	}
	return list
}

// On all halves together the court is level with a logistic regression with TF-IDF: not behind by more than one point. Every second case is tried; with
// the long tier each.
func TestAccept_QU4_LevelWithLogisticRegressionWithTFIDF(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure", "abi/odds")
	step, least := 2, 700
	if tier.Whole() {
		step, least = 1, 2800
	}
	court, regression, tried := 0, 0, 0
	for _, h := range pairsOfHalves(t) {
		p, other := h.profile(t), fitPeer(h.fitted)
		for _, x := range trials(t, p, every(h.tried, step)) {
			if x.Result.Activated {
				court += one(x.Result.Final.Classification == x.Truth.Classification)
				regression += one(other.answer(&x.Case) == x.Truth.Classification)
				tried++
			}
		}
	}
	t.Logf("of %d cases the court is right in %d, the logistic regression in %d", tried, court, regression)
	if tried < least || rate(court-regression, tried) < -0.01 {
		t.Errorf("the court is right in %d of %d, the regression in %d", court, tried, regression)
	}
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
	all := shape("issue texts").Docket(31, 260)
	p, _ := written(t, Fit, all[:250])
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
