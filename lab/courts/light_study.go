package main

import (
	"context"
	"fmt"
	"os"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/measure"
)

// lightStudy is everything that is tried, over all pairs of dockets.
type lightStudy struct {
	bench *study.Bench
	path  *pipeline.Definition
	parts []part
}

// part is what was tried of one docket, with profiles fitted on another.
type part struct {
	name string
	// runs are the same cases, in the same order.
	runs map[variant]launch
}

// variant is one way to try the cases.
type variant string

const (
	simple       variant = "simple, no profile" // the cases' own Light
	path         variant = "path, no profile"
	simpleFitted variant = "simple"
	pathFitted   variant = "path"
	noRemands    variant = "no remands"
	oneByOne     variant = "one by one" // for times

	firstLaunch    variant = "first launch"
	sameAgain      variant = "the same failures again"
	sameCorrected  variant = "the same failures again, corrected"
	sameWrong      variant = "the same failures again, each corrected to a wrong label"
	otherFailures  variant = "other failures of the same modules"
	otherCorrected variant = "other failures of the same modules, corrected"
	otherWrong     variant = "other failures of the same modules, each corrected to a wrong label"
	otherModules   variant = "failures of other modules, corrected"
)

// light tries all pairs of dockets.
func light(ctx context.Context, bench *study.Bench, pairs []pair) ([]study.Table, error) {
	path, err := study.LightPath()
	if err != nil {
		return nil, err
	}
	s := &lightStudy{bench: bench, path: path}
	for i := range pairs {
		if err := s.add(ctx, &pairs[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", pairs[i].name, err)
		}
	}
	return s.tables(), nil
}

// add fits on one docket and tries the other.
func (s *lightStudy) add(ctx context.Context, of *pair) error {
	own, err := measure.Fit(ctx, of.fitted, measure.FitConfig{Name: "own", Seed: 1})
	if err != nil {
		return err
	}
	fitted, err := s.bench.FitToPath(ctx, of.fitted, s.path)
	if err != nil {
		return err
	}
	p := part{name: of.name, runs: make(map[variant]launch)}
	lit := host.Config{LightPath: s.path, Profile: fitted.Profile}
	withoutRemands := lit
	withoutRemands.Court = func(c *pipeline.Court) { c.MaxRemands = 0 }
	for _, v := range []struct {
		variant variant
		config  host.Config
		workers int
	}{
		{simple, host.Config{}, 0},
		{path, host.Config{LightPath: s.path}, 0},
		{simpleFitted, host.Config{Profile: own.Profile}, 0},
		{pathFitted, lit, 0},
		{noRemands, withoutRemands, 0},
		{oneByOne, lit, 1},
	} {
		if p.runs[v.variant], err = s.launch(ctx, v.config, of.tried, v.workers); err != nil {
			return fmt.Errorf("%s: %w", v.variant, err)
		}
	}
	s.parts = append(s.parts, p)
	return s.casebooks(ctx, &s.parts[len(s.parts)-1], lit, of.fitted, of.tried)
}

// launch is the trials of some cases.
type launch []tried

// tried is what is kept of a trial.
type tried struct {
	entry  docket.Entry
	result trial.Result
	// recalled is the casebook's match: that there was one, and what it said.
	recalled bool
	recall   string
}

func (s *lightStudy) launch(ctx context.Context, config host.Config, entries []docket.Entry, workers int) (launch, error) {
	list := make(launch, 0, len(entries))
	err := s.bench.Try(ctx, config, entries, workers, func(t *trial.Trial) {
		one := tried{entry: entries[len(list)], result: t.Result}
		for i := range t.Light {
			for k := range t.Light[i].Artifacts {
				if r := t.Light[i].Artifacts[k].Artifact.Recall; r != nil && r.Match {
					one.recalled, one.recall = true, r.Classification
				}
			}
		}
		list = append(list, one)
	})
	fmt.Fprint(os.Stderr, ".")
	return list, err
}

func (t *tried) truth() string { return t.entry.Truth.Classification }

// light is Light's first answer.
func (t *tried) light() string {
	if t.result.Light == nil {
		return ""
	}
	return t.result.Light.Classification
}

// answer is the court's; where it left the case open, or held no trial, Light's.
func (t *tried) answer() string {
	if c := t.result.Final.Classification; c != "" {
		return c
	}
	return t.light()
}

func (t *tried) band() bool { return t.result.Activated }
