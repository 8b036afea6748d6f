package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// Relight has a Light answer that is told a profile: it gives the entries in
// their order, each with Light's answer in place of its own and with what
// Light gathered behind its own evidence. A nil profile tells nothing. An entry
// that Light has no answer for comes back without one.
type Relight func(ctx context.Context, profile *abi.Profile, entries []docket.Entry) ([]docket.Entry, error)

// relightings is how often Light is asked about each case: once, to see what it
// gathers, and again when the evidence with that was fitted on.
const relightings = 2

// Relit is [Fit] for cases that a Light is asked about that is told the same
// profile: its answer is made of the profile's own figures, so that these must
// not count again for what they count there already.
//
// First all but Light's word is fitted, on the evidence alone, which is what
// such a Light goes by. Then what its word adds beside that: every case is
// answered by a Light that was told a profile fitted without its part of the
// cases (cross-fitting), since it is surer of cases that its profile knows.
//
// The errors are those of Fit, and that of asking.
func Relit(ctx context.Context, entries []docket.Entry, relight Relight, config Config) (*Result, error) {
	labelled := withTruth(entries)
	config.defaults()
	config.TrustText = true // what Light says depends on texts, too: no cap on signals bounds what a text turns
	c := read(labelled)
	if err := c.enough(len(entries)); err != nil {
		return nil, err
	}
	if err := c.joinDuplicates(config.Workers); err != nil {
		return nil, err
	}
	a := asking{entries: labelled, known: withoutLight(labelled), part: c.parts(config.Seed), relight: relight, config: config}
	for range relightings {
		if err := a.ask(ctx); err != nil {
			return nil, err
		}
	}
	config.Progress("fitting on all")
	config.Progress = nil
	config.always = true // whether it is better is judged with Light's word
	result, err := Fit(ctx, a.known, config)
	if err != nil {
		return nil, err
	}
	c = read(a.lit)
	if err := c.joinDuplicates(config.Workers); err != nil {
		return nil, err
	}
	c.reportRelit(result, &a)
	result.Report.WithoutTruth = len(entries) - len(labelled)
	return result, nil
}

// asking is how far the asking of Light has come.
type asking struct {
	entries []docket.Entry
	part    []int // of each entry
	relight Relight
	config  Config
	// known is the evidence to fit on, without Light's word.
	known []docket.Entry
	// lit is what Light said last, told what was fitted without the part, and
	// nats what that profile makes of all but Light's word.
	lit  []docket.Entry
	nats [][]float64
	time int
}

// ask asks about all parts. The evidence that was gathered the time before is
// fitted on then.
func (a *asking) ask(ctx context.Context) error {
	if a.lit != nil {
		a.known = withoutLight(a.lit)
	}
	a.time++
	a.lit, a.nats = make([]docket.Entry, len(a.entries)), make([][]float64, len(a.entries))
	for part := range slices.Max(a.part) + 1 {
		a.config.Progress(fmt.Sprintf("asking Light: round %d of %d, part %d of %d", a.time, relightings, part+1, slices.Max(a.part)+1))
		if err := a.askPart(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (a *asking) askPart(ctx context.Context, part int) error {
	var own, others []docket.Entry
	for i, p := range a.part {
		if p == part {
			own = append(own, a.entries[i])
		} else {
			others = append(others, a.known[i])
		}
	}
	profile, err := a.without(ctx, others)
	if err != nil {
		return err
	}
	lit, err := a.relight(ctx, profile, own)
	if err != nil {
		return err
	}
	if len(lit) != len(own) {
		return fmt.Errorf("asked about %d cases, Light gave %d", len(own), len(lit))
	}
	model := NewModel(profile)
	for i, p := range a.part {
		if p == part {
			a.lit[i], lit = lit[0], lit[1:]
			a.nats[i] = model.nats(&a.lit[i].Case)
		}
	}
	return nil
}

// without is what the others teach; of too few cases that is nothing.
func (a *asking) without(ctx context.Context, others []docket.Entry) (*abi.Profile, error) {
	config := a.config
	config.Progress = nil
	profile, err := profileAlone(ctx, others, config)
	if errors.Is(err, ErrTooFew) || errors.Is(err, ErrOneLabel) {
		return &abi.Profile{Name: config.Name, SignalCap: 1}, nil
	}
	return profile, err
}

// withoutLight is the entries without what a Light says.
func withoutLight(entries []docket.Entry) []docket.Entry {
	out := slices.Clone(entries)
	for i := range out {
		out[i].Case.Light = nil
	}
	return out
}

// parts gives the part of each case, as a fit on all cases splits them.
func (c *corpus) parts(seed uint64) []int {
	use := places(len(c.samples))
	return c.folds(use, parts(len(use), c.groups), seed)
}

// Penalties of what Light's word adds, as those of a source in a regression on
// statements and phrases.
const (
	lightOwn   = 1
	lightTable = 8
)

// light fits what Light's word adds to given nats, without the cases of a part.
// It is drawn to nothing, which is what the word of a Light is worth that says
// what the other figures say.
func (c *corpus) light(nats [][]float64, part []int, skip int) *abi.SourceReliability {
	m := &linear{layout: c.layout()}
	r := c.regression(&m.layout, setting{sources: 1, stated: true})
	for p := range r.Penalty { // the base rates are Light's too, and stay as they are
		r.Parent[p], r.Penalty[p] = -1, silenced
	}
	r.Penalty[m.offset], r.Penalty[m.slope] = lightOwn, lightOwn
	for p := m.table; p < m.element; p++ {
		r.Penalty[p] = lightTable
	}
	var use []int
	for i := range c.samples {
		alone := c.samples[i]
		alone.uttered = slices.DeleteFunc(slices.Clone(alone.uttered), func(u utterance) bool { return u.source != 0 })
		alone.elements = nil
		if part[i] == skip || len(alone.uttered) == 0 {
			continue
		}
		w := m.terms(&alone, asStated)
		w.Offset = nats[i]
		use, r.Rows = append(use, i), append(r.Rows, w)
	}
	if len(use) == 0 {
		return &abi.SourceReliability{Source: lightSource, Statements: []abi.SourceStatement{}, Share: 1}
	}
	m.x = r.Solve()
	u := c.usage(use)
	u.once[0] = false
	light := c.reliability(m, 0, make([]float64, m.labels), u)
	light.Cap = mostNats
	most := 0.0
	for _, i := range use {
		most = max(most, spread(heardLight(light, &c.samples[i].entry.Case)))
	}
	light.Cap = capOf(most, len(use))
	return light
}

// reportRelit puts Light's word into the profile, and into the report the figures of the
// answers that Light gave. If all that is no better than no profile, nothing is learned.
func (c *corpus) reportRelit(result *Result, a *asking) {
	x := &crossed{use: places(len(c.samples)), part: a.part, k: slices.Max(a.part) + 1}
	word, losses, court := make([]*abi.SourceReliability, x.k), make([]float64, len(c.samples)), make([][]float64, len(c.samples))
	for part := range word {
		word[part] = c.light(a.nats, a.part, part)
	}
	relit := func(i int) []float64 {
		z, k := slices.Clone(a.nats[i]), &c.samples[i].entry.Case
		if k.Light != nil {
			addTo(z, heardLight(word[a.part[i]], k), 1)
		}
		return odds.Probabilities(z, odds.Doubt)
	}
	for i := range c.samples {
		losses[i], court[i] = lossOf(relit(i), c.samples[i].truth), unmeasured(&c.samples[i].entry.Case, nil)
	}
	p, r, rivals := result.Profile, &result.Report, c.rivals(x, court)
	if rivals.beaten(c, losses, x.use) {
		p.Light = c.light(a.nats, a.part, nobody)
	} else {
		none := unlearned(p.Name)
		none.Outcomes = p.Outcomes
		none.Temperature, none.Seen = rivals.temperature(c, rivals.scale, x.use), c.seen()
		p, result.Profile = none, none
		models := c.unlearnedParts(x, rivals)
		relit = func(i int) []float64 { return models[x.part[i]].Posterior(&c.samples[i].entry.Case) }
		r.Temperature, r.Learned, r.Model, r.Signals, r.SignalNats = none.Temperature, false, c.name(x, &outcome{}, p), 0, 0
	}
	r.Figures, r.Sources, r.Relit, r.Warnings, r.TextTurns = c.figures(x.use, relit), c.worth(p), true, nil, nil
	r.doubt()
	r.Bands = c.certify(x.use, relit, a.config.Bands)
}
