package odds

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// ExperimentTable finds what a profile knows of an experiment; nil where it knows nothing.
func ExperimentTable(p *abi.Profile, e *abi.Experiment) *abi.ExperimentTable {
	if p == nil {
		return nil
	}
	for i := range p.Experiments {
		if p.Experiments[i].Experiment == *e {
			return &p.Experiments[i]
		}
	}
	return nil
}

// Tells says whether an experiment can tell anything by a profile.
func Tells(p *abi.Profile, e *abi.Experiment) bool {
	return p != nil && p.Outcomes != nil || ExperimentTable(p, e) != nil
}

// AddExperiments adds what the results of experiments tell of the labels.
//
// A label comes true by one of its causes (see [abi.Cause]); one without any is a cause of its own. A result speaks against each
// cause by how much less likely its outcome is there than under the cause that it fits best. An experiment without a table
// and an outcome that the table does not list tell nothing.
//
// Results on the same trees depend on each other: against each cause the strongest of them counts, not the sum, so that a
// rerun that shows the same again tells nothing new. Where some of the runs in the host's own environment passed and some
// failed as the case did, each of these results counts as mixed. Results on other trees are independent given the cause, and add
// up for each cause: two trees that show one fact, as a product that breaks a test does, count little more than one of them.
// A label is as likely as its causes, each by its share.
//
// A failure that comes back on head tells labels apart only where one of them does not expect it: see [causeList.expecting]. Which other
// results count is up to [counting].
//
// A profile with an outcome model ([abi.OutcomeModel]) has that say it all.
func AddExperiments(to []float64, labels []string, p *abi.Profile, results []abi.ExperimentResult) {
	if p != nil && p.Outcomes != nil {
		for j, nats := range newBelief(labels, p.Outcomes).told(results) {
			to[j] += nats
		}
		return
	}
	causes := causesOf(labels, p, testOf(results))
	nats := causes.nats(p, results, false)
	for j := range labels {
		to[j] += causes.sum(j, nats)
	}
}

// cause is a way in which the label of an index comes true.
type cause struct {
	name, of string // its own, and that of the label
	label    int
	share    float64 // P(cause, and the test is as it is | label)
}

type causeList []cause

// causesOf are the causes of the labels, by what is known of the failing test. A label of which that leaves none is one.
func causesOf(labels []string, p *abi.Profile, test abi.TestChange) causeList {
	var list causeList
	for j, label := range labels {
		first := len(list)
		for i := 0; p != nil && i < len(p.Causes); i++ {
			if share := shareOf(&p.Causes[i], test); p.Causes[i].Label == label && share > 0 {
				list = append(list, cause{p.Causes[i].Name, label, j, share})
			}
		}
		if first == len(list) {
			list = append(list, cause{label, label, j, 1})
		}
	}
	return list
}

// notNew says of a test that the base has it, and nothing else.
const notNew abi.TestChange = "not new"

// testOf is how the failing test differs from the test of the base, as far as the results tell it.
func testOf(results []abi.ExperimentResult) (test abi.TestChange) {
	for i := range results {
		r := &results[i]
		passes, fails := passesAndFails(r)
		switch {
		case r.Outcome == abi.OutcomeNoTest && r.Experiment.Tests == abi.Base:
			return abi.TestNew // such as a new subtest of a test that was changed
		case r.Test != "":
			test = r.Test
		case test == "" && r.Experiment.Tests == abi.Base && (passes || fails):
			test = notNew
		}
	}
	return test
}

func shareOf(c *abi.Cause, test abi.TestChange) float64 {
	switch test {
	case abi.TestUnchanged:
		return c.Unchanged
	case abi.TestChanged:
		return c.Changed
	case abi.TestNew:
		return c.New
	case notNew:
		return c.Unchanged + c.Changed
	default:
		return c.Unchanged + c.Changed + c.New
	}
}

// nats are what all results together tell of each cause. foretold: what was not rerun is taken to fail again, see [counting].
func (l causeList) nats(p *abi.Profile, results []abi.ExperimentResult, foretold bool) []float64 {
	sum := make([]float64, len(l))
	counts := counting(results, foretold)
	var trees []*treeObjections
	for i := range results {
		e := &results[i].Experiment
		if !counts(&results[i]) {
			continue
		}
		v := l.objections(p, results, i)
		if v == nil {
			continue
		}
		at := slices.IndexFunc(trees, func(t *treeObjections) bool { return t.product == e.Product && t.tests == e.Tests })
		if at < 0 {
			at = len(trees)
			trees = append(trees, &treeObjections{product: e.Product, tests: e.Tests, nats: make([]float64, len(l)), even: make([]float64, len(l))})
		}
		expecting := l.expecting(p, results, i)
		for c, x := range v {
			trees[at].nats[c] = min(trees[at].nats[c], x)
			if expecting[l[c].label] {
				trees[at].even[c] = min(trees[at].even[c], x)
			}
		}
	}
	for _, t := range trees {
		l.level(t.nats, t.even)
		for c, x := range t.nats {
			sum[c] += x
		}
	}
	return sum
}

// treeObjections are the nats, none above 0, by which the results on one combination of trees speak against each cause: all of them,
// and those that tell the causes of a label apart but not the label from others.
type treeObjections struct {
	product, tests abi.TreeRevision
	nats, even     []float64
}

// level takes from the nats of each label what the even ones alone would take from it: they only move its probability from one
// cause to another.
func (l causeList) level(nats, even []float64) {
	none := make([]float64, len(l))
	for j := range l[len(l)-1].label + 1 {
		lost := l.sum(j, even) - l.sum(j, none)
		for c := range l {
			if l[c].label == j && lost < 0 {
				nats[c] -= lost
			}
		}
	}
}

// expecting says which labels, by their indexes, the i-th result does not tell apart, as far as it shows the case's failure on head
// again: those with a cause under which this is the likeliest of all outcomes. However often such a failure comes back, the odds
// between these labels stay what they were; a broken environment that is mended by now, for example, is excluded in favour of
// one that lasts, not of a bug.
func (l causeList) expecting(p *abi.Profile, results []abi.ExperimentResult, i int) map[int]bool {
	labels := map[int]bool{}
	table := ExperimentTable(p, &results[i].Experiment)
	if table == nil || !onHead(&results[i]) || pooled(results, i) != abi.OutcomeSame {
		return labels
	}
	likeliest := make([]float64, len(l))
	for _, o := range table.Outcomes {
		for c, x := range l.likelihoods(o.Given) {
			likeliest[c] = max(likeliest[c], x)
		}
	}
	for _, o := range table.Outcomes {
		if o.Outcome != abi.OutcomeSame {
			continue
		}
		for c, x := range l.likelihoods(o.Given) {
			if x > 0 && x == likeliest[c] {
				labels[l[c].label] = true
			}
		}
	}
	return labels
}

// sum is what the causes of a label have together, each by its share.
func (l causeList) sum(label int, nats []float64) float64 {
	most := math.Inf(-1)
	for c := range l {
		if l[c].label == label {
			most = max(most, nats[c])
		}
	}
	if math.IsInf(most, -1) {
		return most
	}
	total := 0.0
	for c := range l {
		if l[c].label == label {
			total += l[c].share * math.Exp(nats[c]-most)
		}
	}
	return most + math.Log(total)
}

// objections are the nats by which the i-th result speaks against each cause by itself, 0 for the one that it fits best; nil
// where it tells nothing.
func (l causeList) objections(p *abi.Profile, results []abi.ExperimentResult, i int) []float64 {
	table := ExperimentTable(p, &results[i].Experiment)
	if table == nil || len(l) == 0 {
		return nil
	}
	outcome := pooled(results, i)
	at := slices.IndexFunc(table.Outcomes, func(o abi.OutcomeLikelihood) bool { return o.Outcome == outcome })
	if at < 0 || len(table.Outcomes[at].Given) == 0 {
		return nil
	}
	v := l.likelihoods(table.Outcomes[at].Given)
	most := slices.Max(v)
	for c := range v {
		v[c] = math.Log(v[c] / most)
	}
	return v
}

// likelihoods are those of a list for each cause: that of its name, else that of its label, else the geometric mean of all.
func (l causeList) likelihoods(given []abi.LabelWeight) []float64 {
	out := make([]float64, len(l))
	if len(given) == 0 {
		return out
	}
	mean := math.Exp(meanLog(given))
	for c := range l {
		out[c] = weightOf(given, l[c].name, weightOf(given, l[c].of, mean))
	}
	return out
}

// Objections are the nats by which the i-th result speaks against each label by itself, 0 for the label that it fits best; nil
// where it tells nothing, or does not count beside the others.
func Objections(labels []string, p *abi.Profile, results []abi.ExperimentResult, i int) []float64 {
	if p != nil && p.Outcomes != nil {
		return resultShare(labels, p.Outcomes, results, i)
	}
	if !counting(results, false)(&results[i]) {
		return nil
	}
	causes := causesOf(labels, p, testOf(results))
	nats := causes.objections(p, results, i)
	if nats == nil {
		return nil
	}
	even := make([]float64, len(nats))
	expecting := causes.expecting(p, results, i)
	for c, x := range nats {
		if expecting[causes[c].label] {
			even[c] = x
		}
	}
	causes.level(nats, even)
	v := make([]float64, len(labels))
	for j := range labels {
		v[j] = causes.sum(j, nats)
	}
	most := slices.Max(v)
	for j := range v {
		v[j] -= most
	}
	return v
}

// pooled is the outcome by which the i-th result counts: mixed where it and others on the same trees passed and failed in the
// host's own environment. In a clean environment a test that needs a variable or a file fails or passes for that reason.
func pooled(results []abi.ExperimentResult, i int) abi.ExperimentOutcome {
	own := &results[i]
	passes, fails := passesAndFails(own)
	if own.Experiment.Environment == abi.CleanEnvironment || !passes && !fails {
		return own.Outcome
	}
	for j := range results {
		e := &results[j].Experiment
		if e.Environment != abi.CleanEnvironment && e.Product == own.Experiment.Product && e.Tests == own.Experiment.Tests {
			p, f := passesAndFails(&results[j])
			passes, fails = passes || p, fails || f
		}
	}
	if passes && fails {
		return abi.OutcomeMixed
	}
	return own.Outcome
}

// counting says which results count. Those of head do, but for clean environments. What clean environments and other trees show tells
// why the case fails on head, if it still does:
//
//   - Where head no longer fails in its own environment, or not each time, or in ways that vary, it is chance and tells nothing.
//   - Where head was not run again in its own environment, nobody knows.
//   - Mixtures of the base and head tell what the change has done only where the base does not fail as well: see [BaseFails].
//
// foretold: a rerun of head that nobody asked for yet is taken to fail, and the base to pass.
func counting(results []abi.ExperimentResult, foretold bool) func(*abi.ExperimentResult) bool {
	has := func(is func(*abi.ExperimentResult) bool) bool {
		return slices.ContainsFunc(results, func(r abi.ExperimentResult) bool { return is(&r) })
	}
	fails := staysTheSame(results) && (has(rerun) || foretold && !has(func(r *abi.ExperimentResult) bool { return IsRerun(&r.Experiment) }))
	red := BaseFails(results) != nil
	passes := !red && (has(based) || foretold && !has(func(r *abi.ExperimentResult) bool { return isBase(&r.Experiment) }))
	return func(r *abi.ExperimentResult) bool {
		e := &r.Experiment
		switch {
		case onHead(r):
			return fails || e.Environment != abi.CleanEnvironment
		case isBase(e):
			return fails && !red
		default:
			return fails && passes
		}
	}
}

// BaseFails is the result by which the failing test fails on the base, the revision that was named as the base, as well; nil where it
// passes there, or nothing is known. Such a failure is older than the change, or it comes from the environment, or from a base that
// was broken in another way: which of these, no run of these trees tells, so that it speaks for none of them.
func BaseFails(results []abi.ExperimentResult) *abi.ExperimentResult {
	for i := range results {
		r := &results[i]
		if isBase(&r.Experiment) && (r.Outcome == abi.OutcomeSame || r.Outcome == abi.OutcomeOther) {
			return r
		}
	}
	return nil
}

// IsRerun says whether an experiment runs the failing test again as it failed: by itself, on head, in its own environment. It comes
// before all others, see [Choose].
func IsRerun(e *abi.Experiment) bool {
	return e.Product == abi.Head && e.Tests == abi.Head && e.Environment == abi.OriginalEnvironment && e.Order == abi.Alone
}

func isBase(e *abi.Experiment) bool { return e.Product == abi.Base && e.Tests == abi.Base }

// rerun says whether a result shows what comes of the failing test on head, in its own environment.
func rerun(r *abi.ExperimentResult) bool {
	passes, fails := passesAndFails(r)
	return onHead(r) && r.Experiment.Environment == abi.OriginalEnvironment && (passes || fails || r.Outcome == abi.OutcomeOther)
}

// based says whether a result shows what comes of the failing test on the base, if only that it can't be run there.
func based(r *abi.ExperimentResult) bool {
	return isBase(&r.Experiment) && r.Outcome != abi.OutcomeNotRun
}

// staysTheSame says whether head fails each time that it was run again in the host's own environment, and not in a way that varies, as
// far as that is known.
func staysTheSame(results []abi.ExperimentResult) bool {
	for i := range results {
		if r := &results[i]; onHead(r) && r.Experiment.Environment != abi.CleanEnvironment {
			if passes, _ := passesAndFails(r); passes || r.Same > 0 && r.Other > 0 {
				return false
			}
		}
	}
	return true
}

// NotReproduced says whether the failing test was run again on head in its own environment, and never failed as the case did. Runs count
// that tell nothing by themselves, too, such as those that fail because the test lacks a file.
//
// Such a failure was chance, or came from what was otherwise in the failing run. Which of these, no rerun tells, unless another environment
// mends what fails in this one: then false is returned.
func NotReproduced(results []abi.ExperimentResult) bool {
	own, mended := 0, false
	passed := false
	for i := range results {
		switch r := &results[i]; {
		case !onHead(r):
		case r.Experiment.Environment == abi.CleanEnvironment:
			mended = mended || r.Outcome == abi.OutcomePassed
		case r.Experiment.Environment == abi.OriginalEnvironment && (r.Same > 0 || r.Outcome == abi.OutcomeSame):
			return false
		case r.Experiment.Environment == abi.OriginalEnvironment:
			own, passed = own+r.Made(), passed || r.Passed > 0
		}
	}
	return own > 0 && (passed || !mended)
}

func onHead(r *abi.ExperimentResult) bool {
	return r.Experiment.Product == abi.Head && r.Experiment.Tests == abi.Head
}

func passesAndFails(r *abi.ExperimentResult) (passes, fails bool) {
	mixed := r.Outcome == abi.OutcomeMixed
	return mixed || r.Outcome == abi.OutcomePassed, mixed || r.Outcome == abi.OutcomeSame
}
