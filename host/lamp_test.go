package host_test

import (
	"context"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// lamp is the module of testdata/lamp, built once.
var lamp = sync.OnceValues(func() ([]byte, error) { return buildGuest("./testdata/lamp") })

// lit gives the embedded modules with the lamp beside them.
func lit(t testing.TB) fstest.MapFS {
	t.Helper()
	wasm := must.Get(lamp())(t)
	files := modules(t)
	files["lamp.wasm"] = &fstest.MapFile{Data: wasm}
	return files
}

// lampPath is a Light path like the shipped one, in which the lamp plays every
// persona and does what it is told: `node: behaviour`. The edges named in fire
// do so whenever they are asked.
func lampPath(t testing.TB, behave map[string]string, fire ...string) *pipeline.Definition {
	t.Helper()
	text := must.Get(fs.ReadFile(pipelines.FS, pipelines.RCAInvestigation))(t)
	def := must.Get(pipeline.Parse("light.yaml", text))(t)
	for i := range def.Personas {
		def.Personas[i].Module = "lamp"
	}
	// The lamp asks for three capabilities, so somebody must be granted each.
	for i := range def.Nodes {
		def.Nodes[i].With = nil
		if how := behave[def.Nodes[i].Name]; how != "" {
			def.Nodes[i].With = []pipeline.Param{pipeline.Text("behave", how)}
		}
	}
	for i := range def.Edges {
		e := &def.Edges[i]
		if e.Unconditional() {
			continue
		}
		e.Module, e.Evaluator, e.With = "lamp", "told", nil
		for _, id := range fire {
			if id == e.ID {
				e.With = []pipeline.Param{pipeline.Text("behave", "yes")}
			}
		}
	}
	return def
}

// straight leads through all nodes without a loop.
var straight = []string{"H2", "H6", "H9", "H15b", "H12"}

// library is a casebook and a source that know what the test knows.
type library struct {
	mu    sync.Mutex
	asked []string
	cases []abi.PriorCase
}

func (l *library) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, what)
}

func (l *library) Recall(_ context.Context, subject *abi.Case, _ int) ([]abi.PriorCase, error) {
	l.note("recall " + subject.ID)
	return l.cases, nil
}

func (l *library) Correlate(_ context.Context, text string, _ int) ([]abi.PriorCase, error) {
	l.note("correlate " + text)
	return l.cases, nil
}

func (l *library) Source(_ context.Context, query abi.SourceQuery) (abi.SourceAnswer, error) {
	l.note("source " + query.Text)
	return abi.SourceAnswer{Known: true, Frames: []abi.SourceFrame{{Path: "pkg/file.go", Line: 3, Kind: abi.SourceProduct}}}, nil
}

func (l *library) Digest() string { return strings.Join(l.asked, ",") }

// unclassified is the dispute without a Light.
func unclassified() abi.Case {
	c := dispute()
	c.Light = nil
	return c
}

// openLit opens a host with a Light path that is told what to do.
func openLit(t testing.TB, config host.Config, behave map[string]string, fire ...string) *host.Host {
	t.Helper()
	config.LightPath = lampPath(t, behave, fire...)
	if config.Modules == nil {
		config.Modules = lit(t)
	}
	return open(t, config)
}
