package host_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// A judge that a pipeline names by a reference is taken from the modules by its escaped name, and its trials are recorded with who signed
// it. Replays find it by its digest.
func TestAccept_DI2_RecordsNameSignerAndPolicy(t *testing.T) {
	t.Parallel()
	const reference = "oci://registry.example:5000/judges/specter:v1@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	text := must.Get(fs.ReadFile(pipelines.FS, pipelines.DefectCourt))(t)
	replaced := strings.Replace(string(text), "module: specter\n", "module: "+reference+"\n", 1)
	def := must.Get(pipeline.Parse("court.yaml", []byte(replaced)))(t)
	modules := must.Get(bundle.FS())(t)
	judge := must.Get(fs.ReadFile(modules, "specter.wasm"))(t)
	config := host.Config{Pipeline: def, Modules: modules, CacheDir: cacheDir}
	var rejected *host.RejectedError
	if _, err := host.Open(t.Context(), config); !errors.As(err, &rejected) || !strings.Contains(err.Error(), reference+": it was not fetched") {
		t.Fatal(err)
	}
	config.Modules = moduledir.Over(modules, map[string][]byte{pipeline.ModuleFile(reference): judge})
	config.Signed = map[record.Digest]host.Signature{record.DigestOf(judge): {Signer: "acme", Policy: "trust.yaml:7 sha256:2"}}
	store, data := recordTrials(t, config, 2, exampleDocket(t, "go-failures.jsonl")[:2]...)
	_, list := trials(t, data)
	for _, trial := range list {
		for _, part := range trial.Modules {
			want := record.Part{Name: part.Name, Digest: part.Digest}
			if part.Name == reference {
				want = record.Part{Name: reference, Digest: record.DigestOf(judge), Signer: "acme", Policy: "trust.yaml:7 sha256:2"}
			}
			if part != want {
				t.Errorf("%+v, want %+v", part, want)
			}
		}
	}
	if replayAll(t, store, data); len(list) != 2 {
		t.Errorf("%d trials", len(list))
	}
}
