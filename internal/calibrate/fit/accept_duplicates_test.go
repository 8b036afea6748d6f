package fit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
)

// replicated has each case several times, under other ids and without groups; change may alter each.
func replicated(entries []docket.Entry, times int, change func(e *docket.Entry, time int)) []docket.Entry {
	var list []docket.Entry
	for i := range entries {
		for time := range times {
			e := entries[i]
			e.Case.Group, e.Case.Documents = "", slices.Clone(e.Case.Documents)
			e.Case.ID = fmt.Sprintf("%s-%d", e.Case.ID, time)
			if change != nil {
				change(&e, time)
			}
			list = append(list, e)
		}
	}
	return list
}

// Replicated cases are found, told, and don't flatter the figures.
func TestAccept_QU7_NearDuplicatesAreFoundAndTold(t *testing.T) {
	t.Parallel()
	witnesses, texts := shape(t, "independent witnesses").Docket(31, 100), shape(t, "issue texts").Docket(32, 60)
	for name, tc := range map[string]struct {
		entries []docket.Entry
		want    int
	}{
		"witnesses as they are":    {witnesses, 0},
		"texts as they are":        {texts, 0},
		"witnesses four times":     {replicated(witnesses, 4, nil), 300},
		"texts, a few words apart": {replicated(texts, 3, func(e *docket.Entry, time int) { e.Case.Documents[0].Text += fmt.Sprint(" run ", time) }), 120},
		"real texts":               {replicated(read(t, "sentiment-fit"), 2, nil), 331}, // one repeats another as they are
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, report := written(t, fit.Fit, tc.entries)
			if n := report.Repeated; n > tc.want || n < tc.want*95/100 { // of short cases some are equal by chance
				t.Errorf("%d cases repeat others, want %d of %d", n, tc.want, len(tc.entries))
			}
			m, right := fit.NewModel(p), 0
			fresh := shape(t, "independent witnesses").Docket(33, 600)
			if len(tc.entries[0].Case.Documents) > 0 {
				fresh = shape(t, "issue texts").Docket(34, 600)
			}
			if name == "real texts" {
				fresh = read(t, "sentiment-test")
			}
			for i := range fresh {
				right += one(top(m, &fresh[i].Case) == fresh[i].Truth.Classification)
			}
			if claims, is := report.Figures[0].Accuracy, rate(right, len(fresh)); claims > is+0.1 {
				t.Errorf("the fit claims %.3f, and is right in %.3f of new cases", claims, is)
			}
		})
	}
}

func TestAccept_QU7_TooFewDistinctCasesAreRejected(t *testing.T) {
	t.Parallel()
	witnesses := shape(t, "independent witnesses").Docket(31, 15)
	for i := range witnesses { // each says one of four things in the same words, so that cases may be equal by chance
		c := &witnesses[i].Case
		c.Subject, c.Light.Confidence = "", 0.6
		for k := range c.Evidence {
			c.Evidence[k].SourceRef, c.Evidence[k].Content, c.Evidence[k].RelevanceConfidence = odds.SourceKey(c.Evidence[k].SourceRef), "", 0.7
		}
		c.Evidence = c.Evidence[:2]
	}
	for name, tc := range map[string]struct {
		distinct []docket.Entry
		says     string
	}{
		"texts":                {shape(t, "issue texts").Docket(32, 15), "285 of them nearly repeat others, which leaves 15; 20 are needed"},
		"equal by chance, too": {witnesses, "of them nearly repeat others, which leaves 1"},
	} {
		_, err := fit.Fit(t.Context(), replicated(tc.distinct, 20, nil), fit.Config{})
		if !errors.Is(err, fit.ErrTooFew) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Equal cases with different ground truths are named; cases that chance makes equal may differ.
func TestAccept_QU7_ContradictingGroundTruthsAreTold(t *testing.T) {
	t.Parallel()
	entries := shape(t, "issue texts").Docket(32, 60)
	twice := slices.Clone(entries)
	var want []fit.Contradiction
	for i := range 5 {
		again := entries[7*i]
		labels := again.Case.Labels
		other := labels[(slices.Index(labels, again.Truth.Classification)+1)%len(labels)]
		again.Case.ID += "-again"
		want = append(want, fit.Contradiction{Case: again.Case.ID, Truth: other, Other: entries[7*i].Case.ID, OtherTruth: again.Truth.Classification})
		again.Truth = &trial.Truth{Classification: other}
		twice = append(twice, again)
	}
	for name, tc := range map[string]struct {
		entries []docket.Entry
		want    []fit.Contradiction
	}{"contradicting": {twice, want}, "repeated": {replicated(entries, 2, nil), nil}} {
		if _, report := written(t, fit.Fit, tc.entries); !slices.Equal(report.Contradictions, tc.want) {
			t.Errorf("%s: told are %v, want %v", name, report.Contradictions, tc.want)
		}
	}
}
