package judge

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// Trial is what the court made of a case.
type Trial struct {
	Light       string // its label before the trial; empty where it gave none
	Label       string // empty: nothing was decided
	Confidence  float64
	Activated   bool // there was a trial; otherwise Light's answer stood
	Experiments []trial.Experiment
	Conclusion  trial.Finding
}

// holdCourt gives all cases to the shipped court, with experiments as the command has them, but without sources.
func holdCourt(ctx context.Context, bench *study.Bench, list []Judged) error {
	if len(list) == 0 {
		return nil
	}
	config := host.Config{
		Court: func(c *pipeline.Court) { c.RejectionThreshold, c.ActivationThreshold = 0, 0.95 },
		Now:   func() time.Time { return time.Unix(0, 0) }, // so that no trial ends for want of time
	}
	var err error
	if config.LightPath, err = study.LightPath(); err != nil {
		return err
	}
	const name = "profiles/go-test.yaml"
	data, err := pipelines.FS.ReadFile(name)
	if err != nil {
		return err
	}
	if config.Profile, err = module.ParseProfile(name, data); err != nil {
		return err
	}
	cells := client{}
	entries := make([]docket.Entry, len(list))
	for i := range list {
		c := list[i].Case
		if entries[i], err = c.Failure.Entry(); err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		entries[i].Case.ID = c.ID
		cells[c.ID] = spend(c)
		offers, _ := cells.Offers(ctx, &entries[i].Case)
		cells[c.ID].lacked = len(plan.Offers(0, plan.GoPace(), plan.BuildOf)) - len(offers)
	}
	config.Experiments = cells
	next := 0
	return bench.Try(ctx, config, entries, 0, func(t *trial.Trial) {
		j, f := &list[next], t.Result.Final
		next++
		j.Trial = Trial{lightOf(t), f.Classification, f.Confidence, t.Result.Activated, t.Result.Experiments, t.Conclusion().Finding}
		j.Answers[Court] = cells[j.Case.ID].says(attribution(&j.Trial))
	})
}

func lightOf(t *trial.Trial) string {
	if t.Result.Light == nil {
		return ""
	}
	return t.Result.Light.Classification
}

// attribution reads the four labels as an answer to whether the change did it.
func attribution(t *Trial) history.Attribution {
	switch t.Label {
	case "":
		return history.Open
	case gotest.NoDefect:
		return history.ByChance
	case gotest.SystemIssue:
		return history.Surroundings
	}
	for i := range t.Experiments {
		e := &t.Experiments[i]
		if e.Product == abi.Base && e.Tests == abi.Base && e.Environment == abi.OriginalEnvironment && e.Passed == 0 && e.Same > 0 {
			return history.Preexisting // the label is about a cause that the base has, too
		}
	}
	return history.Caused
}

// client answers experiments of several cases from their cells. A case has one trial at a time.
type client map[string]*spending

// cellOf finds the cell of an experiment; nil where it is not saved.
func cellOf(c *history.Case, e abi.Experiment) *history.Cell {
	tree, before := underTest(c)
	role := map[abi.TreeRevision]history.Role{abi.Head: tree, abi.Base: before}
	return c.Find(role[e.Product], role[e.Tests], e.Environment, e.Order)
}

// Offers are those of the lab, where cells are saved. There is no error.
func (cl client) Offers(_ context.Context, subject *abi.Case) ([]abi.ExperimentOffer, error) {
	a := cl[subject.ID]
	elapsed, pace := time.Duration(0), plan.OtherPace()
	if a.c.Failure.Runner == "go" {
		pace = plan.GoPace()
		if tests := gotest.TestsOf(subject); len(tests) == 1 {
			elapsed = tests[0].Elapsed
		}
	} else if test, ok := junit.Named(subject); ok {
		elapsed = test.Elapsed
	}
	return plan.Offers(elapsed, pace, func(e abi.Experiment) plan.Build {
		k := cellOf(a.c, e)
		switch {
		case k == nil, before(e) > 0 && before(e) >= len(k.Runs):
			return plan.Impossible
		case k.Why == abi.OutcomeNoTest && k.Runs == "":
			return plan.Nothing
		}
		return plan.BuildOf(e)
	}), nil
}

// Why says nothing: courts don't read it.
func (cl client) Why(*abi.Case) string { return "" }

// Digest names the answers.
func (cl client) Digest() string { return "saved cells" }

// Run gives what an experiment came to, unless the budget of the case is used up.
func (cl client) Run(_ context.Context, subject *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	a := cl[subject.ID]
	k := cellOf(a.c, e)
	switch {
	case k == nil:
		return notRun(e, "it is not offered"), nil
	case a.seconds >= experiment.DefaultPerCase.Seconds():
		return notRun(e, "the budget for each case is used up"), nil
	}
	r, runs := resultOf(k, e)
	r.Loaded = loadedOf(a.c.Loaded[k.Product])
	a.once(k, e, runs)
	return r, nil
}

// once pays for an experiment when it is first asked for.
func (s *spending) once(k *history.Cell, e abi.Experiment, runs int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked[e] {
		s.asked[e] = true
		s.pay(k, runs)
	}
}

func notRun(e abi.Experiment, why string) abi.ExperimentResult {
	return abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun, Detail: why}
}

// resultOf is what the lab would say of the first runs of a cell, and how many of them it would make.
func resultOf(k *history.Cell, e abi.Experiment) (abi.ExperimentResult, int) {
	r := abi.ExperimentResult{Experiment: e, Test: k.Test}
	all := k.Runs[min(before(e), len(k.Runs)):]
	absent, made := false, 0
	for ; made < min(e.Runs, len(all)) && !absent; made++ {
		s := look(all[made : made+1])
		r.Passed, r.Same, r.Other, absent = r.Passed+s.passed, r.Same+s.same, r.Other+s.other, s.absent > 0
	}
	unchanged := e.Product == abi.Head && e.Tests == abi.Head
	switch failed := r.Same + r.Other; {
	case r.Passed > 0 && failed > 0:
		r.Outcome = abi.OutcomeMixed
	case r.Passed > 0:
		r.Outcome = abi.OutcomePassed
	case odds.IsRerun(&e) && r.Same == 0 && r.Other > 1 && r.Other == made && all[0] != 'z' && strings.Count(all[:made], all[:1]) == made:
		// It always fails in one other way: then it is the runs that lack something.
		r.Outcome, r.Test, r.Detail = abi.OutcomeNotRun, "", "the failure does not come back: each rerun fails in one way, but not as the report says"
	case r.Other > 0:
		r.Outcome = abi.OutcomeOther
	case r.Same > 0:
		r.Outcome = abi.OutcomeSame
	case made == 0 && k.Why == abi.OutcomeNotBuilt && !unchanged:
		r.Outcome, r.Detail = abi.OutcomeNotBuilt, k.Detail
	case (absent || made == 0 && k.Why == abi.OutcomeNoTest) && e.Tests != abi.Head:
		r.Outcome = abi.OutcomeNoTest
	default:
		r = notRun(e, k.Detail)
	}
	return r, made
}

// before is how many runs the steps before an experiment make of its cell.
func before(e abi.Experiment) (n int) {
	for step := e; step.Runs > 1; {
		if step.Runs--; plan.Has(step) {
			n += step.Runs
		}
	}
	return n
}
