package measure

import (
	"bufio"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mathext"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

//go:embed outcomes.yaml labels.yaml
var firstModels embed.FS

// FirstOutcomes is the outcome model of such labels before anything is learned; nil where none has patterns for all of them.
func FirstOutcomes(labels []string) (*abi.OutcomeModel, error) {
	for _, name := range []string{"outcomes.yaml", "labels.yaml"} {
		data, err := firstModels.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p, err := module.ParseProfile(name, data)
		if err != nil || covers(p.Outcomes, labels) {
			return p.Outcomes, err
		}
	}
	return nil, nil //nolint:nilnil // there is no such model
}

// covers says whether every label is one of those that a model has patterns for.
func covers(m *abi.OutcomeModel, labels []string) bool {
	return len(labels) > 0 && !slices.ContainsFunc(labels, func(label string) bool {
		return !slices.ContainsFunc(m.Patterns, func(p abi.OutcomePattern) bool {
			return slices.ContainsFunc(p.Labels, func(w abi.LabelWeight) bool { return w.Label == label })
		})
	})
}

// Shown is what runs showed of a case whose label is known.
type Shown struct {
	Label   string
	Results []abi.ExperimentResult
}

// emRounds is more than enough for the likelihood to stand still.
const emRounds = 40

// LearnOutcomes fits a model whose patterns are given to cases: by expectation and maximization over the patterns of each label. The first
// form counts beside the cases. Its result depends on the cases and their order alone.
func LearnOutcomes(first *abi.OutcomeModel, cases []Shown) *abi.OutcomeModel {
	m := *first
	m.Shapes, m.Patterns = slices.Clone(first.Shapes), slices.Clone(first.Patterns)
	facts := make([]odds.Facts, len(cases))
	runs := make([][][][3]int, len(cases)) // by case, pattern and rate; rates keep their cells
	for i := range cases {
		facts[i] = odds.FactsOf(cases[i].Results)
		runs[i] = make([][][3]int, len(m.Patterns))
		for j := range m.Patterns {
			runs[i][j] = odds.RateRuns(&m.Patterns[j], cases[i].Results)
		}
	}
	for range emRounds {
		told := map[string][]weighted{}
		counts := make([]patternCounts, len(m.Patterns))
		for i := range cases {
			for j, p := range odds.Patterns(&m, cases[i].Label, cases[i].Results) {
				if p < negligible {
					continue
				}
				counts[j].add(cases[i].Label, &facts[i], p)
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

// outcomes learns what runs tell of the labels, and how common these are, where the first model has patterns for them.
func (c *corpus) outcomes(config *FitConfig, p *abi.Profile, r *FitReport) error {
	if config.Results == nil {
		return nil
	}
	first, err := FirstOutcomes(c.labels)
	if first == nil {
		if err == nil {
			r.Warnings = append(r.Warnings, "nothing is learned of experiments: no model knows all of the labels "+strings.Join(c.labels, ", "))
		}
		return err
	}
	var cases []Shown
	counts := make([]float64, len(c.labels))
	for i := range c.samples {
		at := c.trueLabel(i)
		counts[at]++
		if results := config.Results.Experiments[c.samples[i].entry.Case.ID]; len(results) > 0 {
			cases = append(cases, Shown{c.labels[at], results})
		}
	}
	learned := LearnOutcomes(first, cases)
	rounded(learned)
	r.Outcomes = len(cases)
	p.Outcomes = learned
	if len(p.BaseRates) > 0 && !learned.Alone {
		return nil
	}
	p.BaseRates = nil
	all := 0.0
	for at, label := range c.labels {
		for i := range first.Patterns {
			for _, w := range first.Patterns[i].Labels {
				if w.Label == label {
					counts[at] += w.Weight
				}
			}
		}
		all += counts[at]
	}
	for at, label := range c.labels {
		p.BaseRates = append(p.BaseRates, abi.LabelWeight{Label: label, Weight: round(counts[at] / all)})
	}
	return nil
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

// Results are what experiments showed, and what language models stated, of cases by their ids.
type Results struct {
	Experiments map[string][]abi.ExperimentResult
	Statements  map[string][]trial.Statement
}

// maxResultLine bounds a line of results.
const maxResultLine = 64 << 20

// ReadResults reads the results of `try --format jsonl`. Its error names the line.
func ReadResults(in io.Reader) (*Results, error) {
	r := &Results{map[string][]abi.ExperimentResult{}, map[string][]trial.Statement{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxResultLine)
	n := 0
	for lines.Scan() {
		n++
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := r.read(lines.Bytes()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	return r, nil
}

// read reads a line. Results that no host gives are rejected.
func (r *Results) read(line []byte) error {
	var of struct {
		ID          string             `json:"id"`
		Experiments []trial.Experiment `json:"experiments"`
		Statements  []trial.Statement  `json:"statements"`
	}
	if err := json.Unmarshal(line, &of); err != nil {
		return err
	}
	if r.Experiments[of.ID] != nil {
		return fmt.Errorf("a second result of %q", of.ID)
	}
	results := []abi.ExperimentResult{}
	for i := range of.Experiments {
		one := of.Experiments[i].Result()
		message := codec.AppendExperimentResult(nil, &one)
		if _, err := codec.DecodeExperimentResult(message, len(message)); err != nil {
			return fmt.Errorf("experiments[%d]: %w", i, err)
		}
		results = append(results, one)
	}
	for i, s := range of.Statements {
		if !odds.IsModel(s.Source) || s.Label == "" || s.Confidence < 0 || s.Confidence > 1 {
			return fmt.Errorf("statements[%d]: needs a source %sNAME, a label and a confidence in [0, 1]", i, abi.ModelSource)
		}
	}
	r.Experiments[of.ID], r.Statements[of.ID] = results, of.Statements
	return nil
}

// AddTo gives the entries with what language models stated among the evidence: a model is a source like any other.
func (r *Results) AddTo(entries []docket.Entry) []docket.Entry {
	entries = slices.Clone(entries)
	for i := range entries {
		c := &entries[i].Case
		c.Evidence = slices.Clone(c.Evidence)
		for _, s := range r.Statements[c.ID] {
			c.Evidence = append(c.Evidence, abi.Evidence{SourceRef: s.Source, Supports: s.Label, RelevanceConfidence: s.Confidence})
		}
	}
	return entries
}
