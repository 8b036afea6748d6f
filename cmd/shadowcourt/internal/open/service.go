package open

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/input"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// ServiceHosts opens hosts for dockets that were uploaded, as `try` does for files of their format. No model is asked and no source
// read; experiments are run where the operator allows them, as `try --experiments` does.
type ServiceHosts struct {
	Cache  string // folder for compiled modules, or none
	Record bool   // record trials
}

// Open opens one.
func (s ServiceHosts) Open(ctx context.Context, o *work.Opening, observe func(host.CallRecord)) (*host.Host, error) {
	config := &host.Config{Modules: o.Modules, Now: time.Now, Observe: observe}
	if s.Record {
		config.Record = record.ContentsReplay
	}
	if s.Cache != "none" {
		config.CacheDir = s.Cache
	}
	if len(o.Canary) > 0 {
		config.Candidate = &host.Candidate{Modules: o.Canary, Share: o.Share}
	}
	var err error
	if config.Pipeline, err = definition(o, service.PipelineFile, ShippedPipeline); err != nil {
		return nil, err
	}
	if o.Format != input.JSONL && !o.Answered {
		if config.LightPath, err = definition(o, service.LightPathFile, ShippedLight); err != nil {
			return nil, err
		}
	}
	if config.Profile, err = profileOf(o); err != nil {
		return nil, err
	}
	if o.Experiments != nil {
		config.Experiments, config.Court = o.Experiments, new(experiments).tryMore
	}
	h, err := host.Open(ctx, *config)
	var cache *host.CacheError
	if errors.As(err, &cache) && s.Cache == defaultCache() {
		config.CacheDir = ""
		h, err = host.Open(ctx, *config)
	}
	return h, err
}

// profileOf is the profile of the generation for the format, or the shipped one that `try` takes.
func profileOf(o *work.Opening) (*abi.Profile, error) {
	name := service.ProfileFile(o.Format)
	if text, ok := o.Files[name]; ok {
		p, err := profile.Parse(name, text)
		if err != nil {
			return nil, fmt.Errorf("file %s of the generation: %w", name, err)
		}
		return p, nil
	}
	switch {
	case o.Format == input.GoTest:
		return shippedProfile(GoTestProfile)
	case o.Format == input.JUnit, o.Experiments != nil:
		return ExperimentProfile()
	}
	return nil, nil //nolint:nilnil // none
}

// definition is a pipeline of the generation, or the shipped one.
func definition(o *work.Opening, name, shipped string) (*pipeline.Definition, error) {
	text, ok := o.Files[name]
	if !ok {
		return Pipeline(shipped)
	}
	def, err := pipeline.Parse(name, text)
	if err != nil {
		return nil, fmt.Errorf("file %s of the generation: %w", name, err)
	}
	return def, nil
}
