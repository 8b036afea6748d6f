package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// The reasons why agreement shows nothing.
var (
	ErrTooFewSources = errors.New("too few sources speak of the same cases")
	ErrNoAgreement   = errors.New("the sources agree no more than by chance, so that how they agree tells nothing about them")
)

// leastSources is how many sources must speak of one case: two that disagree
// don't show which of them is wrong.
const leastSources = 3

// Unlabelled learns a profile without any truth, from how the sources agree:
// base rates and, for each source, how likely it names each label under each
// true one. Light is one of the sources; who names no label is silent, and
// silence is missing data. It writes no signals.
//
// The method is the EM of Dawid and Skene (1979), started at the plain vote and
// smoothed. Sources that may err alike count as one; stated confidences count as
// far as other sources confirm them. The profile is never surer on average than
// the court without one. Where fewer than three groups of sources tell anything,
// where it can't be told who errs alike, and where the sources predict each other no
// better by the estimate than without a profile, nothing is learned, and the
// report's Model says why.
//
// The same entries and configuration give the same profile. Errors:
// [ErrTooFew], [ErrTooFewSources], [ErrNoAgreement], or that of the context.
func Unlabelled(ctx context.Context, entries []docket.Entry, config Config) (*Result, error) {
	config.defaults()
	config.Progress("reading")
	c := read(entries)
	if len(c.samples) < LeastCases {
		return nil, fmt.Errorf("%w: %d, and %d are needed", ErrTooFew, len(c.samples), LeastCases)
	}
	if err := c.overlap(); err != nil {
		return nil, err
	}
	config.Progress("looking for sources that err alike")
	d := c.dependent(c.pairs())
	share := c.shares(d)
	config.Progress("estimating")
	e := newEstimate(c, places(len(c.samples)), share)
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	if e.meanSkill() <= leastSkill {
		return nil, ErrNoAgreement
	}
	e.trust(d.group)
	r := Report{
		Compared: []Figures{}, Figures: []Figures{}, Sources: []SourceWorth{}, Cases: len(c.samples), Unlabelled: true,
		Model: "how the sources agree (Dawid and Skene), no truth used",
	}
	if alike := c.alike(d); alike != "" {
		r.Warnings = append(r.Warnings, "sources that may err alike count as one: "+alike)
	}
	reason := d.doubt()
	if reason == "" {
		e.temper()
		reason = e.doubt()
	}
	if reason == "" {
		config.Progress("comparing with no profile")
		h, err := c.heldOut(ctx, d, share, config.Workers)
		if err != nil {
			return nil, err
		}
		reason = h.doubt()
	}
	if reason != "" {
		r.Model = "no profile: " + reason
		return &Result{unlearned(config.Name), r}, nil
	}
	p := e.profile(config.Name)
	return &Result{p, e.report(p, r)}, nil
}

// doubt says why agreement doesn't show who is right; empty where it does.
func (d *dependence) doubt() string {
	switch {
	case d.groups() < leastSources:
		return fmt.Sprintf("sources that may err alike count as one, and then %d tell anything; %d are needed", d.groups(), leastSources)
	case d.ambiguous():
		return "some sources agree more than their skills explain, and nothing shows whether they err alike or the others do"
	}
	return ""
}

// doubt says why an estimate is implausible. Sources state more than they know rather than less: those that agree far better
// than they state err alike.
func (e *estimate) doubt() string {
	switch {
	case e.overstated() > 0:
		return "the sources would be right more often than they state, and so may err alike"
	case e.tempered < leastTempered:
		return "the estimate is much surer than what the sources state, and so they may err alike"
	}
	return ""
}

// doubt says why an estimate does not do better.
func (h *heldOut) doubt() string {
	if h.gain <= clearly*h.deviation {
		return "weighed by the estimate, sources predict what another one says no better than without a profile"
	}
	return ""
}

// temper scales what is said until the mean is no surer than the court without a profile: nothing in how sources agree shows
// what all of them share, and so not how often they are right together.
func (e *estimate) temper() {
	limit := e.sureness(unlearned("none"))
	if e.sureness(e.profile("own")) <= limit {
		return
	}
	low, high := 0.0, 1.0
	for range temperSteps {
		e.tempered = (low + high) / 2
		if e.sureness(e.profile("tempered")) > limit {
			high = e.tempered
		} else {
			low = e.tempered
		}
	}
	e.tempered = low
}

const (
	temperSteps = 7
	// leastTempered is the least weight at which what is as sure as no profile is plausible.
	leastTempered = 0.4
	// clearly is by how many standard errors sources must predict each other better.
	clearly = 3
	// implausible is how far an estimate may be from what a source states without a warning.
	implausible = 0.25
)

// sureness is the mean probability of the most probable label.
func (e *estimate) sureness(p *abi.Profile) float64 {
	m, sum := NewModel(p), 0.0
	for _, i := range e.use {
		sum += slices.Max(m.Posterior(&e.corpus.samples[i].entry.Case)) / float64(len(e.use))
	}
	return sum
}

// overstated is by how much the estimate has sources right more often than they state, on average.
func (e *estimate) overstated() float64 {
	sum, n := 0.0, 0.0
	for _, i := range e.use {
		s := &e.corpus.samples[i]
		for _, u := range s.named() {
			sum += e.posterior[i][slices.Index(s.labels, u.says)] - 1/(1+math.Exp(-u.logit))
			n++
		}
	}
	return sum / max(n, 1)
}

// alike names the sources that err alike.
func (c *corpus) alike(d *dependence) string {
	var groups []string
	for g := range c.sources {
		var names []string
		for s, of := range d.group {
			if of == g {
				names = append(names, strconv.Quote(c.sources[s])) // a name may hold anything
			}
		}
		if len(names) > 1 {
			groups = append(groups, strings.Join(names, " and "))
		}
	}
	return strings.Join(groups, "; ")
}

// leastSkill is what the sources must be better than chance by, on average.
const leastSkill = 0.02

// overlap says why there is too little to compare. A source that says the same
// of every case is no source here: with it everybody agrees equally.
func (c *corpus) overlap() error {
	labels := make([]map[int]bool, len(c.sources))
	for i := range c.samples {
		for _, u := range c.samples[i].uttered {
			if u.says == noLabel {
				continue
			}
			if labels[u.source] == nil {
				labels[u.source] = make(map[int]bool)
			}
			labels[u.source][u.says] = true
		}
	}
	cases, sources := 0, 0
	for i := range c.samples {
		var speak []int
		for _, u := range c.samples[i].uttered {
			if u.says != noLabel && len(labels[u.source]) > 1 && !slices.Contains(speak, u.source) {
				speak = append(speak, u.source)
			}
		}
		sources = max(sources, len(speak))
		if len(speak) >= leastSources {
			cases++
		}
	}
	switch {
	case sources < leastSources:
		return fmt.Errorf("%w: at most %d that say different things (Light is one) name a label in one case, and %d are needed, "+
			"since two that disagree don't show which of them is wrong", ErrTooFewSources, sources, leastSources)
	case cases < LeastCases:
		return fmt.Errorf("%w: %d cases have %d sources that name a label (Light is one), and %d are needed", ErrTooFewSources, cases, leastSources, LeastCases)
	}
	return nil
}

func (e *estimate) report(p *abi.Profile, r Report) Report {
	c := e.corpus
	r.Learned = true
	for s := range c.sources {
		w, stated := SourceWorth{Source: c.sources[s]}, 0.0
		for i := range c.samples {
			q, named, most := e.posterior[i], false, math.Inf(-1)
			for _, u := range c.samples[i].uttered {
				if u.source == s && u.says != noLabel {
					named, most = true, max(most, u.logit)
					w.Right += q[slices.Index(c.samples[i].labels, u.says)]
				}
			}
			if v := c.voices(p, &c.samples[i])[s]; v != nil {
				w.Cases++
				for j, x := range q {
					w.Nats += x * lead(v, j)
				}
			}
			if named {
				w.Named++
				stated += 1 / (1 + math.Exp(-most))
			}
		}
		if w.Named > 0 {
			w.Right /= float64(w.Named)
			w.Nats /= float64(w.Cases)
			if mean := stated / float64(w.Named); math.Abs(w.Right-mean) > implausible {
				r.Warnings = append(r.Warnings, fmt.Sprintf("%q is estimated to be right in %.2f of the cases in which it names a label, and states %.2f on average: check some of them", w.Source, w.Right, mean))
			}
			r.Sources = append(r.Sources, w)
		}
	}
	return r
}
