package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
// smoothed. It takes the sources to err independently of each other: what
// several of them copy from one place it takes for a truth.
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
	config.Progress("estimating")
	e := newEstimate(c)
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	if e.meanSkill() <= leastSkill {
		return nil, ErrNoAgreement
	}
	p := e.profile(config.Name)
	return &Result{p, e.report(p)}, nil
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

func (e *estimate) report(p *abi.Profile) Report {
	c := e.corpus
	r := Report{
		Compared: []Figures{}, Figures: []Figures{}, Sources: []SourceWorth{},
		Cases: len(c.samples), Unlabelled: true, Learned: true, Model: "how the sources agree (Dawid and Skene), no truth used",
	}
	for s := range c.sources {
		w := SourceWorth{Source: c.sources[s]}
		for i := range c.samples {
			q, named := e.posterior[i], false
			for _, u := range c.samples[i].uttered {
				if u.source == s && u.says != noLabel {
					named = true
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
			}
		}
		if w.Named > 0 {
			w.Right /= float64(w.Named)
			w.Nats /= float64(w.Cases)
			r.Sources = append(r.Sources, w)
		}
	}
	return r
}
