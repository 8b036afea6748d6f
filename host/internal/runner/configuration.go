package runner

import (
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// Configuration lists all that results depend on besides the cases: the pipelines, the modules, the profile, the limits, the
// casebook and the source.
func (c *Court) Configuration(g *runtime.Generation) ([]record.Part, error) {
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
	for _, name := range slices.Sorted(slices.Values(c.Modules())) {
		m, err := g.Module(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, record.Part{Name: "module " + name, Digest: record.Digest(m.Info().Digest.String())})
	}
	if p := c.config.Profile; p != nil {
		add("profile", codec.AppendProfile(nil, p))
	}
	limits := c.court.Limits()
	add("limits of the court", codec.AppendCourtConfig(nil, &limits))
	add("limits of calls", fmt.Appendf(nil, "%+v", g.Runtime().Limits()))
	return append(parts, g.Runtime().Knowledge()...), nil
}

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
func (c *Court) Header(contents record.Contents, configuration []record.Part, calls record.CallLimits) (*record.Header, error) {
	limits := c.court.Limits()
	header := &record.Header{
		Contents: contents, Instrumentation: sandbox.Instrumentation, Configuration: configuration,
		ExternalLight: c.config.Light != nil, Reclassified: c.config.Reclassify || c.light != nil,
		Court: codec.AppendCourtConfig(nil, &limits), Limits: calls,
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
