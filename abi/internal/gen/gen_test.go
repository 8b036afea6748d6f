package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// The committed files are those that the types of today give.
func TestGeneratedFilesAreFresh(t *testing.T) {
	t.Parallel()
	const dir = "../.."
	files, err := generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./abi (%v)", name, err)
		}
		if strings.HasPrefix(name, "testdata/") && len(want) > 1_000_000 {
			t.Errorf("%s has %d bytes", name, len(want))
		}
	}
	stale, err := stale(dir, files)
	if err != nil || len(stale) > 0 {
		t.Errorf("%v are no longer generated: run go generate ./abi (%v)", stale, err)
	}
}

// The host's own state is no module's business, and costs no module a byte.
func TestOnlyWhatModulesMeet(t *testing.T) {
	t.Parallel()
	m, err := model.Load("../..")
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
			if inner := f.Type.Struct; inner != nil && !there[inner.WireName] {
				t.Errorf("%s stands before %s, which it holds", s.WireName, inner.WireName)
			}
		}
		there[s.WireName] = true
	}
	for name, want := range map[string]bool{
		"judge_request": true, "criterion_opinion": true, "node_request": true, "verdict": true, "edge_answer": true, "manifest": true,
		"snapshot": false, "update": false, "case": false, "court_config": false,
	} {
		if there[name] != want {
			t.Errorf("%s is there: %t, want %t", name, there[name], want)
		}
	}
}
