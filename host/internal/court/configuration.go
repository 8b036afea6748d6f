package court

import (
	"context"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// Configuration lists all that results depend on besides the cases: the pipelines, the modules in force, the profile, the limits and
// the services that answer modules.
func (c *Court) Configuration(ctx context.Context) ([]record.Part, error) {
	var parts []record.Part
	add := func(name string, data []byte) {
		parts = append(parts, record.Part{Name: name, Digest: record.DigestOf(data)})
	}
	texts, err := c.texts()
	if err != nil {
		return nil, err
	}
	for i, text := range texts {
		add([]string{"pipeline", "light pipeline"}[i], []byte(text))
	}
	for i, def := range c.definitions() { // part of the texts, and named by themselves, so that a difference says which
		for j := range def.Personas {
			if p := &def.Personas[j]; p.Prompt != "" {
				add([]string{"prompt ", "light prompt "}[i]+p.ID, []byte(p.Prompt))
			}
		}
	}
	if parts, err = c.appendModules(ctx, parts, "module "); err != nil {
		return nil, err
	}
	if p := c.config.Profile; p != nil {
		add("profile", codec.AppendProfile(nil, p))
	}
	add("limits of the court", codec.AppendCourtConfig(nil, &c.limits))
	add("limits of calls", c.limitsText())
	return append(parts, c.config.knowledge()...), nil
}

// appendModules adds the modules in force, in the order of their names.
func (r *Runtime) appendModules(ctx context.Context, parts []record.Part, prefix string) ([]record.Part, error) {
	g, err := r.Acquire()
	if err != nil {
		return nil, err
	}
	defer func() { _ = g.Release(context.WithoutCancel(ctx)) }()
	for _, name := range slices.Sorted(slices.Values(r.names)) {
		m, err := g.Module(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, record.Part{Name: prefix + name, Digest: record.Digest(m.Info().Digest.String())})
	}
	return parts, nil
}

func (r *Runtime) limitsText() []byte { return fmt.Appendf(nil, "%+v", r.engine.Limits()) }

// texts are the pipelines in YAML, the court's first.
func (c *Court) texts() ([]string, error) {
	var texts []string
	for _, def := range c.definitions() {
		text, err := pipeline.Marshal(def)
		if err != nil {
			return nil, fmt.Errorf("pipeline %s: %w", def.Pipeline, err)
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

// Header is that of a record of trials. configuration is [Court.Configuration], with what the caller adds to it.
func (c *Court) Header(contents record.Contents, configuration []record.Part) (*record.Header, error) {
	header := &record.Header{
		Contents: contents, Instrumentation: sandbox.Instrumentation, Configuration: configuration,
		ExternalLight: c.config.Light != nil, Reclassified: c.config.Reclassify || c.lightPath != nil,
		Court: codec.AppendCourtConfig(nil, &c.limits), Limits: c.CallLimits(),
	}
	texts, err := c.texts()
	if err != nil {
		return nil, err
	}
	header.Pipeline = texts[0]
	if len(texts) > 1 {
		header.LightPath = texts[1]
	}
	if p := c.config.Profile; p != nil {
		header.Profile = codec.AppendProfile(nil, p)
	}
	return header, nil
}
