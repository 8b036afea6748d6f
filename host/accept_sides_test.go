package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/module"
)

const puppetManifest = `
name: impostor
version: 2.0.0
abi: "1.0"
calls: [node, contest]
families: [indict, discover, defend, hearing, verdict]
edges: []
criteria: []
capabilities: []
`

// rejection opens a host that must be rejected, and says why.
func rejection(t *testing.T, config host.Config) error {
	t.Helper()
	config.CacheDir = cacheDir
	h, err := host.Open(context.Background(), config)
	if err == nil {
		_ = h.Close(context.Background())
		t.Fatal("it was opened")
	}
	return err
}

func TestAccept_CT5_SidesMustDifferInCode(t *testing.T) {
	t.Parallel()
	again, err := module.Annotate(puppet, "impostor.yaml", []byte(strings.Replace(puppetManifest, "2.0.0", "2.0.1", 1)))
	if err != nil {
		t.Fatal(err)
	}
	for name, second := range map[string][]byte{
		"one module under two names":              puppet,
		"the same code with another manifest":     again,
		"the same code behind one more of itself": append([]byte(nil), puppet...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := modules(t)
			files["impostor.wasm"] = &fstest.MapFile{Data: second}
			def := shipped(t, "module: challenger", "module: puppet", "module: abyss", "module: impostor")
			err := rejection(t, host.Config{Pipeline: def, Modules: files})
			var rejected *host.RejectedError
			if !errors.As(err, &rejected) || !rejected.Has("sides_not_apart") {
				t.Fatalf("rejected for another reason: %v", err)
			}
			if !strings.Contains(err.Error(), "challenger") || !strings.Contains(err.Error(), "abyss") {
				t.Errorf("the message does not name both: %v", err)
			}
		})
	}
}

func TestAccept_CT5_ASwapMustKeepTheSidesApart(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{})
	before := try(t, h, dispute())
	files := modules(t)
	files["abyss.wasm"] = &fstest.MapFile{Data: puppet}
	files["bulwark.wasm"] = &fstest.MapFile{Data: puppet}
	err := h.Swap(context.Background(), files)
	var rejected *host.RejectedError
	if !errors.As(err, &rejected) || !rejected.Has("sides_not_apart") {
		t.Fatalf("the swap was not rejected for its sides: %v", err)
	}
	after := try(t, h, dispute())
	if got, want := after.Result.Modules["abyss"], before.Result.Modules["abyss"]; got != want {
		t.Errorf("the rejected swap changed abyss to %s", got)
	}
}
