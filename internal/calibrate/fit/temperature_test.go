package fit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
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

// Where nothing can be learned of the sources, and the court tells labels apart all the same, the profile says how sure it may be.
func TestAccept_QU3_ACourtThatIsTooSureIsMadeLessSure(t *testing.T) {
	t.Parallel()
	p, report := written(t, fit.Fit, strangers(300, 0.5, 1))
	if report.Learned || p.Temperature == nil || *p.Temperature < 1.5 || len(p.Sources)+len(p.Signals)+len(p.BaseRates) > 0 || p.Light != nil {
		t.Fatalf("learned %v, profile %+v", report.Learned, p)
	}
	tried := strangers(300, 0.5, 2)
	with, without := trials(t, p, tried), trials(t, nil, tried)
	named, stated, before, right := 0.0, 0.0, 0.0, 0.0
	for i := range with {
		now, then := &with[i].Result.Final, &without[i].Result.Final
		if now.Classification == "" || then.Classification == "" {
			continue // left open
		}
		if now.Classification != then.Classification {
			t.Errorf("%s: %s, without a profile %s", tried[i].Case.ID, now.Classification, then.Classification)
		}
		named, stated, before, right = named+1, stated+now.Confidence, before+then.Confidence, right+float64(one(now.Classification == tried[i].Truth.Classification))
	}
	t.Logf("of %v answers %.3f are right; stated %.3f, without a profile %.3f; temperature %v", named, right/named, stated/named, before/named, *p.Temperature)
	if named < 200 || stated/named > right/named+0.05 || before/named < right/named+0.15 {
		t.Error("the court is still too sure, or never was")
	}
}

// Sources that speak once can't be measured, however right they are: a profile would bound them in other cases, as sources that it doesn't know.
func TestAccept_QU3_AProfileThatForgetsItsSourcesIsNotTaken(t *testing.T) {
	t.Parallel()
	p, report := written(t, fit.Fit, strangers(300, 0.95, 6))
	if report.Learned || len(p.Sources) > 0 || report.Figures[0].Accuracy < report.Figures[1].Accuracy {
		t.Errorf("learned %v, %d sources, figures %+v", report.Learned, len(p.Sources), report.Figures)
	}
}

// A court that is as sure as it should be is left alone, and so is one whose labels are dealt out by chance.
func TestNoTemperatureWithoutNeed(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]docket.Entry{
		"as sure as it should be": strangers(300, 0.86, 3),
		"shuffled labels":         shuffled(strangers(300, 0.5, 4), 4),
	} {
		p, report := written(t, fit.Fit, list)
		if p.Temperature != nil && *p.Temperature > 1.25 || name == "shuffled labels" && (report.Learned || p.Temperature != nil) {
			t.Errorf("%s: learned %v, temperature %v", name, report.Learned, p.Temperature)
		}
	}
}
