package fit_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/calibrate"
	"github.com/shadowcourt/shadowcourt/host/calibrate/fit"
	"github.com/shadowcourt/shadowcourt/host/calibrate/fit/internal/simulate"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// blinded is a world for a fit without truth.
type blinded struct {
	name   string
	world  simulate.World
	gains  float64 // of accuracy at least
	learns string  // yes, no, or either
}

// dependentWorlds are worlds in which sources err alike, or tell nothing, beside some in which they don't.
func dependentWorlds() []blinded {
	own := func(name string, accuracy, states float64) simulate.Witness {
		return simulate.Witness{Name: name, Accuracy: accuracy, States: states}
	}
	copyOf := func(name, of string, rate, states float64) simulate.Witness {
		return simulate.Witness{Name: name, Copies: of, CopyRate: rate, Accuracy: 0.5, States: states}
	}
	light := simulate.Witness{Accuracy: 0.62, States: 0.7}
	even := simulate.Names(4)
	return []blinded{
		{"independent", simulate.World{Labels: even, Light: light, Witnesses: []simulate.Witness{
			own("good", 0.85, 0.6), own("fair", 0.7, 0.8), own("weak", 0.45, 0.95), own("poor", 0.35, 0.95),
		}}, 0.1, "yes"},
		{"independent, calibrated", simulate.World{Labels: even, Light: simulate.Witness{Accuracy: 0.62, Spread: 0.5}, Witnesses: []simulate.Witness{
			{Name: "a", Accuracy: 0.7, Spread: 0.8}, {Name: "b", Accuracy: 0.6, Spread: 0.8}, {Name: "c", Accuracy: 0.55, Spread: 0.8},
		}}, 0, "no"},
		{"two blocks of copies", simulate.World{Labels: even, Light: light, Witnesses: []simulate.Witness{
			own("a", 0.55, 0.8), copyOf("a2", "a", 0.95, 0.8), copyOf("a3", "a", 0.95, 0.8),
			own("b", 0.7, 0.8), copyOf("b2", "b", 0.95, 0.8),
		}}, 0, "either"},
		{"a majority errs alike", simulate.World{Labels: even, Light: light, Witnesses: []simulate.Witness{
			{Name: "rumour", Hidden: true, Accuracy: 0.4},
			copyOf("a", "rumour", 0.8, 0.8), copyOf("b", "rumour", 0.8, 0.8), copyOf("c", "rumour", 0.8, 0.8), copyOf("d", "rumour", 0.8, 0.8),
			own("own", 0.75, 0.8),
		}}, 0, "either"},
		{"all but Light err alike", simulate.World{Labels: even, Light: simulate.Witness{Accuracy: 0.7, States: 0.7}, Witnesses: []simulate.Witness{
			{Name: "rumour", Hidden: true, Accuracy: 0.5},
			copyOf("a", "rumour", 0.8, 0.6), copyOf("b", "rumour", 0.8, 0.6), copyOf("c", "rumour", 0.8, 0.6),
		}}, 0, "no"},
		{"two half-blocks", simulate.World{Labels: even, Light: light, Witnesses: []simulate.Witness{
			{Name: "rumour", Hidden: true, Accuracy: 0.5},
			{Name: "tale", Hidden: true, Accuracy: 0.6},
			copyOf("a", "rumour", 0.6, 0.8), copyOf("b", "rumour", 0.6, 0.8), copyOf("c", "tale", 0.6, 0.8), copyOf("d", "tale", 0.6, 0.8),
		}}, 0, "either"},
		{"all at chance", simulate.World{Labels: even, Light: own("", 0.25, 0.7), Witnesses: []simulate.Witness{
			own("a", 0.25, 0.8), own("b", 0.25, 0.7), own("c", 0.25, 0.9),
		}}, 0, "no"},
		{"three sources", simulate.World{Labels: even, Light: light, Witnesses: []simulate.Witness{own("good", 0.85, 0.6), own("weak", 0.4, 0.9)}}, 0, "no"},
	}
}

// outcome is a fit without truth beside no profile.
type outcome struct {
	learned                 bool
	model                   string
	accuracy, ece           [2]float64 // with the profile and without
	deviation, eceDeviation float64    // standard errors of the differences, that of ECE by the bootstrap
}

func blindFit(t *testing.T, entries []docket.Entry) outcome {
	t.Helper()
	hidden := make([]docket.Entry, len(entries))
	copy(hidden, entries)
	result, err := fit.Unlabelled(t.Context(), blind(hidden), fit.Config{Seed: 1})
	none := &abi.Profile{}
	p, o := none, outcome{}
	switch {
	case errors.Is(err, fit.ErrNoAgreement) || errors.Is(err, fit.ErrTooFewSources):
		o.model = err.Error()
	case err != nil:
		t.Fatal(err)
	default:
		p, o.learned, o.model = result.Profile, result.Report.Learned, result.Report.Model
	}
	var stated [2][]calibrate.Stated
	for m, model := range []*fit.Model{fit.NewModel(p), fit.NewModel(none)} {
		for i := range entries {
			e := &entries[i]
			q := model.Posterior(&e.Case)
			top := slices.Max(q)
			stated[m] = append(stated[m], calibrate.Stated{Confidence: top, Right: e.Case.Labels[slices.Index(q, top)] == e.Truth.Classification})
		}
		o.accuracy[m], o.ece[m] = rightShare(stated[m]), *calibrate.ReliabilityOf(stated[m], 0, nil).ECE
	}
	r := rand.New(rand.NewPCG(9, 9))
	sum, squares, n := 0.0, 0.0, float64(len(entries))
	for i := range entries {
		d := gap(stated[0][i].Right, stated[1][i].Right)
		sum += d / n
		squares += d * d / n
	}
	o.deviation = math.Sqrt(max(squares-sum*sum, 0) / n)
	if !o.learned {
		return o
	}
	const resamples = 40
	mean, square := 0.0, 0.0
	for range resamples {
		var drawn [2][]calibrate.Stated
		for range entries {
			i := r.IntN(len(entries))
			drawn[0], drawn[1] = append(drawn[0], stated[0][i]), append(drawn[1], stated[1][i])
		}
		d := *calibrate.ReliabilityOf(drawn[0], 0, nil).ECE - *calibrate.ReliabilityOf(drawn[1], 0, nil).ECE
		mean += d / resamples
		square += d * d / resamples
	}
	o.eceDeviation = math.Sqrt(max(square-mean*mean, 0))
	return o
}

func rightShare(list []calibrate.Stated) float64 {
	n := 0
	for _, s := range list {
		if s.Right {
			n++
		}
	}
	return rate(n, len(list))
}

func gap(a, b bool) float64 {
	switch {
	case a && !b:
		return 1
	case b && !a:
		return -1
	}
	return 0
}

// check wants accuracy and ECE to be no worse than without a profile by more than noise, and a gain where there is one.
func (o *outcome) check(t *testing.T, name string, gains float64) {
	t.Helper()
	d := o.accuracy[0] - o.accuracy[1]
	t.Logf("| %s | %.3f | %.3f | %+.1f (%+.1f to %+.1f) | %.3f | %.3f | %s |", name, o.accuracy[1], o.accuracy[0],
		100*d, 100*(d-1.96*o.deviation), 100*(d+1.96*o.deviation), o.ece[1], o.ece[0], o.model)
	if d < gains-1.96*o.deviation {
		t.Errorf("%s: accuracy changes by %.3f, want %.3f", name, d, gains)
	}
	if change := o.ece[0] - o.ece[1]; change > 1.96*o.eceDeviation {
		t.Errorf("%s: ECE changes by %.3f", name, change)
	}
}

// TestAccept_QU5_DependentWitnesses: a fit without truth is never worse than no profile by more than noise, whoever errs alike.
func TestAccept_QU5_DependentWitnesses(t *testing.T) {
	t.Parallel()
	for _, w := range dependentWorlds() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(2) {
				o := blindFit(t, w.world.Draw(rand.New(rand.NewPCG(seed, 51)), 500))
				o.check(t, w.name, w.gains)
				if w.learns == "yes" && !o.learned || w.learns == "no" && o.learned {
					t.Errorf("%s: learned %v: %s", w.name, o.learned, o.model)
				}
			}
		})
	}
}

func TestAccept_QU5_DocketsWithTheirLabelsHidden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sentiment-fit", "sentiment-test", "go-fit-1"} {
		o := blindFit(t, read(t, name))
		o.check(t, name, 0)
	}
}

// TestAccept_QU5_RandomWorlds draws sources of every reliability, which state what they know or something else, and of which some
// copy others that nobody hears. With SHADOWCOURT_LONG only: it takes a minute.
func TestAccept_QU5_RandomWorlds(t *testing.T) {
	if os.Getenv("SHADOWCOURT_LONG") == "" {
		t.Skip("SHADOWCOURT_LONG is not set")
	}
	r := rand.New(rand.NewPCG(78, 1))
	learned, worse, lessCalibrated, accuracy, ece := 0, 0, 0, 0.0, 0.0
	const worlds = 300
	for range worlds {
		w := randomWorld(r)
		o := blindFit(t, w.Draw(r, 120+r.IntN(500)))
		if !o.learned {
			continue
		}
		learned++
		gain, change := o.accuracy[0]-o.accuracy[1], o.ece[0]-o.ece[1]
		accuracy, ece = accuracy+gain, ece+change
		if gain < -1.96*o.deviation {
			worse++
		}
		if change > 1.96*o.eceDeviation {
			lessCalibrated++
		}
		t.Logf("accuracy %.3f, with a profile %+.3f; ECE %.3f, %+.3f", o.accuracy[1], gain, o.ece[1], change)
	}
	n := float64(max(learned, 1))
	t.Logf("learned in %d of %d worlds, accuracy %+.3f and ECE %+.3f there; worse by more than noise in %d and %d", learned, worlds, accuracy/n, ece/n, worse, lessCalibrated)
	// Where all but one of the sources err alike a little, nothing shows it.
	if accuracy/n < 0.02 || ece > 0 || worse > worlds/50 || lessCalibrated > worlds/50 {
		t.Error("a fit without truth is worse than no profile too often")
	}
}

func randomWorld(r *rand.Rand) simulate.World {
	k := 2 + r.IntN(4)
	source := func(name string) simulate.Witness {
		w := simulate.Witness{Name: name, Accuracy: 1/float64(k) + (0.9-1/float64(k))*r.Float64()}
		switch r.IntN(3) {
		case 0:
			w.States = 0.55 + 0.4*r.Float64()
		case 1:
			w.Spread = 1.5 * r.Float64()
		default:
			w.Spread, w.Distort = r.Float64(), 0.5+3*r.Float64()
		}
		return w
	}
	world := simulate.World{Labels: simulate.Names(k), Light: source("light")}
	hidden := r.IntN(3)
	for i := range hidden {
		w := source(fmt.Sprint("rumour", i))
		w.Hidden = true
		world.Witnesses = append(world.Witnesses, w)
	}
	for i := range 2 + r.IntN(6) {
		w := source(fmt.Sprint("w", i))
		if r.IntN(3) == 0 {
			w.Speaks = 0.3 + 0.7*r.Float64()
		}
		if hidden > 0 && r.IntN(3) > 0 {
			w.Copies, w.CopyRate = fmt.Sprint("rumour", r.IntN(hidden)), 0.3+0.7*r.Float64()
		}
		world.Witnesses = append(world.Witnesses, w)
	}
	return world
}
