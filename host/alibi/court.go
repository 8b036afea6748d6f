package alibi

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// The shipped pipeline and profile.
const (
	shippedPipeline = "alibi.yaml"
	shippedProfile  = "profiles/alibi.yaml"
)

// Court is a host with the pipeline and a Light for it. Safe for concurrent use.
type Court struct {
	host        *host.Host
	light       *Light
	experiments host.Experiments
}

// Open opens a court. Of the configuration Experiments must be set; a Pipeline and a Profile that are nil are the shipped ones, and Light is
// that of this package. maxFalse is as in [NewLight], and is put into the pipeline; zero leaves the pipeline's own. The caller closes the
// court, and the experiments after it.
func Open(ctx context.Context, config host.Config, maxFalse float64) (*Court, error) {
	var err error
	if config.Profile == nil {
		if config.Profile, err = Profile(); err != nil {
			return nil, err
		}
	}
	if config.Pipeline == nil {
		if config.Pipeline, err = Pipeline(); err != nil {
			return nil, err
		}
	}
	if maxFalse > 0 {
		config.Pipeline = priced(config.Pipeline, maxFalse)
	}
	config.Experiments = Once(config.Experiments)
	c := &Court{experiments: config.Experiments}
	if c.light, err = NewLight(config.Experiments, config.Profile, maxFalse); err != nil {
		return nil, err
	}
	config.Light = c.light
	if config.LoadLate == nil {
		config.LoadLate = func(string) {} // most failures are answered without a trial, and no trial calls every module
	}
	if c.host, err = host.Open(ctx, config); err != nil {
		return nil, err
	}
	return c, nil
}

// Pipeline is the definition in force.
func (c *Court) Pipeline() *pipeline.Definition { return c.host.Pipeline() }

// Profile is the shipped profile.
func Profile() (*abi.Profile, error) {
	data, err := pipelines.FS.ReadFile(shippedProfile)
	if err != nil {
		return nil, err
	}
	return module.ParseProfile(shippedProfile, data)
}

// Pipeline is the shipped pipeline.
func Pipeline() (*pipeline.Definition, error) { return pipeline.LoadFS(pipelines.FS, shippedPipeline) }

// The parameters of a node that guards labels, and of how probable these may be at most where another one is given.
const (
	guardedLabels = "guarded_labels"
	maxFalseParam = "max_false"
)

// priced is a pipeline whose guarded labels are denied at this price.
func priced(def *pipeline.Definition, maxFalse float64) *pipeline.Definition {
	copied := *def
	copied.Nodes = slices.Clone(def.Nodes)
	for i := range copied.Nodes {
		n := &copied.Nodes[i]
		if !slices.ContainsFunc(n.With, func(p pipeline.Param) bool { return p.Name == guardedLabels }) {
			continue
		}
		n.With = slices.DeleteFunc(slices.Clone(n.With), func(p pipeline.Param) bool { return p.Name == maxFalseParam })
		n.With = append(n.With, pipeline.Number(maxFalseParam, maxFalse))
	}
	return &copied
}

// Close closes the host.
func (c *Court) Close(ctx context.Context) error { return c.host.Close(ctx) }

// Asked is what came of one failing test: an Answer with its trial, or an Err that says why there is none.
type Asked struct {
	Answer *Answer
	host.Tried
}

// Ask asks of each failing test of some entries, with a number of workers (0: one for each processor), and yields in their order. What it does
// with errors, and at the end of the context, is as for [host.Host.TryAll].
func (c *Court) Ask(ctx context.Context, entries iter.Seq2[docket.Entry, error], workers int) iter.Seq[Asked] {
	attributed := func(yield func(docket.Entry, error) bool) {
		for e, err := range entries {
			if err == nil {
				e = Entry(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
	return func(yield func(Asked) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		// Without an end of its own: what was tried is yielded.
		court.Ordered(context.WithoutCancel(ctx), c.host.TryAll(ctx, attributed, workers), workers, func(_ context.Context, tried host.Tried) Asked {
			asked := Asked{Tried: tried}
			if tried.Err == nil {
				asked.Answer, asked.Err = c.answer(ctx, tried.Trial)
			}
			return asked
		})(yield)
	}
}

// answer settles a trial. Of a failure that the change caused it finds the part, by mixtures of both trees. Where the test passes here, too, one
// run of a mixture shows nothing.
func (c *Court) answer(ctx context.Context, t *trial.Trial) (*Answer, error) {
	final := t.Result.Final
	a, err := c.light.Settle(ctx, t)
	if err != nil {
		return nil, err
	}
	if made := counts(a.Runs); (a.Label == Caused || made.moved != "") && made.head.passed == 0 {
		offers, err := c.experiments.Offers(ctx, &t.Case)
		if err != nil {
			return nil, err
		}
		for _, o := range offers {
			e := &o.Experiment
			if !slices.Contains([]abi.TreeRevision{abi.Head, abi.Base}, e.Product) || e.Product == e.Tests || ran(t.Result.Experiments, e) {
				continue
			}
			r, err := c.experiments.Run(ctx, &t.Case, *e)
			if err != nil {
				return nil, err
			}
			t.Result.Experiments = append(t.Result.Experiments, trial.NewExperiment("", "", &r))
		}
		a = c.light.of(t)
	}
	if why := c.experiments.Why(&t.Case); len(a.Runs) == 0 && why != "" && a.Lock != Account {
		a.Why, a.Next = flags(why), docket.OnBase
	}
	t.Result.Final = a.Final(final)
	return a, nil
}

// Entry is the entry of a failing test with the labels of the pipeline: without the classification that it brings, and with its evidence
// naming no label.
func Entry(e docket.Entry) docket.Entry {
	e.Case.Labels, e.Case.Light = Labels(), nil
	e.Case.Evidence = slices.Clone(e.Case.Evidence)
	for i := range e.Case.Evidence {
		e.Case.Evidence[i].Supports = ""
	}
	e.Truth, e.LabelNames = nil, nil
	return e
}

// memo makes each experiment of a case once: what Light has run, the court sees, too. Once the base has run code that is not its own, nothing
// more is on offer, since no further run can say what the change did; and no run of a base that does not build or lacks the test is. A failure that
// does not come back as it was reported has [mostGone] runs.
type memo struct {
	host.Experiments

	mu    sync.Mutex
	made  map[memoKey]*once
	known map[string]known // by the ids of cases
}

// mostGone is how many runs a case may have, in all trees and environments, of which none fails as reported.
const mostGone = 60

// known is what all runs of a case showed: the last result of the base, how many runs there were, and whether one failed as reported.
type known struct {
	base abi.ExperimentResult
	runs int
	back bool
}

// gone says whether an experiment is beyond the runs that a failure has that does not come back.
func (k *known) gone(e *abi.Experiment) bool { return !k.back && k.runs+e.Runs > mostGone }

type memoKey struct {
	id string
	e  abi.Experiment
}

type once struct {
	sync.Mutex
	done   bool
	result abi.ExperimentResult
}

// Once are experiments as a court has them, which makes each of a case once, and none that would tell nothing.
func Once(e host.Experiments) host.Experiments {
	return &memo{Experiments: e, made: map[memoKey]*once{}, known: map[string]known{}}
}

// Offers are the experiments of a case, those that were made among them.
func (m *memo) Offers(ctx context.Context, subject *abi.Case) ([]abi.ExperimentOffer, error) {
	offers, err := m.Experiments.Offers(ctx, subject)
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.known[subject.ID]
	lacks := k.base.Outcome == abi.OutcomeNotBuilt || k.base.Outcome == abi.OutcomeNoTest
	return slices.DeleteFunc(slices.Clone(offers), func(o abi.ExperimentOffer) bool {
		idle := k.base.Loaded == abi.Contradicted || lacks && isBase(&o.Experiment) || k.gone(&o.Experiment)
		return idle && m.made[memoKey{subject.ID, o.Experiment}] == nil
	}), err
}

func isBase(e *abi.Experiment) bool { return e.Product == abi.Base && e.Tests == abi.Base }

// Run runs an experiment, or gives its result. What ended with an error is run again.
func (m *memo) Run(ctx context.Context, subject *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	m.mu.Lock()
	o, k := m.made[memoKey{subject.ID, e}], m.known[subject.ID]
	if o == nil && k.gone(&e) { // who asks knows the offers from before the last runs
		defer m.mu.Unlock()
		why := fmt.Sprintf("the failure has not come back in %d runs, and has %d at most", k.runs, mostGone)
		return abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun, Detail: why}, nil
	}
	if o == nil {
		o = &once{}
		m.made[memoKey{subject.ID, e}] = o
	}
	m.mu.Unlock()
	o.Lock()
	defer o.Unlock()
	if o.done {
		return o.result, nil
	}
	r, err := m.Experiments.Run(ctx, subject, e)
	if err != nil {
		return r, err
	}
	o.done, o.result = true, r
	m.mu.Lock()
	defer m.mu.Unlock()
	k = m.known[subject.ID]
	runs := r.Made()
	if r.Outcome == abi.OutcomeNotRun {
		runs = max(runs, e.Runs) // they may have been made, and don't count
	}
	k.runs, k.back = k.runs+runs, k.back || r.Same > 0
	if isBase(&e) && (e.Order == abi.Alone || r.Outcome != abi.OutcomeNoTest) { // it may have a test that is not among those around it
		k.base = r
	}
	m.known[subject.ID] = k
	return r, nil
}
