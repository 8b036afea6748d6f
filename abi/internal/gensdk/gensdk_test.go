package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

func TestSDKsAreUpToDate(t *testing.T) {
	t.Parallel()
	m, err := model.Load("")
	if err != nil {
		t.Fatal(err)
	}
	files, err := render(m)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "sdk", filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("sdk/%s is stale: run go generate ./abi/... (%v)", name, err)
		}
	}
}

// The host's own state is no module's business, and costs no module a byte.
func TestOnlyWhatModulesMeet(t *testing.T) {
	t.Parallel()
	m, err := model.Load("")
	if err != nil {
		t.Fatal(err)
	}
	p, err := gather(m)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, s := range p.Structs {
		for _, f := range s.Fields {
			if t2 := f.Type; t2.Struct != nil && !there[t2.Struct.WireName] {
				t.Errorf("%s stands before %s, which it holds", s.WireName, t2.Struct.WireName)
			}
		}
		there[s.WireName] = true
	}
	for _, name := range []string{"judge_request", "criterion_opinion", "node_request", "verdict", "edge_answer", "manifest"} {
		if !there[name] {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"snapshot", "update", "case", "court_config"} {
		if there[name] {
			t.Errorf("%s is there", name)
		}
	}
}
