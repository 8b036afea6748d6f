package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// The Light path's answer replaces the case's own, what it gathered stands behind the case's evidence, and no court is held.
func TestLight(t *testing.T) {
	t.Parallel()
	path := must.Get(pipeline.LoadFS(pipelines.FS, pipelines.RCAInvestigation))(t)
	cache := must.Get(os.UserCacheDir())(t)
	calls := map[string]int{}
	h, err := host.Open(t.Context(), run.LightConfig(host.Config{
		LightPath: path, Observe: func(r host.CallRecord) { calls[r.Node]++ }, CacheDir: filepath.Join(cache, "shadowcourt", "modules"),
	}))
	must.Do(t, err)
	defer func() { _ = h.Close(t.Context()) }()
	own := abi.Evidence{SourceRef: "witness", Content: "seen", RelevanceConfidence: 0.5, Element: abi.Water}
	subject := abi.Case{
		ID: "c", Subject: "TestX fails", Labels: []string{"pb001", "ab001", "si001", "nd001"}, Evidence: []abi.Evidence{own},
		Light:     &abi.LightAnswer{Classification: "nd001", Confidence: 0.6, Reasoning: "its own"},
		Documents: []abi.Document{{Name: "log", Text: "panic: boom\n\ngoroutine 7 [running]:\nexample.com/m.F(...)\n\t/src/example.com/m/f.go:12 +0x1d\n"}},
	}
	answered := 0
	lit, err := run.Light(t.Context(), h, []docket.Entry{{Case: subject, Truth: &trial.Truth{Classification: "pb001"}}}, 1, func(*trial.Trial) { answered++ })
	if err != nil || len(lit) != 1 || answered != 1 {
		t.Fatalf("error %v, %d entries, %d answered", err, len(lit), answered)
	}
	c := &lit[0].Case
	if c.Light == nil || c.Light.Reasoning == "its own" || lit[0].Truth == nil || subject.Light.Classification != "nd001" {
		t.Errorf("Light %+v, truth %+v", c.Light, lit[0].Truth)
	}
	if len(c.Evidence) < 2 || c.Evidence[0] != own {
		t.Errorf("evidence %+v", c.Evidence)
	}
	if calls["indict"] > 0 || calls["investigate"] == 0 {
		t.Errorf("calls %v", calls)
	}
}
