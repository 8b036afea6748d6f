package host_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// The judge of the examples is built with Extism's Go PDK. It sits in a court
// whose other sides are direct, and what it decides depends on them.
func TestAccept_PL7_AnExtismPluginTakesPart(t *testing.T) {
	t.Parallel()
	wasm := must.Get(buildGuest("../examples/judges/corroboration"))(t)
	info, err := module.Inspect(wasm)
	if err != nil || info.Binding != "extism" {
		t.Fatalf("binding %q, %v", info.Binding, err)
	}
	files := modules(t)
	files["corroboration.wasm"] = &fstest.MapFile{Data: wasm}
	h := open(t, host.Config{Pipeline: shipped(t, "module: specter", "module: corroboration"), Modules: files})
	subject := dispute()
	subject.Evidence = []abi.Evidence{
		{SourceRef: "log:L2", Content: "quota exceeded for volume data-7", RelevanceConfidence: 0.9, Supports: "quota", Element: abi.Water},
		{SourceRef: "graph", Content: "usage rises by 2 GB an hour", RelevanceConfidence: 0.6, Supports: "leak", Element: abi.Earth},
	}
	alone := try(t, h, subject).Result
	if alone.Final.Status != trial.Acquitted || alone.Modules["specter"] != info.Digest {
		t.Errorf("with one source for each label: %+v, judged by %s", alone.Final, alone.Modules["specter"])
	}
	subject.Evidence = append(subject.Evidence, abi.Evidence{SourceRef: "quota-report", Content: "the volume is at its quota", RelevanceConfidence: 0.7, Supports: "quota", Element: abi.Earth})
	both := try(t, h, subject).Result
	if both.Final.Status != trial.Amended || both.Final.Classification != "quota" {
		t.Errorf("with two sources for quota: %+v", both.Final)
	}
	one, eight := lines(t, h, []abi.Case{subject, subject, subject}, 1), lines(t, h, []abi.Case{subject, subject, subject}, 8)
	if !bytes.Equal(one, eight) {
		t.Errorf("one worker gives\n%s\neight\n%s", one, eight)
	}
}

// A component in place of a module, or of a candidate, is rejected with what to build instead.
func TestAccept_DI6_ComponentsAreRejected(t *testing.T) {
	t.Parallel()
	component := []byte("\x00asm\x0d\x00\x01\x00\x07\x01\x40")
	files := modules(t)
	files["specter.wasm"] = &fstest.MapFile{Data: component}
	for name, config := range map[string]host.Config{
		"module":    {Modules: files},
		"candidate": {Candidate: &host.Candidate{Modules: map[string][]byte{"specter": component}, Share: 1}},
	} {
		err := rejection(t, config)
		for _, says := range []string{"specter", "a WebAssembly component", "GOOS=wasip1", "wasm32-wasip1, not wasm32-wasip2", "docs/modules.md", "not_wasm"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v does not say %q", name, err, says)
			}
		}
	}
}
