package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/knowledge"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/host/source"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/pipelines"
	"github.com/shadowcourt/shadowcourt/tools/experiments/cases"
	"github.com/shadowcourt/shadowcourt/tools/internal/study"
)

// arm is one way to find the cause of a failure.
type arm string

// The arms. Those with a table decide by [decide] over the outcomes of the arm before.
const (
	light        arm = "Light alone"
	reading      arm = "court by reading"
	reruns       arm = "court with reruns"
	rerunsTable  arm = "table over the same outcomes as the court with reruns"
	all          arm = "court with all experiments"
	allTable     arm = "table over the same outcomes as the court with all experiments"
	everything   arm = "run everything, table"
	everyCounted arm = "run everything, table that counts the failure itself"
)

func arms() []arm {
	return []arm{light, reading, reruns, rerunsTable, all, allTable, everything, everyCounted}
}

// answer is what came of a case in an arm.
type answer struct {
	Label      string  `json:"label"` // empty: open
	Confidence float64 `json:"confidence"`
	// Seconds of experiments, with the builds that they need.
	Seconds float64 `json:"seconds"`
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

// try tries the cases of the work folder one after the other, those too that are made meanwhile, and writes all that it knows behind
// each. Those that can't be tried are reported and left out.
func (t *trier) try(ctx context.Context, log io.Writer) error {
	var done []tried
	seen := map[string]bool{}
	for {
		list, err := cases.Read(t.work)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(c *cases.Case) bool { return !seen[c.ID] })
		if i < 0 {
			return writeJSON(t.work, done)
		}
		c, began := list[i], time.Now()
		seen[c.ID] = true
		one, err := t.tryCase(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(log, "%s: %v\n", c.ID, err)
			continue
		}
		fmt.Fprintf(log, "%d of %d: %s: %s, court %q, table %q (%.0f s)\n",
			len(seen), len(list), c.ID, one.Truth, one.Answers[all].Label, one.Answers[everything].Label, time.Since(began).Seconds())
		done = append(done, *one)
		if err := writeJSON(t.work, done); err != nil {
			return err
		}
	}
}

func (t *trier) tryCase(ctx context.Context, c *cases.Case) (_ *tried, err error) {
	defer surround(c.Environment)()
	entry, err := c.Entry()
	if err != nil {
		return nil, err
	}
	lab, err := experiment.Open(ctx, experiment.Config{
		Source: c.Repository(), Green: c.Green, Mode: experiment.All, Budget: time.Hour, PerCase: time.Hour,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	l, err := runAll(ctx, lab, &entry.Case, filepath.Join(t.work, "outcomes", c.ID+".json"))
	if err != nil {
		return nil, err
	}
	tree, err := source.Open(ctx, c.Repository(), c.Green)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	config := host.Config{LightPath: t.path, Profile: t.profile}
	if config.Source, err = knowledge.Source(ctx, tree); err != nil {
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
	read, err := t.hold(ctx, config, entry, nil)
	if err != nil {
		return err
	}
	one.Answers[light] = answer{}
	if first := read.Light; first != nil {
		one.Answers[light] = answer{Label: first.Classification, Confidence: first.Confidence}
	}
	one.Answers[reading] = answered(read, nil)
	for _, court := range []struct {
		arm, table arm
		mode       experiment.Mode
	}{{reruns, rerunsTable, experiment.Reruns}, {all, allTable, experiment.All}} {
		c := &client{ledger: l, mode: court.mode}
		r, err := t.hold(ctx, config, entry, c)
		if err != nil {
			return err
		}
		one.Answers[court.arm] = answered(r, c)
		one.Answers[court.table] = answer{Label: decide(c.results, false), Seconds: c.seconds}
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
func (t *trier) hold(ctx context.Context, config host.Config, entry docket.Entry, c *client) (*trial.Result, error) {
	if c != nil {
		config.Experiments = c
		config.Court = func(court *pipeline.Court) { court.RejectionThreshold, court.ActivationThreshold = 0, 0.95 }
	}
	var r *trial.Result
	err := t.bench.Try(ctx, config, []docket.Entry{entry}, 1, func(t *trial.Trial) { r = &t.Result })
	return r, err
}

func answered(r *trial.Result, c *client) answer {
	a := answer{Label: r.Final.Classification, Confidence: r.Final.Confidence, Status: r.Final.Status, Activated: r.Activated, Experiments: r.Experiments}
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
