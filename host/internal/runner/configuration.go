package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Part is one part of what results depend on, with its digest.
type Part struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Configuration lists all that results depend on besides the cases: the
// pipelines, the modules in force, the profile, the limits, the casebook and
// the source. Hosts with equal configurations give equal results. What a
// [Light] of the caller's own depends on is the caller's to add.
func (h *Host) Configuration(ctx context.Context) ([]Part, error) {
	var parts []Part
	add := func(name string, data []byte) { parts = append(parts, Part{name, digest(data)}) }
	texts, err := h.pipelineTexts()
	if err != nil {
		return nil, err
	}
	for i, text := range texts {
		add([]string{"pipeline", "light pipeline"}[i], []byte(text))
	}
	generation, err := h.registry.Acquire()
	if err != nil {
		return nil, err
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	for _, name := range slices.Sorted(slices.Values(h.modules())) {
		m, err := generation.Module(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{"module " + name, m.Info().Digest.String()})
	}
	if p := h.config.Profile; p != nil {
		add("profile", codec.AppendProfile(nil, p))
	}
	limits := h.court.Limits()
	add("limits of the court", codec.AppendCourtConfig(nil, &limits))
	add("limits of calls", fmt.Appendf(nil, "%+v", h.engine.Limits()))
	if b := h.config.Casebook; b != nil {
		parts = append(parts, Part{"casebook", b.Digest()})
	}
	if s := h.config.Source; s != nil {
		parts = append(parts, Part{"source", s.Digest()})
	}
	return parts, nil
}

// pipelineTexts are the pipelines in force in YAML, the court's first.
func (h *Host) pipelineTexts() ([]string, error) {
	var texts []string
	for _, def := range h.definitions() {
		text, err := pipeline.Marshal(def)
		if err != nil {
			return nil, fmt.Errorf("pipeline %s: %w", def.Pipeline, err)
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}
