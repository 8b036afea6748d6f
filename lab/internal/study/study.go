// Package study holds what the programs that measure have in common: dockets
// in memory, and hosts with the shipped pipelines that try them.
package study

import (
	"context"
	"fmt"
	"os"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// Read reads the cases of dockets whose truth is known.
func Read(paths ...string) ([]docket.Entry, error) {
	var list []docket.Entry
	for _, path := range paths {
		some, err := readOne(path)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

func readOne(path string) ([]docket.Entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var list []docket.Entry
	var r docket.Reader
	for e, err := range r.JSONL(path, f) {
		if err != nil {
			return nil, err
		}
		if e.Truth != nil && e.Truth.Classification != "" {
			list = append(list, e)
		}
	}
	return list, nil
}

// Bench opens hosts whose compiled modules lie in one folder.
type Bench struct{ dir string }

// New makes a bench; its folder is taken away by Close.
func New() (*Bench, error) {
	dir, err := os.MkdirTemp("", "shadowcourt-study-")
	if err != nil {
		return nil, err
	}
	return &Bench{dir}, os.Chmod(dir, 0o700) //nolint:gosec // a folder must be searchable by its owner
}

// Close takes the folder away.
func (b *Bench) Close() { _ = os.RemoveAll(b.dir) }

// LightPath gives the shipped Light path.
func LightPath() (*pipeline.Definition, error) {
	return pipeline.LoadFS(pipelines.FS, pipelines.RCAInvestigation)
}

// Court gives the shipped court.
func Court() (*pipeline.Definition, error) {
	return pipeline.LoadFS(pipelines.FS, pipelines.DefectCourt)
}

// Try tries all entries and hands out the trials, in docket order. workers is
// how many at once (0: one for each processor).
func (b *Bench) Try(ctx context.Context, config host.Config, entries []docket.Entry, workers int, got func(*trial.Trial)) error {
	config.CacheDir = b.dir
	h, err := host.Open(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	for t := range h.TryAll(ctx, docket.Each(entries), workers) {
		if t.Err != nil {
			return fmt.Errorf("%s: %w", t.Entry.Case.ID, t.Err)
		}
		got(t.Trial)
	}
	return ctx.Err()
}

// Observe tries all entries and keeps what is measured.
func (b *Bench) Observe(ctx context.Context, config host.Config, entries []docket.Entry) ([]measure.Observation, error) {
	list := make([]measure.Observation, 0, len(entries))
	err := b.Try(ctx, config, entries, 0, func(t *trial.Trial) { list = append(list, measure.Observe(t)) })
	return list, err
}

// FitToPath fits a profile for cases that a Light path answers.
func (b *Bench) FitToPath(ctx context.Context, entries []docket.Entry, path *pipeline.Definition) (*measure.Fitted, error) {
	h, err := host.Open(ctx, run.LightConfig(host.Config{LightPath: path, CacheDir: b.dir}))
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	gathered, err := run.Light(ctx, h, entries, 0, nil)
	if err != nil {
		return nil, err
	}
	return measure.Fit(ctx, gathered, measure.FitConfig{Name: "path", Seed: 1, LightPath: true})
}
