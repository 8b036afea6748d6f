package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/lab/experiments/cases"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/host/source"
	"github.com/shadowcourt/shadowcourt/host/trial"
	runs "github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// arm is one way to find the cause of a failure.
type arm string

// The arms. Those with a table decide by [decide] over the outcomes of the arm before.
const (
	light           arm = "Light alone"
	reading         arm = "court by reading"
	reruns          arm = "court with reruns"
	rerunsTable     arm = "table over the same outcomes as the court with reruns"
	everyExperiment arm = "court with all experiments"
	allTable        arm = "table over the same outcomes as the court with all experiments"
	everything      arm = "run everything, table"
	everyCounted    arm = "run everything, table that counts the failure itself"
)

func arms() []arm {
	return []arm{light, reading, reruns, rerunsTable, everyExperiment, allTable, everything, everyCounted}
}

// answer is what came of a case in an arm.
type answer struct {
	Label      string  `json:"label"` // empty: open
	Confidence float64 `json:"confidence"`
	// Seconds of experiments, with the builds that they need.
	Seconds float64 `json:"seconds"`
	// Calls of modules, and remands.
	Calls   int `json:"calls,omitempty"`
	Remands int `json:"remands,omitempty"`
	// Status of the trial, and who asked for what.
	Status      trial.Status       `json:"status,omitempty"`
	Activated   bool               `json:"activated,omitempty"`
	Experiments []trial.Experiment `json:"experiments,omitempty"`
}

// tried is a case with all its answers.
type tried struct {
	Case    *cases.Case            `json:"case"`
	Truth   string                 `json:"truth"`
	Answers map[arm]answer         `json:"answers"`
	Results []abi.ExperimentResult `json:"results"` // of all experiments
	Why     string                 `json:"why,omitempty"`
}

// trier tries cases with the shipped modules, pipelines and profile.
type trier struct {
	bench   *study.Bench
	path    *pipeline.Definition
	profile *abi.Profile
	work    string
}

func newTrier(work string) (*trier, error) {
	path, err := study.LightPath()
	if err != nil {
		return nil, err
	}
	const name = "profiles/go-test.yaml"
	data, err := pipelines.FS.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p, err := profile.Parse(name, data)
	if err != nil {
		return nil, err
	}
	bench, err := study.New()
	return &trier{bench, path, p, work}, err
}

// try gives the cases of the work folder that have outcomes to all arms, or those of some modules. Those that can't be tried are reported and left out.
func (t *trier) try(ctx context.Context, only string, log io.Writer) ([]tried, error) {
	list, err := cases.Read(t.work)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(c *cases.Case) bool {
		_, err := os.Stat(c.Outcomes())
		return err != nil || !strings.Contains(c.Pair.Module, only)
	})
	done := make([]*tried, len(list))
	each := make(chan int)
	var running sync.WaitGroup
	for range runtime.NumCPU() {
		running.Go(func() {
			for i := range each {
				began := time.Now()
				one, err := t.tryCase(ctx, list[i])
				if err != nil {
					fmt.Fprintf(log, "%s: %v\n", list[i].ID, err)
					continue
				}
				done[i] = one
				fmt.Fprintf(log, "%d of %d: %s: %s, court %q, table %q (%.1f s)\n", i+1, len(list), list[i].ID, one.Truth,
					one.Answers[everyExperiment].Label, one.Answers[everything].Label, time.Since(began).Seconds())
			}
		})
	}
	for i := range list {
		if ctx.Err() == nil {
			each <- i
		}
	}
	close(each)
	running.Wait()
	var kept []tried
	for _, one := range done {
		if one != nil {
			kept = append(kept, *one)
		}
	}
	return kept, ctx.Err()
}

func (t *trier) tryCase(ctx context.Context, c *cases.Case) (_ *tried, err error) {
	entry, err := c.Entry()
	if err != nil {
		return nil, err
	}
	l, err := readLedger(c)
	if err != nil {
		return nil, err
	}
	tree, err := source.Open(ctx, c.Repository(), c.Green)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	config := host.Config{LightPath: t.path, Profile: t.profile}
	if config.Source, err = runs.Source(ctx, tree); err != nil {
		return nil, err
	}
	one := &tried{Case: c, Truth: entry.Truth.Classification, Answers: map[arm]answer{}, Why: l.Why}
	for i := range l.Runs {
		one.Results = append(one.Results, l.Runs[i].Result)
	}
	return one, t.answer(ctx, config, entry, l, one)
}

// answer gives the case to all arms.
func (t *trier) answer(ctx context.Context, config host.Config, entry docket.Entry, l *ledger, one *tried) error {
	read, err := t.hold(ctx, config, entry)
	if err != nil {
		return err
	}
	one.Answers[light] = answer{}
	if first := read.Result.Light; first != nil {
		one.Answers[light] = answer{Label: first.Classification, Confidence: first.Confidence}
	}
	one.Answers[reading] = answered(read, nil)
	for _, court := range courts() {
		c := &client{ledger: l, mode: court.mode}
		config := config
		config.Experiments = c
		if court.fixed {
			config.Experiments = inOrder{c}
		}
		if court.change != nil {
			if config.Pipeline, err = study.Court(); err != nil {
				return err
			}
			court.change(config.Pipeline)
		}
		r, err := t.hold(ctx, config, entry)
		if err != nil {
			return fmt.Errorf("%s: %w", court.arm, err)
		}
		one.Answers[court.arm] = answered(r, c)
		if court.table != "" {
			one.Answers[court.table] = answer{Label: decide(c.results, false), Seconds: c.seconds}
		}
	}
	c := &client{ledger: l, mode: experiment.All}
	if err := c.all(ctx); err != nil {
		return err
	}
	one.Answers[everything] = answer{Label: decide(c.results, false), Seconds: c.seconds}
	one.Answers[everyCounted] = answer{Label: decide(c.results, true), Seconds: c.seconds}
	return nil
}

// hold holds one trial, with experiments as the command does it: then the court tries what Light is hopeless about, too.
func (t *trier) hold(ctx context.Context, config host.Config, entry docket.Entry) (*trial.Trial, error) {
	if config.Experiments != nil {
		config.Court = func(court *pipeline.Court) { court.RejectionThreshold, court.ActivationThreshold = 0, 0.95 }
	}
	var r *trial.Trial
	err := t.bench.Try(ctx, config, []docket.Entry{entry}, 1, func(t *trial.Trial) { r = t })
	return r, err
}

func answered(t *trial.Trial, c *client) answer {
	r := &t.Result
	a := answer{Remands: r.Remands, Label: r.Final.Classification, Confidence: r.Final.Confidence, Status: r.Final.Status, Activated: r.Activated, Experiments: r.Experiments}
	if r.Timings != nil {
		a.Calls = r.Timings.Calls
	}
	if c != nil {
		a.Seconds = c.seconds
	}
	return a
}

// surround gives this process, from which experiments take theirs, the variables of the case; the function that it returns takes
// them away.
func surround(more map[string]string) func() {
	var undo []func()
	set := func(name, value string) {
		old, there := os.LookupEnv(name)
		undo = append(undo, func() {
			if there {
				_ = os.Setenv(name, old)
			} else {
				_ = os.Unsetenv(name)
			}
		})
		_ = os.Setenv(name, value)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "LC_") {
			set(name, "")
			_ = os.Unsetenv(name)
		}
	}
	for name, value := range map[string]string{"TZ": "UTC", "LANG": "C.UTF-8", "USER": "ci"} {
		set(name, value)
	}
	for name, value := range more {
		set(name, value)
	}
	return func() {
		for _, restore := range slices.Backward(undo) {
			restore()
		}
	}
}
