//go:build sdk

package polyglot

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A judge in D, written from SPEC.md alone by somebody who had not seen the
// SDKs, builds, keeps the contract and decides trials in the place of specter.
func TestAccept_PL6_AJudgeFromTheSpecificationAloneDecidesTrials(t *testing.T) {
	d := inD()
	d.need(t)
	t.Setenv("SHADOWCOURT", buildCommand(t))
	wasm := d.build(t, root(t, "examples", "judges", "arbiter"))
	if n := len(load(t, wasm).Info().Imports); n > 0 {
		t.Errorf("the module has %d imports", n)
	}
	conformance.CheckWith(t, wasm, conformance.Options{Cases: 200})

	files := embedded(t)
	files["arbiter.wasm"] = &fstest.MapFile{Data: wasm}
	shipped := must.Get(os.ReadFile(root(t, "pipelines", "defect-court.yaml")))(t)
	graph := must.Get(pipeline.Parse("court.yaml", bytes.ReplaceAll(shipped, []byte("module: specter"), []byte("module: arbiter"))))(t)
	decideTour(t, graph, files)
}

// decideTour tries the docket of the tour: whatever is tried, the arbiter decides.
func decideTour(t *testing.T, graph *pipeline.Definition, files fs.FS) {
	t.Helper()
	calls := &calls{of: map[string]int{}}
	h := opened(t, host.Config{Pipeline: graph, Modules: files, Observe: calls.note})
	in := must.Get(os.Open(root(t, "examples", "dockets", "tour.jsonl")))(t)
	defer func() { _ = in.Close() }()
	decided := map[abi.Decision]int{}
	for entry, err := range new(docket.Reader).JSONL("tour.jsonl", in) {
		must.Do(t, err)
		outcome := must.Get(h.Try(t.Context(), entry.Case))(t)
		if outcome.Result.Final.Status == trial.Mistrial {
			t.Errorf("%s: %+v", entry.Case.ID, outcome.Result.Final)
		}
		for i := range outcome.Passes {
			if v := outcome.Passes[i].Verdict; v != nil {
				decided[v.Decision]++
			}
		}
	}
	if decided[abi.Affirm] == 0 || decided[abi.Amend] == 0 || calls.of["arbiter"] < 5 {
		t.Errorf("decided %v; the calls are %v", decided, calls.of)
	}
	for _, err := range calls.errs {
		t.Error(err)
	}
	t.Logf("decided %v", decided)
}

// embedded are the shipped modules.
func embedded(t *testing.T) fstest.MapFS {
	t.Helper()
	modules := must.Get(bundle.FS())(t)
	names := must.Get(fs.Glob(modules, "*.wasm"))(t)
	files := fstest.MapFS{}
	for _, name := range names {
		wasm := must.Get(fs.ReadFile(modules, name))(t)
		files[path.Base(name)] = &fstest.MapFile{Data: wasm}
	}
	return files
}
