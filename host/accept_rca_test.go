package host_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// rca is the shipped Light path.
func rca(t testing.TB) *pipeline.Definition {
	t.Helper()
	return must.Get(pipeline.LoadFS(pipelines.FS, pipelines.RCAInvestigation))(t)
}

// examples reads the cases of example dockets.
func examples(t testing.TB, names ...string) []docket.Entry {
	t.Helper()
	var list []docket.Entry
	for _, name := range names {
		f := must.Get(os.Open("../examples/dockets/" + name))(t)
		defer func() { _ = f.Close() }()
		var reader docket.Reader
		for entry, err := range reader.JSONL(name, f) {
			must.Do(t, err)
			list = append(list, entry)
		}
	}
	return list
}

// memory is a casebook in which every question finds one case.
type memory struct{ recalled, correlated *abi.PriorCase }

func (m *memory) Recall(context.Context, *abi.Case, int) ([]abi.PriorCase, error) {
	return one(m.recalled), nil
}

func (m *memory) Correlate(context.Context, string, int) ([]abi.PriorCase, error) {
	return one(m.correlated), nil
}

func (*memory) Digest() string { return "memory" }

func one(c *abi.PriorCase) []abi.PriorCase {
	if c == nil {
		return nil
	}
	return []abi.PriorCase{*c}
}

// edges are the edges that the passes of a trial took.
func edges(outcome *trial.Trial) []string {
	var list []string
	for i := range outcome.Light {
		for _, step := range outcome.Light[i].Steps {
			if step.Edge != "" {
				list = append(list, step.Edge)
			}
		}
	}
	return list
}

// Every edge of the Light path is one that the shipped modules take on a case of the examples, with nothing in the casebook or with an
// earlier case in it. Where it is no longer so for the cases that are named here, the long test finds others.
func TestAccept_CT9_EveryEdgeOfTheLightPathIsTaken(t *testing.T) {
	t.Parallel()
	def := rca(t)
	if len(def.Nodes) != 7 || len(def.Edges) != 19 || def.Start != "recall" {
		t.Fatalf("%d nodes, %d edges, start %s", len(def.Nodes), len(def.Edges), def.Start)
	}
	left := make(map[string]bool)
	for i := range def.Edges {
		left[def.Edges[i].ID] = true
	}
	book := &memory{}
	profile := must.Get(module.LoadProfile(filepath.Join("..", "pipelines", "profiles", "go-test.yaml")))(t)
	hosts := []*host.Host{
		open(t, host.Config{LightPath: def, Court: off, Casebook: book}),
		open(t, host.Config{LightPath: def, Court: off, Casebook: book, Profile: profile}),
	}
	try := func(c abi.Case) {
		for _, h := range hosts {
			outcome := try(t, h, c)
			if outcome.Result.Error != nil {
				t.Errorf("%s: %+v", c.ID, outcome.Result.Error)
			}
			for _, edge := range edges(outcome) {
				delete(left, edge)
			}
		}
	}
	cases := examples(t, "tour.jsonl", "go-failures.jsonl", "go-test-1.jsonl")
	remembered := cases // those that are tried with an earlier case in the casebook
	if !long() {
		remembered = only(cases, "tour-plea", "go-387e5ca980")
		cases = only(cases, "tour-plea", "tour-affirm", "tour-acquit", "go-0213ed9c0d", "go-387e5ca980", "go-42182de5f3", "go-42b23dd83e", "go-40cef8ad39", "go-200e00c7f0")
	}
	for _, entry := range cases {
		try(entry.Case)
	}
	earlier := func(id, label string, confidence, similarity float64) *abi.PriorCase {
		return &abi.PriorCase{CaseID: id, Classification: label, Status: "affirmed", Confidence: confidence, Similarity: similarity, Seen: 1, Confirmed: true}
	}
	for _, entry := range remembered {
		for _, label := range entry.Case.Labels {
			for _, other := range entry.Case.Labels {
				for _, alike := range []float64{0.95, 0.7} {
					if len(left) == 0 {
						return
					}
					book.recalled, book.correlated = earlier("one", label, alike, 1), earlier("other", other, 0.95, alike)
					try(entry.Case)
				}
			}
		}
	}
	t.Errorf("no case takes %v", left)
}

// only are the examples of those ids, in the order of cases.
func only(cases []docket.Entry, ids ...string) (some []docket.Entry) {
	for _, entry := range cases {
		if slices.Contains(ids, entry.Case.ID) {
			some = append(some, entry)
		}
	}
	return some
}

// Whatever the shipped Light is asked on a remand, its answer accounts for it.
func TestAccept_HD8_TheShippedLightAccountsForRemands(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{
		LightPath: rca(t), Pipeline: behave(t, "specter", "verdict", "remand", "rejection_threshold: 0.50", "rejection_threshold: 0.10"),
	})
	remanded := 0
	for _, entry := range examples(t, "go-failures.jsonl")[:24] {
		outcome := try(t, h, entry.Case)
		got := outcome.Result
		if got.Error != nil {
			t.Errorf("%s: %+v", got.ID, got.Error)
		}
		remanded += got.Remands
		for i := range got.Remands {
			if start := outcome.Light[i+1].Path[0]; start != "resolve" {
				t.Errorf("%s: remand %d began at %s", got.ID, i+1, start)
			}
			var problems abi.Collector
			pass := &outcome.Passes[i]
			abi.CheckRemandAnswer(pass.RemandAnswer, pass.Verdict.RemandFeedback, &problems)
			if !problems.Empty() {
				t.Errorf("%s: %v", got.ID, problems.Err())
			}
			gathered := len(outcome.Light[i+1].Gathered)
			for _, answer := range pass.RemandAnswer.Answers {
				gathered += len(answer.Evidence)
			}
			if before := got.Light.Confidence; i == 0 && gathered == 0 && got.LightAfter[0].Confidence > before {
				t.Errorf("%s: surer without anything new: %v, then %v", got.ID, before, got.LightAfter[0].Confidence)
			}
		}
	}
	if remanded < 10 {
		t.Errorf("%d remands show little", remanded)
	}
}

// Remands of the shipped judge, answered by the shipped Light, are counted as what they were good for.
func TestAccept_ME3_RemandsOfTheShippedJudge(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{LightPath: rca(t)})
	var observed []measure.Observation
	remanded, toRight, toWrong := 0, 0, 0
	for _, entry := range examples(t, "go-failures.jsonl", "go-test-1.jsonl") {
		outcome := try(t, h, entry.Case)
		outcome.Truth = entry.Truth
		observed = append(observed, measure.Observe(outcome))
		got := outcome.Result
		if got.Remands == 0 {
			continue
		}
		remanded++
		truth := entry.Truth.Classification
		before, after := got.Light.Classification == truth, got.Final.Classification == truth
		if !before && after {
			toRight++
		}
		if before && !after {
			toWrong++
		}
		if remanded == 1 && !long() {
			break
		}
	}
	if remanded == 0 {
		t.Fatal("the shipped judge remands nothing of the examples")
	}
	got := measure.MetricsOf(observed).Remands
	if got.Cases != remanded || got.ToRight.Count != toRight || got.ToWrong.Count != toWrong || got.ToRight.Of != remanded {
		t.Errorf("%d cases, %+v to right, %+v to wrong; counted %d, %d, %d", got.Cases, got.ToRight, got.ToWrong, remanded, toRight, toWrong)
	}
}
