package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

func TestPathIsReadBackAndChecked(t *testing.T) {
	t.Parallel()
	g := loadGraph(t, seedFile)
	path := []string{"indict", "HD1:defend", "HD2:verdict", "HD10:_mistrial"}
	moves, err := g.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(path, pipeline.PathOf("indict", moves)); diff != "" {
		t.Error(diff)
	}
	cases := map[string][]string{
		"does not begin at the start":  {"discover"},
		"skips a node":                 {"indict", "defend"},
		"an edge of another node":      {"indict", "HD2:verdict"},
		"an edge to another target":    {"indict", "HD1:hearing"},
		"an unknown edge":              {"indict", "HD99:defend"},
		"goes on after an end":         {"indict", "HD10:_mistrial", "HD11:_mistrial"},
		"falls through behind the end": {"indict", "HD1:defend", "HD2:verdict", "indict"},
	}
	for name, path := range cases {
		if moves, err := g.ParsePath(path); err == nil {
			t.Errorf("%s: read as %v", name, moves)
		}
	}
	if moves, err := g.ParsePath(nil); err != nil || moves != nil {
		t.Errorf("no path: %v %v", moves, err)
	}
}
