package measure

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
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
		must.Do(t, tried.Err)
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
	shapes := 2
	if tier.Whole() {
		shapes = 5
	}
	for _, tc := range []struct {
		shape string
		gain  float64 // of accuracy over Light, at least
	}{
		{"independent witnesses", 0.10},
		{"overconfident witness", 0.08},
		{"issue texts", 0.20}, // in the long tier
		{"correlated witnesses", 0.08},
		{"log excerpts", 0.05},
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
			right := 0
			for i := range all[:250] {
				right += one(all[i].Case.Light.Classification == all[i].Truth.Classification)
			}
			if claimed := report.Figures[0].Accuracy; claimed < rate(right, 250)+tc.gain/2 {
				t.Errorf("cross-validation claims %.3f for the court, and Light is right in %d of 250", claimed, right)
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
