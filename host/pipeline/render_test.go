package pipeline_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func loadGraph(t *testing.T, file string) *pipeline.Graph {
	t.Helper()
	d := must.Get(pipeline.Load(file))(t)
	return must.Get(pipeline.NewGraph(d))(t)
}

func TestPicturesAreAsReviewed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		file string
		path []string
	}{
		"seed":      {file: "testdata/seed-defect-court.yaml"},
		"seed-path": {"testdata/seed-defect-court.yaml", []string{"indict", "discover", "defend", "HD4:hearing", "HD5:verdict", "HD7:_done"}},
		"busy":      {file: "testdata/busy.yaml"},
		"hostile":   {file: "testdata/hostile.yaml"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loadGraph(t, c.file)
			path := must.Get(g.ParsePath(c.path))(t)
			golden(t, name+".mmd", pipeline.Mermaid(g, path))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		must.Do(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	check.Same(t, cmp.Diff(string(want), got), file, "differs (-want +got); look at it and run with -update")
}

// The names of the hostile pipeline try to break out of the format.
func TestPicturesAreInert(t *testing.T) {
	t.Parallel()
	g := loadGraph(t, "testdata/hostile.yaml")
	for _, path := range [][]pipeline.Move{nil, {{From: "<script>alert(1)</script>", To: `a "quoted" \ name`}}} {
		picture := pipeline.Mermaid(g, path)
		for _, r := range picture {
			if r < ' ' && r != '\n' || r == '\u202e' || r == '\u2066' {
				t.Errorf("the picture holds the character %U", r)
			}
		}
		for _, bad := range []string{"<script", "<img", "--> x", "\n  click", "%%{"} {
			if strings.Contains(picture, bad) {
				t.Errorf("the picture holds %q", bad)
			}
		}
	}
}

func TestPathIsReadBackAndChecked(t *testing.T) {
	t.Parallel()
	g := loadGraph(t, seedFile)
	path := []string{"indict", "HD1:defend", "HD2:verdict", "HD10:_mistrial"}
	moves := must.Get(g.ParsePath(path))(t)
	check.Same(t, cmp.Diff(path, pipeline.PathOf("indict", moves)))
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
