package pipeline_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func loadGraph(t *testing.T, file string) *pipeline.Graph {
	t.Helper()
	d, err := pipeline.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	g, err := pipeline.NewGraph(d)
	if err != nil {
		t.Fatal(err)
	}
	return g
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
			path, err := g.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			p := pipeline.Picture{Path: path}
			golden(t, name+".mmd", pipeline.Mermaid(g, p))
			golden(t, name+".dot", pipeline.DOT(g, p))
			golden(t, name+".svg", pipeline.SVG(g, p))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); look at it and run with -update:\n%s", file, diff)
	}
}

// The names of the hostile pipeline try to break out of each format.
func TestPicturesAreInert(t *testing.T) {
	t.Parallel()
	g := loadGraph(t, "testdata/hostile.yaml")
	path := []pipeline.Move{{From: "<script>alert(1)</script>", To: `a "quoted" \ name`}}
	for _, p := range []pipeline.Picture{{}, {Path: path}, {Embedded: true}} {
		picture := pipeline.SVG(g, p)
		if tags := elements(t, picture); tags["script"] > 0 || tags["img"] > 0 || tags["svg"] != 1 {
			t.Errorf("elements of the picture: %v", tags)
		}
		mermaid, dot := pipeline.Mermaid(g, p), pipeline.DOT(g, p)
		for format, text := range map[string]string{"svg": picture, "mermaid": mermaid, "dot": dot} {
			for _, r := range text {
				if r < ' ' && r != '\n' || r == '\u202e' || r == '\u2066' {
					t.Errorf("%s holds the character %U", format, r)
				}
			}
		}
		for _, bad := range []string{"<script", "<img", "--> x", "\n  click", "%%{"} {
			if strings.Contains(mermaid, bad) {
				t.Errorf("mermaid holds %q", bad)
			}
		}
	}
}

func elements(t *testing.T, picture string) map[string]int {
	t.Helper()
	tags := make(map[string]int)
	dec := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return tags
		}
		if err != nil {
			t.Fatalf("the picture is not well-formed: %v", err)
		}
		if start, ok := token.(xml.StartElement); ok {
			tags[start.Name.Local]++
			for _, a := range start.Attr {
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || strings.Contains(a.Name.Local, "href") {
					t.Errorf("attribute %s in the picture", a.Name.Local)
				}
			}
		}
	}
}
