package measure

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// strangers draws cases in which sources speak that no other case has, right in such a share and surer than that. Nothing can be learned of
// them, but by how much they are too sure.
func strangers(n int, right float64, seed uint64) []docket.Entry {
	r := rand.New(rand.NewPCG(seed, 8))
	labels := []string{"bug", "flaky", "outage"}
	list := make([]docket.Entry, n)
	for i := range list {
		truth := r.IntN(len(labels))
		said := func() string {
			if r.Float64() < right {
				return labels[truth]
			}
			return labels[(truth+1+r.IntN(len(labels)-1))%len(labels)]
		}
		c := &list[i].Case
		*c = abi.Case{ID: fmt.Sprint("case-", i), Subject: "A run", Labels: labels}
		c.Light = &abi.LightAnswer{Classification: labels[r.IntN(len(labels))], Confidence: 0.6}
		for k := range 4 {
			c.Evidence = append(c.Evidence, abi.Evidence{SourceRef: fmt.Sprintf("stranger-%d-%d", i, k), Content: words(r), RelevanceConfidence: 0.9, Supports: said()})
		}
		list[i].Truth = &trial.Truth{Classification: labels[truth]}
	}
	return list
}

// words are three that no other item has.
func words(r *rand.Rand) string {
	var list []string
	for range 3 {
		word := make([]byte, 8)
		for i := range word {
			word[i] = 'a' + byte(r.IntN(26))
		}
		list = append(list, string(word))
	}
	return strings.Join(list, " ")
}

// Sources that speak once can't be measured, however right they are: a profile would bound them in other cases, as sources that it doesn't know.
func TestAccept_QU3_AProfileThatForgetsItsSourcesIsNotTaken(t *testing.T) {
	t.Parallel()
	p, report := written(t, Fit, strangers(300, 0.95, 6))
	if report.Learned || len(p.Sources) > 0 || report.Figures[0].Accuracy < report.Figures[1].Accuracy {
		t.Errorf("learned %v, %d sources, figures %+v", report.Learned, len(p.Sources), report.Figures)
	}
}
