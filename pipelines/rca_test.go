package pipelines_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

func load(t *testing.T, name string) *pipeline.Definition {
	t.Helper()
	data := must.Get(pipelines.FS.ReadFile(name))(t)
	def := must.Get(pipeline.Parse(name, data))(t)
	return def
}

func TestTheGraphsAreClean(t *testing.T) {
	t.Parallel()
	for _, name := range []string{pipelines.DefectCourt, pipelines.RCAInvestigation} {
		for _, warning := range pipeline.Lint(load(t, name)) {
			t.Error(warning)
		}
	}
}

// The Light path's edges, as they were specified.
func TestTheEdgesOfTheLightPath(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"H1": "recall-hit recall review shortcut", "H3": "recall-uncertain recall triage", "H2": "recall-miss recall triage",
		"H4": "triage-skip-infra triage review shortcut", "H5": "triage-skip-flake triage review shortcut",
		"H18": "triage-skip-investigation triage review shortcut", "H7": "triage-single-repo triage investigate shortcut",
		"H6": "triage-investigate triage resolve", "H8": "resolve-proceed resolve investigate",
		"H9": "investigate-converged investigate correlate", "H10a": "investigate-no-evidence investigate correlate",
		"H10": "investigate-loop investigate resolve loop", "H11": "investigate-exhausted investigate review",
		"H15": "correlate-dup correlate _done shortcut", "H15b": "correlate-proceed correlate review",
		"H12": "review-approve review report", "H13": "review-reassess review resolve loop", "H14": "review-overturn review report",
		"H16": "report-done report _done",
	}
	def := load(t, pipelines.RCAInvestigation)
	check.Equal(t, len(def.Edges), len(want), "edges")
	for i := range def.Edges {
		e := &def.Edges[i]
		got := e.Name + " " + e.From + " " + e.To
		if e.Shortcut {
			got += " shortcut"
		}
		if e.Loop {
			got += " loop"
		}
		check.Equal(t, got, want[e.ID], e.ID)
	}
}

func TestThePersonasOfTheLightPath(t *testing.T) {
	t.Parallel()
	def := load(t, pipelines.RCAInvestigation)
	builtin := map[string]pipeline.Persona{}
	for _, p := range pipeline.BuiltinPersonas() {
		builtin[p.ID] = p
	}
	grants := map[string][]abi.Capability{
		"herald": {abi.CapRecall}, "sentinel": {abi.CapSource},
		"seeker": {abi.CapSource, abi.CapExperiment}, "weaver": {abi.CapCorrelate},
	}
	for i := range def.Personas {
		p := &def.Personas[i]
		b := builtin[p.ID]
		if p.Name != b.Name || p.Colour != b.Colour || p.Element != b.Element || p.Role != b.Role || p.Module != b.Module {
			t.Errorf("%s is %+v, want %+v", p.ID, *p, b)
		}
		if !slices.Equal(p.Grants, grants[p.ID]) {
			t.Errorf("%s is granted %v", p.ID, p.Grants)
		}
	}
	var nodes []string
	for i := range def.Nodes {
		n := &def.Nodes[i]
		masks := []string{}
		for _, m := range n.Masks {
			masks = append(masks, string(m))
		}
		nodes = append(nodes, strings.Join([]string{n.Name, string(n.Element), n.Personas[0], strings.Join(masks, "+")}, " "))
	}
	want := "recall fire herald recall, triage fire herald , resolve earth sentinel forge, investigate water seeker forge, " +
		"correlate air weaver correlation, review diamond weaver judgment, report air weaver "
	check.Equal(t, strings.Join(nodes, ", "), want, "nodes")
}
