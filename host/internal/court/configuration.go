package court

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	graphs, err := c.graphs()
	if err != nil {
		return nil, err
	}
	for _, g := range graphs {
		add(g.name, []byte(g.text))
	}
	for _, g := range graphs { // part of the texts, and named by themselves, so that a difference says which
		for j := range g.def.Personas {
			if p := &g.def.Personas[j]; p.Prompt != "" {
				add(strings.TrimSuffix(g.name, "pipeline")+"prompt "+p.ID, []byte(p.Prompt))
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

// namedGraph is a pipeline in force: by the name that configurations have for it, and in YAML.
type namedGraph struct {
	name, text string
	def        *pipeline.Definition
}

// graphs are the pipelines in force, the court's first.
func (c *Court) graphs() ([]namedGraph, error) {
	list := []namedGraph{{name: "pipeline", def: c.graph.Definition()}}
	if c.lightPath != nil {
		list = append(list, namedGraph{name: "light pipeline", def: c.lightPath.graph.Definition()})
	}
	if c.rules != nil {
		list = append(list, namedGraph{name: "rules", def: c.rules.graph.Definition()})
	}
	for i := range list {
		text, err := pipeline.Marshal(list[i].def)
		if err != nil {
			return nil, fmt.Errorf("pipeline %s: %w", list[i].def.Pipeline, err)
		}
		list[i].text = string(text)
	}
	return list, nil
}

// Header is that of a record of trials. configuration is [Court.Configuration], with what the caller adds to it.
func (c *Court) Header(contents record.Contents, configuration []record.Part) (*record.Header, error) {
	header := &record.Header{
		Contents: contents, Instrumentation: sandbox.Instrumentation, Configuration: configuration,
		ExternalLight: c.config.Light != nil, Reclassified: c.config.Reclassify || c.lightPath != nil,
		Court: codec.AppendCourtConfig(nil, &c.limits), Limits: c.CallLimits(),
		Prepared: !c.config.Unprepared,
	}
	graphs, err := c.graphs()
	if err != nil {
		return nil, err
	}
	for _, g := range graphs {
		switch g.name {
		case "pipeline":
			header.Pipeline = g.text
		case "light pipeline":
			header.LightPath = g.text
		default:
			header.Rules = g.text
		}
	}
	if p := c.config.Profile; p != nil {
		header.Profile = codec.AppendProfile(nil, p)
	}
	return header, nil
}
