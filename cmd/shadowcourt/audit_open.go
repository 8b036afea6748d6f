package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/docket/inert"
	"github.com/shadowcourt/shadowcourt/host/outfile"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

const (
	// shippedAudit is the name of the audit's pipeline.
	shippedAudit = "audit"
	// shippedRubric is the name of the rubric for opinions of courts.
	shippedRubric = "court-opinions"
)

// auditorFlags are those by which an Auditor is opened.
type auditorFlags struct{ rubric, pipeline, modules, cache, store string }

// openAuditor opens an Auditor. Errors that are the command line's fault say so.
func openAuditor(ctx context.Context, s stdio, f auditorFlags) (*host.Auditor, error) {
	config := host.AuditConfig{Host: host.Config{Now: time.Now}}
	var faults []error
	var err error
	if config.Rubric, err = loadRubric(f.rubric); err != nil {
		faults = append(faults, err)
	}
	if config.Pipeline, err = loadPipeline(f.pipeline); err != nil {
		faults = append(faults, err)
	}
	if f.modules != "" {
		own, err := moduleFS(f.modules)
		if err != nil {
			faults = append(faults, err)
		}
		embedded, err := bundle.FS()
		if err != nil {
			return nil, err
		}
		config.Host.Modules = overlay{own, embedded}
	}
	if len(faults) > 0 {
		return nil, inputError(errors.Join(faults...))
	}
	if f.cache != "none" {
		config.Host.CacheDir = f.cache
	}
	if f.store != "" {
		config.Host.Store = record.OpenStore(f.store)
	}
	a, err := host.OpenAuditor(ctx, config)
	var cache *host.CacheError
	if errors.As(err, &cache) && f.cache == defaultCache() {
		fmt.Fprintf(s.err, "warning: compiled modules can't be kept: %s\n", inert.Line(err.Error()))
		config.Host.CacheDir = ""
		a, err = host.OpenAuditor(ctx, config)
	}
	if err != nil {
		return nil, auditorError(err, f.modules)
	}
	if err := a.Probe(ctx); err != nil {
		_ = a.Close(context.WithoutCancel(ctx))
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, inputError(err)
	}
	return a, nil
}

// auditorError says whose fault it is that an Auditor did not take modules.
func auditorError(err error, modules string) error {
	if _, ok := errors.AsType[*host.CacheError](err); ok {
		return inputError(fmt.Errorf("--cache: %w", err))
	}
	var refused *host.RefusedError
	if !errors.As(err, &refused) {
		return inputError(err)
	}
	from := "embedded modules"
	if modules != "" {
		from = "--modules " + modules + " and embedded"
	}
	var faults []error
	for _, fault := range refused.Faults {
		faults = append(faults, fmt.Errorf("%s: %s", from, fault))
	}
	return inputError(errors.Join(faults...))
}

// overlay has the files of a folder before those that are embedded, so that a
// judge of somebody else's needs no copy of all others beside it.
type overlay struct{ own, embedded fs.FS }

// Open opens a file of the folder, or the embedded one.
func (o overlay) Open(name string) (fs.File, error) {
	f, err := o.own.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.embedded.Open(name)
	}
	return f, err
}

// loadRubric reads a rubric file, or a shipped one by its name.
func loadRubric(name string) (*audit.Rubric, error) {
	if !strings.ContainsAny(name, `./\`) {
		r, err := audit.LoadFS(pipelines.FS, "rubrics/"+name+".yaml")
		if err == nil {
			return r, nil
		}
		if _, statErr := fs.Stat(pipelines.FS, "rubrics/"+name+".yaml"); statErr == nil {
			return nil, err
		}
		if !outfile.Exists(name) {
			return nil, fmt.Errorf("--rubric %q is neither a file nor a shipped rubric (%s)", name, shippedRubric)
		}
	}
	return audit.Load(name)
}
