package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// written fits, and reads the profile back from the YAML as `try` does.
func written(t *testing.T, learn func(context.Context, []docket.Entry, FitConfig) (*Fitted, error), entries []docket.Entry) (*abi.Profile, *FitReport) {
	t.Helper()
	result := must.Get(learn(t.Context(), entries, FitConfig{Seed: 1, Workers: 2}))(t)
	var text bytes.Buffer
	must.Do(t, result.WriteYAML(&text))
	path := filepath.Join(t.TempDir(), "profile.yaml")
	must.Do(t, os.WriteFile(path, text.Bytes(), 0o600))
	p, err := module.LoadProfile(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, text.Bytes())
	}
	return p, &result.Report
}

// tally counts right answers in the cases that were tried.
type tally struct{ court, light, model, tried int }

// trials tries cases by the real court. A nil profile is none.
func trials(t *testing.T, p *abi.Profile, entries []docket.Entry) []*trial.Trial {
	t.Helper()
	cache := must.Get(os.UserCacheDir())(t)
	h := must.Get(host.Open(t.Context(), host.Config{Profile: p, CacheDir: filepath.Join(cache, "shadowcourt", "modules")}))(t)
	defer func() { _ = h.Close(context.WithoutCancel(t.Context())) }()
	var list []*trial.Trial
	all := func(yield func(docket.Entry, error) bool) {
		for i := range entries {
			if !yield(entries[i], nil) {
				return
			}
		}
	}
	for tried := range h.TryAll(t.Context(), all, 2) {
		if tried.Err != nil {
			t.Fatal(tried.Err)
		}
		list = append(list, tried.Trial)
	}
	return list
}

// try counts what the real court makes of cases, and the model.
func try(t *testing.T, p *abi.Profile, entries []docket.Entry) tally {
	t.Helper()
	list := trials(t, p, entries)
	n, m := tallied(list), NewModel(p)
	for _, x := range list {
		if x.Result.Activated {
			n.model += one(top(m, &x.Case) == x.Truth.Classification)
		}
	}
	return n
}

// tallied counts what came of trials.
func tallied(list []*trial.Trial) tally {
	var n tally
	for _, x := range list {
		r, truth := &x.Result, x.Truth.Classification
		if !r.Activated {
			continue
		}
		n.tried++
		answer := r.Final.Classification
		if answer == "" {
			answer = r.Light.Classification
		}
		n.court += one(answer == truth)
		n.light += one(r.Light.Classification == truth)
	}
	return n
}

func top(m *Model, c *abi.Case) string {
	p := m.Posterior(c)
	return c.Labels[slices.Index(p, slices.Max(p))]
}

func TestAccept_FT1_FittedOnOneHalfBetterOnTheOther(t *testing.T) {
	t.Parallel()
	shapes := 3
	if tier.Whole() {
		shapes = 5
	}
	for _, tc := range []struct {
		shape string
		gain  float64 // of accuracy over Light, at least
	}{
		{"independent witnesses", 0.10},
		{"overconfident witness", 0.08},
		{"issue texts", 0.20},
		{"correlated witnesses", 0.08}, // in the long tier
		{"log excerpts", 0.05},         // likewise
	}[:shapes] {
		t.Run(tc.shape, func(t *testing.T) {
			t.Parallel()
			all := shape(tc.shape).Docket(11, 500)
			p, report := written(t, Fit, all[:250])
			n := try(t, p, all[250:])
			if n.tried < 100 {
				t.Fatalf("only %d cases were tried", n.tried)
			}
			court, light, model := rate(n.court, n.tried), rate(n.light, n.tried), rate(n.model, n.tried)
			if court < light+tc.gain {
				t.Errorf("the court is right in %.3f of the %d cases tried, Light in %.3f", court, n.tried, light)
			}
			if math.Abs(court-model) > 0.03 {
				t.Errorf("the court is right in %.3f, what was fitted in %.3f", court, model)
			}
			if claimed := report.Figures[0].Accuracy; claimed < report.Figures[2].Accuracy+tc.gain/2 {
				t.Errorf("cross-validation claims %.3f for the court, %.3f for Light", claimed, report.Figures[2].Accuracy)
			}
		})
	}
}

func rate(n, of int) float64 { return float64(n) / float64(of) }

func TestAccept_FT1_OneThatAlwaysSaysTheSameCountsNothing(t *testing.T) {
	t.Parallel()
	entries := shape("constant and chance witnesses").Docket(5, 300)
	p, _ := written(t, Fit, entries)
	known := odds.Source(p, "constant")
	if known == nil {
		t.Fatal("the profile doesn't know the constant witness")
	}
	v := make([]float64, 4)
	odds.AddStatement(v, entries[0].Case.Labels, known, "alpha", 0.95)
	if spread := odds.Spread(v); spread > 1e-6 {
		t.Errorf("the constant witness moves the labels by %v nats: %+v", spread, known)
	}
	v = make([]float64, 4)
	odds.AddStatement(v, entries[0].Case.Labels, odds.Source(p, "chance"), "beta", 0.8)
	if spread := odds.Spread(v); spread > 0.7 {
		t.Errorf("the witness at chance moves the labels by %v nats", spread)
	}
	v = make([]float64, 4)
	odds.AddStatement(v, entries[0].Case.Labels, odds.Source(p, "good"), "beta", 0.75)
	if spread := odds.Spread(v); spread < 1.2 {
		t.Errorf("the good witness moves the labels only by %v nats", spread)
	}
}

func TestAccept_FT1_AnOverconfidentOneIsNotBelievedAtItsWord(t *testing.T) {
	t.Parallel()
	all := shape("overconfident witness").Docket(6, 800)
	p, _ := written(t, Fit, all[:400])
	m := NewModel(p)
	said, right, promised := 0.0, 0.0, 0.0
	for i := range all[400:] {
		c := &all[400+i].Case
		for k := range c.Evidence {
			if odds.SourceKey(c.Evidence[k].SourceRef) == "loud" {
				said++
				promised += m.Posterior(c)[slices.Index(c.Labels, c.Evidence[k].Supports)]
				if c.Evidence[k].Supports == all[400+i].Truth.Classification {
					right++
				}
			}
		}
	}
	if math.Abs(promised-right)/said > 0.05 {
		t.Errorf("what it says, at 0.99, gets %.3f on average and is right in %.3f", promised/said, right/said)
	}
	v := make([]float64, 3)
	odds.AddStatement(v, all[0].Case.Labels, odds.Source(p, "loud"), "beta", 0.99)
	if spread := odds.Spread(v); spread > 1 {
		t.Errorf("it moves the labels by %.2f nats; its word alone would be %.2f", spread, odds.Logit(0.99)+math.Ln2)
	}
}

// TestAccept_QU6_CrossFittedAnswersCertify: the threshold that a fit on 300 cases certifies keeps its bound on new cases, where the
// profile that was fitted on all answers.
func TestAccept_QU6_CrossFittedAnswersCertify(t *testing.T) {
	t.Parallel()
	s := shape("independent witnesses")
	result := must.Get(Fit(t.Context(), s.Docket(31, 300), FitConfig{Seed: 1, Workers: 2, Bands: &BandOptions{MaxError: 0.1}}))(t)
	c := result.Report.Bands
	if c == nil || c.Cases != 300 || c.Threshold == nil || c.Accepted < 60 {
		t.Fatalf("certified %+v", c)
	}
	m, accepted, wrong := NewModel(result.Profile), 0, 0
	for _, e := range s.Docket(32, 2000) {
		p := m.Posterior(&e.Case)
		if sure := slices.Max(p); sure >= *c.Threshold {
			accepted++
			if e.Case.Labels[slices.Index(p, sure)] != e.Truth.Classification {
				wrong++
			}
		}
	}
	t.Logf("certified from %v on: %d of 300, %d wrong; of 2000 new cases %d, %d wrong", *c.Threshold, c.Accepted, c.Wrong, accepted, wrong)
	if rate(wrong, accepted) > 0.1 {
		t.Errorf("%d of %d are wrong", wrong, accepted)
	}
}

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
