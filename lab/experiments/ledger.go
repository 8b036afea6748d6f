package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/lab/experiments/cases"
)

// ledger has the results of all experiments of a case. Each is run once, so that all courts see the same outcomes, and every court
// pays for what it asks.
type ledger struct {
	Digest string                `json:"digest"` // of the laboratory that ran them
	Why    string                `json:"why,omitempty"`
	Offers []abi.ExperimentOffer `json:"offers"`
	Runs   []performed           `json:"runs"`
	// HeadBuild is how many seconds the build of head took. Of the other trees there is one experiment each, which has its build.
	HeadBuild float64 `json:"head_build"`
}

// performed is an experiment that was run.
type performed struct {
	Result  abi.ExperimentResult `json:"result"`
	Seconds float64              `json:"seconds"`
}

func onHead(e abi.Experiment) bool { return e.Product == abi.Head && e.Tests == abi.Head }

// readLedger reads what came of the experiments of a case.
func readLedger(c *cases.Case) (*ledger, error) {
	data, err := os.ReadFile(c.Outcomes())
	if err != nil {
		return nil, err
	}
	l := &ledger{}
	return l, json.Unmarshal(data, l) //nolint:musttag // as it was written
}

// perform runs all experiments of a case, and writes what came of them beside the case.
func perform(ctx context.Context, c *cases.Case) (err error) {
	entry, err := c.Entry()
	if err != nil {
		return err
	}
	lab, err := experiment.Open(ctx, experiment.Config{
		Source: c.Repository(), Base: c.Green, Mode: experiment.All, Budget: time.Hour, PerCase: time.Hour,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	l, err := runAll(ctx, lab, &entry.Case)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(l, "", " ") //nolint:musttag // for programs of the same version
	if err != nil {
		return err
	}
	return os.WriteFile(c.Outcomes(), data, 0o644)
}

// performAll runs the experiments of all cases of the work folder that have no outcomes yet, several at the same time, those too that are
// made meanwhile, and saves each with them.
func performAll(ctx context.Context, work, saved string, workers int, made <-chan struct{}, log io.Writer) error {
	var around sync.RWMutex // held for writing while this process has the environment of a case
	var saving sync.Mutex
	defer surround(nil)()
	one := func(c *cases.Case) error {
		if len(c.Environment) > 0 {
			around.Lock()
			defer around.Unlock()
			defer surround(c.Environment)()
		} else {
			around.RLock()
			defer around.RUnlock()
		}
		return perform(ctx, c)
	}
	todo := make(chan *cases.Case)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for c := range todo {
				began := time.Now()
				err := one(c)
				if err == nil {
					saving.Lock()
					err = cases.Save(ctx, work, saved)
					saving.Unlock()
				}
				if err != nil {
					fmt.Fprintf(log, "%s: %v\n", c.ID, err)
				} else {
					fmt.Fprintf(log, "%s: run in %.0f s\n", c.ID, time.Since(began).Seconds())
				}
			}
		})
	}
	defer running.Wait()
	defer close(todo)
	seen := map[string]bool{}
	for last := false; ; {
		list, err := cases.Read(work)
		if err != nil {
			return err
		}
		found := false
		for _, c := range list {
			if seen[c.ID] {
				continue
			}
			seen[c.ID] = true
			if _, err := os.Stat(c.Outcomes()); err == nil {
				continue
			}
			found = true
			select {
			case todo <- c:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if last && !found {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-made:
			last = true
		case <-time.After(time.Second):
		}
	}
}

// folderOfLab is the temporary folder of a laboratory.
var folderOfLab = regexp.MustCompile(`[^\s"':]*/shadowcourt-lab[^/\s]*/`)

func runAll(ctx context.Context, lab *experiment.Lab, subject *abi.Case) (*ledger, error) {
	l := &ledger{Digest: lab.Digest(), Why: lab.Why(subject)}
	var err error
	if l.Offers, err = lab.Offers(ctx, subject); err != nil {
		return nil, err
	}
	// The one run in the clean environment comes first: what it takes beyond a run is the build.
	first := slices.IndexFunc(l.Offers, func(o abi.ExperimentOffer) bool { return o.Experiment.Environment == abi.CleanEnvironment })
	order := slices.Clone(l.Offers)
	if first > 0 {
		order[0], order[first] = order[first], order[0]
	}
	for _, offer := range order {
		began := time.Now()
		r, err := lab.Run(ctx, subject, offer.Experiment)
		if err != nil {
			return nil, err
		}
		r.Detail = folderOfLab.ReplaceAllString(r.Detail, "")
		l.Runs = append(l.Runs, performed{r, time.Since(began).Seconds()})
	}
	l.splitBuild()
	return l, nil
}

// splitBuild takes the build of head off the first experiment on it, by what a run takes in another one.
func (l *ledger) splitBuild() {
	for i := range l.Runs[min(1, len(l.Runs)):] {
		p := &l.Runs[i+1]
		e, n := p.Result.Experiment, p.Result.Passed+p.Result.Same+p.Result.Other
		if onHead(e) && e.Environment == abi.OriginalEnvironment && e.Order == abi.Alone && n > 0 {
			run := min(p.Seconds/float64(n), l.Runs[0].Seconds)
			l.HeadBuild = l.Runs[0].Seconds - run
			l.Runs[0].Seconds = run
		}
	}
}

func (l *ledger) find(e abi.Experiment) *performed {
	for i := range l.Runs {
		if l.Runs[i].Result.Experiment == e {
			return &l.Runs[i]
		}
	}
	return nil
}

// client is the ledger as one court sees it.
type client struct {
	ledger  *ledger
	mode    experiment.Mode
	results []abi.ExperimentResult
	seconds float64
	built   bool
}

// Offers are those of the mode.
func (c *client) Offers(context.Context, *abi.Case) ([]abi.ExperimentOffer, error) {
	return slices.DeleteFunc(slices.Clone(c.ledger.Offers), func(o abi.ExperimentOffer) bool {
		return c.mode == experiment.Reruns && !onHead(o.Experiment)
	}), nil
}

// Why is that of the lab.
func (c *client) Why(*abi.Case) string { return c.ledger.Why }

// Run gives the result of an experiment, if the budget of the case lasts.
func (c *client) Run(_ context.Context, _ *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	p := c.ledger.find(e)
	switch {
	case p == nil || c.mode == experiment.Reruns && !onHead(e):
		return abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun, Detail: "it is not offered"}, nil
	case c.seconds >= experiment.DefaultPerCase.Seconds():
		return abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun, Detail: usedUp}, nil
	}
	c.seconds += p.Seconds
	if onHead(e) && !c.built {
		c.seconds += c.ledger.HeadBuild
		c.built = true
	}
	c.results = append(c.results, p.Result)
	return p.Result, nil
}

const usedUp = "the budget for each case is used up"

// Digest names the results.
func (c *client) Digest() string { return c.ledger.Digest + " " + string(c.mode) }

// all has a court ask for everything.
func (c *client) all(ctx context.Context) error {
	for _, o := range c.ledger.Offers {
		if _, err := c.Run(ctx, nil, o.Experiment); err != nil {
			return err
		}
	}
	return nil
}
