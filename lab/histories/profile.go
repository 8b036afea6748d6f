package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"math"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mathext"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/judge"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/measure"
)

// firstOutcomes is the outcome model of the alibi before anything is learned.
//
//go:embed outcomes.yaml
var firstOutcomes []byte

// profile learns the profile of the alibi from the learning half: how common each label is, and what runs tell.
func profile(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("profile", flag.ContinueOnError)
	var in folders
	in.savedFlag(flags)
	to := flags.String("out", "", "file for the profile")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *to == "" {
		return errors.New("profile takes flags alone, and needs -out")
	}
	learned, err := in.learn(ctx)
	if err != nil {
		return err
	}
	file, err := os.Create(*to)
	if err != nil {
		return err
	}
	return errors.Join(learned.WriteYAML(file), file.Close())
}

func (in *folders) learn(ctx context.Context) (*measure.Fitted, error) {
	repos, err := history.Read(in.saved, history.Learning)
	if err != nil {
		return nil, err
	}
	if len(repos) == 0 {
		return nil, in.noCases()
	}
	first, err := module.ParseProfile("outcomes.yaml", firstOutcomes)
	if err != nil {
		return nil, err
	}
	var entries []docket.Entry
	var cases []shown
	labels := judge.AlibiLabels()
	for i := range repos {
		for j := range repos[i].Cases {
			c := &repos[i].Cases[j]
			label := string(c.Truth.Attribution)
			entries = append(entries, docket.Entry{
				Case:  abi.Case{ID: c.ID, Group: repos[i].Name, Subject: c.Failure.Test + " fails in " + c.Failure.Group, Labels: labels},
				Truth: &trial.Truth{Classification: label},
			})
			if results := judge.ShownOf(c); len(results) > 0 {
				cases = append(cases, shown{label, results})
			}
		}
	}
	fitted, err := measure.Fit(ctx, entries, measure.FitConfig{Name: "alibi", Seed: 1, NoText: true})
	if err != nil {
		return nil, err
	}
	p := fitted.Profile
	p.BaseRates, p.Outcomes, fitted.Report.Outcomes = baseRates(first.Outcomes, entries, labels), learnOutcomes(first.Outcomes, cases), len(cases)
	rounded(p.Outcomes)
	return fitted, nil
}

// baseRates are how common labels are, beside what the first form counts for.
func baseRates(first *abi.OutcomeModel, entries []docket.Entry, labels []string) []abi.LabelWeight {
	counts, all := make([]float64, len(labels)), 0.0
	for i := range entries {
		counts[slices.Index(labels, entries[i].Truth.Classification)]++
	}
	rates := make([]abi.LabelWeight, len(labels))
	for at, label := range labels {
		for i := range first.Patterns {
			for _, w := range first.Patterns[i].Labels {
				if w.Label == label {
					counts[at] += w.Weight
				}
			}
		}
		all += counts[at]
	}
	for at, label := range labels {
		rates[at] = abi.LabelWeight{Label: label, Weight: round(counts[at] / all)}
	}
	return rates
}

// shown is what runs showed of a case whose label is known.
type shown struct {
	label   string
	results []abi.ExperimentResult
}

// emRounds is more than enough for the likelihood to stand still.
const emRounds = 40

// learnOutcomes fits a model whose patterns are given to cases: by expectation and maximization over the patterns of each label. The first
// form counts beside the cases. Its result depends on the cases and their order alone.
func learnOutcomes(first *abi.OutcomeModel, cases []shown) *abi.OutcomeModel {
	m := *first
	m.Shapes, m.Patterns = slices.Clone(first.Shapes), slices.Clone(first.Patterns)
	facts := make([]odds.Facts, len(cases))
	runs := make([][][][3]int, len(cases)) // by case, pattern and rate; rates keep their cells
	for i := range cases {
		facts[i] = odds.FactsOf(cases[i].results)
		runs[i] = make([][][3]int, len(m.Patterns))
		for j := range m.Patterns {
			runs[i][j] = odds.RateRuns(&m.Patterns[j], cases[i].results)
		}
	}
	for range emRounds {
		told := map[string][]weighted{}
		counts := make([]patternCounts, len(m.Patterns))
		for i := range cases {
			for j, p := range odds.Patterns(&m, cases[i].label, cases[i].results) {
				if p < negligible {
					continue
				}
				counts[j].add(cases[i].label, &facts[i], p)
				for k, n := range runs[i][j] {
					if n != [3]int{} {
						shape := m.Patterns[j].Rates[k].Shape
						told[shape] = append(told[shape], weighted{n, p})
					}
				}
			}
		}
		for j := range m.Patterns {
			counts[j].put(&m.Patterns[j], &first.Patterns[j], len(cases))
		}
		for s := range m.Shapes {
			m.Shapes[s] = refit(m.Shapes[s], first.Shapes[s], told[m.Shapes[s].Name])
		}
	}
	return &m
}

// negligible is the probability of a pattern from which on it takes part in learning.
const negligible = 1e-6

// patternCounts are of cases, each by the probability of the pattern.
type patternCounts struct {
	labels                        map[string]float64
	based, absent, known, changed float64
}

func (c *patternCounts) add(label string, f *odds.Facts, p float64) {
	if c.labels == nil {
		c.labels = map[string]float64{}
	}
	c.labels[label] += p
	if f.Based {
		c.based += p
	}
	if f.Absent {
		c.absent += p
	}
	if !f.Absent && (f.Test == abi.TestChanged || f.Test == abi.TestUnchanged) {
		c.known += p
		if f.Test == abi.TestChanged {
			c.changed += p
		}
	}
}

// put writes what was counted. A pattern that the first form says can't lack the test keeps that.
func (c *patternCounts) put(p, first *abi.OutcomePattern, cases int) {
	p.Labels = slices.Clone(first.Labels)
	for i := range p.Labels {
		p.Labels[i].Weight = (c.labels[p.Labels[i].Label] + first.Labels[i].Weight) / float64(cases+1)
	}
	if first.Absent > 0 {
		p.Absent = (c.absent + 2*first.Absent) / (c.based + 2)
	}
	const fewKnown = 20 // so many cases count for the first guess of what is seldom known
	p.Changed = (c.changed + fewKnown*first.Changed) / (c.known + fewKnown)
}

type weighted struct {
	runs [3]int
	by   float64
}

// refit moves a shape towards runs that were drawn from it, beside some that its first form gives: a round of Minka's fixed-point
// iteration for the Dirichlet-multinomial distribution.
func refit(s, first abi.RateShape, told []weighted) abi.RateShape {
	const runs, by = 20, 2
	sum := first.Passed + first.Same + first.Other
	share := func(a float64) int { return int(math.Round(runs * a / sum)) }
	told = append(slices.Clone(told), weighted{[3]int{share(first.Passed), share(first.Same), share(first.Other)}, by})
	var up [3]float64
	a := [3]float64{s.Passed, s.Same, s.Other}
	down, all := 0.0, a[0]+a[1]+a[2]
	for i := range told {
		t := &told[i]
		n := 0
		for j, x := range t.runs {
			up[j] += t.by * (mathext.Digamma(float64(x)+a[j]) - mathext.Digamma(a[j]))
			n += x
		}
		down += t.by * (mathext.Digamma(float64(n)+all) - mathext.Digamma(all))
	}
	bound := func(x float64) float64 { return min(max(x, 0.005), 500) }
	s.Passed, s.Same, s.Other = bound(a[0]*up[0]/down), bound(a[1]*up[1]/down), bound(a[2]*up[2]/down)
	return s
}

// rounded keeps of each figure what the cases can tell.
func rounded(m *abi.OutcomeModel) {
	for i := range m.Shapes {
		s := &m.Shapes[i]
		s.Passed, s.Same, s.Other = round(s.Passed), round(s.Same), round(s.Other)
	}
	for i := range m.Patterns {
		p := &m.Patterns[i]
		p.Absent, p.Changed = round(p.Absent), round(p.Changed)
		for j := range p.Labels {
			p.Labels[j].Weight = round(p.Labels[j].Weight)
		}
	}
}

// round keeps four digits.
func round(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}
