package plan_test

import (
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/profile"
)

// BenchmarkBest is what each uncertain case with a test takes.
func BenchmarkBest(b *testing.B) {
	p, err := profile.Load(filepath.Join("..", "..", "..", "pipelines", "profiles", "go-test.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	labels, now := []string{"pb001", "ab001", "si001", "nd001"}, []float64{0.5, 0.3, 0.1, 0.1}
	results := []abi.ExperimentResult{{Experiment: p.Experiments[0].Experiment, Outcome: abi.OutcomeSame, Same: 5, Test: abi.TestChanged}}
	b.ReportAllocs()
	for b.Loop() {
		if best, _ := plan.Best(labels, now, p, results, nil, 0, plan.GoPace()); best == nil {
			b.Fatal("nothing is proposed")
		}
	}
}
