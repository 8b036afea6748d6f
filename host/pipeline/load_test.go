package pipeline_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

func TestAccept_CT1_SeedYAMLLoadsVerbatim(t *testing.T) {
	t.Parallel()
	d, err := pipeline.Load("testdata/seed-defect-court.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Nodes) != 5 || len(d.Edges) != 12 || len(d.Zones) != 3 {
		t.Fatalf("got %d nodes, %d edges, %d zones", len(d.Nodes), len(d.Edges), len(d.Zones))
	}
	if _, err := pipeline.NewGraph(d); err != nil {
		t.Fatal(err)
	}
}
