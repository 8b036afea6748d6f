package measure

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket"
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
	witnesses, texts := shape("independent witnesses").Docket(31, 100), shape("issue texts").Docket(32, 60)
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
			p, report := written(t, Fit, tc.entries)
			if n := report.Repeated; n > tc.want || n < tc.want*95/100 { // of short cases some are equal by chance
				t.Errorf("%d cases repeat others, want %d of %d", n, tc.want, len(tc.entries))
			}
			m, right := NewModel(p), 0
			fresh := shape("independent witnesses").Docket(33, 600)
			if len(tc.entries[0].Case.Documents) > 0 {
				fresh = shape("issue texts").Docket(34, 600)
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
	_, err := Fit(t.Context(), replicated(shape("issue texts").Docket(32, 15), 20, nil), FitConfig{})
	if !errors.Is(err, ErrTooFew) || !strings.Contains(err.Error(), "285 of them nearly repeat others, which leaves 15; 20 are needed") {
		t.Errorf("error %v", err)
	}
}
