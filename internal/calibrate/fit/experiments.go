package fit

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// leastResults is with how many cases of one kind of experiment its table is learned.
const leastResults = LeastCases

// smoothings are for how many cases of each label the default of a table counts, the most first.
var smoothings = []float64{math.Inf(1), 100, 30, 10, 3} //nolint:gochecknoglobals // a constant

// noise is the share of a standard error by which a learned table has to be better than the default.
const noise = 1

// TableWorth says what came of the table of one kind of experiment.
type TableWorth struct {
	Experiment string `json:"experiment"`
	// Cases with a known truth and a result.
	Cases int `json:"cases"`
	// Learned: the table is of these cases. Else the default stays, and Why says why.
	Learned bool   `json:"learned"`
	Why     string `json:"why,omitempty"`
}

// said tells it in words.
func (w *TableWorth) said(smoothing float64) string {
	if !w.Learned {
		return fmt.Sprintf("The default, after %d cases: %s", w.Cases, w.Why)
	}
	return fmt.Sprintf("Learned from the cases, %d of them; the default counts for %v of each label", w.Cases, smoothing)
}

// ExperimentWorth says what came of all tables. The losses are of cases whose part the tables were not learned on, by
// what experiments tell of them alone.
type ExperimentWorth struct {
	Tables []TableWorth `json:"tables"`
	// Smoothing is for how many cases of each label the default counts; 0 where it stays as it is.
	Smoothing      float64 `json:"smoothing"`
	DefaultLogLoss float64 `json:"default_log_loss"`
	LogLoss        float64 `json:"log_loss"`
}

// experimentTables learns what outcomes of experiments tell, each kind by itself and smoothed towards the default. How much is chosen on parts that
// were not learned on, groups whole; unless learning is better than the default by more than noise, that stays.
func (c *corpus) experimentTables(config *Config) ([]abi.ExperimentTable, *ExperimentWorth) {
	if config.Experiments == nil {
		return nil, nil
	}
	tables := config.Experiments.Experiments
	worth := &ExperimentWorth{Tables: make([]TableWorth, len(tables))}
	results := make([][]abi.ExperimentResult, len(c.samples))
	var use []int
	for i := range c.samples {
		results[i] = config.Results.Experiments[c.samples[i].entry.Case.ID]
		if len(results[i]) > 0 {
			use = append(use, i)
		}
	}
	learned := false
	for i := range tables {
		w := &worth.Tables[i]
		w.Experiment = tables[i].Experiment.String()
		for _, j := range use {
			if outcomeOf(results[j], &tables[i].Experiment) != "" {
				w.Cases++
			}
		}
		if w.Learned = w.Cases >= leastResults; !w.Learned {
			w.Why = "fewer than " + strconv.Itoa(leastResults) + " cases"
		}
		learned = learned || w.Learned
	}
	if !learned {
		return tables, worth
	}
	part := c.folds(use, parts(len(use), c.groups), config.Seed)
	judgements := make([][]float64, len(smoothings))
	for s, smoothing := range smoothings {
		judgements[s] = c.judgeTables(config, results, use, part, smoothing)
	}
	chosen := c.simplest(judgements, places(len(judgements)), use, noise)
	worth.DefaultLogLoss, worth.LogLoss = mean(judgements[0], use), mean(judgements[chosen], use)
	if chosen == 0 {
		for i := range worth.Tables {
			if w := &worth.Tables[i]; w.Learned {
				w.Learned, w.Why = false, "not better than the default by more than noise"
			}
		}
		return tables, worth
	}
	worth.Smoothing = smoothings[chosen]
	return c.learnTables(config, results, use, worth.Smoothing), worth
}

// judgeTables gives the losses of cases by tables that were learned on the other parts.
func (c *corpus) judgeTables(config *Config, results [][]abi.ExperimentResult, use, part []int, smoothing float64) []float64 {
	learned := map[int]*abi.Profile{}
	losses := make([]float64, len(c.samples))
	for _, i := range use {
		p := learned[part[i]]
		if p == nil {
			others := slices.DeleteFunc(slices.Clone(use), func(k int) bool { return part[k] == part[i] })
			p = &abi.Profile{Experiments: c.learnTables(config, results, others, smoothing), Causes: config.Experiments.Causes}
			learned[part[i]] = p
		}
		s := &c.samples[i]
		nats := make([]float64, len(s.labels))
		odds.AddExperiments(nats, s.entry.Case.Labels, p, results[i])
		losses[i] = lossOf(odds.Probabilities(nats, odds.Doubt), s.truth)
	}
	return losses
}

// countings is how often outcomes are counted: which cause made a label come true is known no better than the tables before.
const countings = 8

// learnTables counts outcomes by cause, beside a default that counts for some cases of each. A kind of experiment of which there are too
// few cases keeps its default. What a table does not list stays so: its counts take from what is listed.
func (c *corpus) learnTables(config *Config, results [][]abi.ExperimentResult, use []int, smoothing float64) []abi.ExperimentTable {
	p := &abi.Profile{Experiments: config.Experiments.Experiments, Causes: config.Experiments.Causes}
	if math.IsInf(smoothing, 1) {
		return p.Experiments
	}
	for range countings {
		p.Experiments = c.countOutcomes(config.Experiments.Experiments, p, results, use, smoothing)
	}
	return p.Experiments
}

// countOutcomes gives tables of the cases, each cause of a label by what the tables of the profile make of it.
func (c *corpus) countOutcomes(of []abi.ExperimentTable, p *abi.Profile, results [][]abi.ExperimentResult, use []int, smoothing float64) []abi.ExperimentTable {
	causes := make(map[int][]odds.CauseProbability, len(use))
	for _, i := range use {
		causes[i] = odds.Causes(c.labels[c.trueLabel(i)], p, results[i])
	}
	tables := slices.Clone(of)
	for t := range tables {
		counts, cases, total := map[abi.ExperimentOutcome]map[string]float64{}, map[string]float64{}, 0
		for _, i := range use {
			outcome := outcomeOf(results[i], &tables[t].Experiment)
			if outcome == "" {
				continue
			}
			if counts[outcome] == nil {
				counts[outcome] = map[string]float64{}
			}
			for _, cause := range causes[i] {
				name := cause.Name
				if !names(&tables[t], name) { // the table does not tell it from others of its label
					name = c.labels[c.trueLabel(i)]
				}
				counts[outcome][name] += cause.Probability
				cases[name] += cause.Probability
			}
			total++
		}
		if total >= leastResults {
			tables[t].Outcomes = smoothedOutcomes(tables[t].Outcomes, counts, cases, smoothing)
		}
	}
	return tables
}

// names says whether a table lists a label or a cause.
func names(t *abi.ExperimentTable, name string) bool {
	return slices.ContainsFunc(t.Outcomes, func(o abi.OutcomeLikelihood) bool {
		return slices.ContainsFunc(o.Given, func(w abi.LabelWeight) bool { return w.Label == name })
	})
}

func smoothedOutcomes(of []abi.OutcomeLikelihood, counts map[abi.ExperimentOutcome]map[string]float64, cases map[string]float64, smoothing float64) []abi.OutcomeLikelihood {
	out := slices.Clone(of)
	for o := range out {
		out[o].Given = slices.Clone(out[o].Given)
		for g := range out[o].Given {
			w := &out[o].Given[g]
			x := (smoothing*w.Weight + counts[out[o].Outcome][w.Label]) / (smoothing + cases[w.Label])
			w.Weight = round(min(max(x, leastProb), 1))
		}
	}
	return out
}

// outcomeOf is what an experiment showed of a case; empty where it was not run.
func outcomeOf(results []abi.ExperimentResult, e *abi.Experiment) abi.ExperimentOutcome {
	for i := range results {
		if results[i].Experiment == *e && results[i].Outcome != abi.OutcomeNotRun {
			return results[i].Outcome
		}
	}
	return ""
}
