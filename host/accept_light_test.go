package host_test

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

func lightPaths(t *trial.Trial) []string {
	var list []string
	for _, p := range t.Light {
		list = append(list, strings.Join(p.Path, " "))
	}
	return list
}

// nodeRequests decodes what a persona was asked at a node of the Light path.
func nodeRequests(t *testing.T, s *spy, node string) []abi.NodeRequest {
	t.Helper()
	var list []abi.NodeRequest
	for _, r := range s.calls {
		if r.Call == abi.CallNode && r.Node == node {
			req := must.Get(codec.DecodeNodeRequest(r.Input, len(r.Input)))(t)
			list = append(list, req)
		}
	}
	return list
}

func TestAccept_HD8_LightRunsAgainFromResolveAndAccountsForTheRemand(t *testing.T) {
	t.Parallel()
	s := &spy{}
	h := openLit(t, host.Config{Pipeline: behave(t, "specter", "verdict", "remand"), Observe: s.observe},
		map[string]string{"investigate": "fresh", "report": "loud"}, straight...)
	// The report is sure of itself: the first time that would end the case.
	c := unclassified()
	quiet := openLit(t, host.Config{Pipeline: behave(t, "specter", "verdict", "remand"), Observe: s.observe},
		map[string]string{"investigate": "fresh"}, straight...)
	if got := try(t, h, c).Result; got.Final.Status != trial.Accepted {
		t.Fatalf("%+v", got.Final)
	}
	s.calls = nil
	outcome := try(t, quiet, c)
	got := outcome.Result
	again := "resolve H8:investigate H9:correlate H15b:review H12:report H16:_done"
	want := []string{"recall H2:triage H6:" + again, again, again}
	if paths := lightPaths(outcome); !slices.Equal(paths, want) {
		t.Fatalf("Light took %q", paths)
	}
	if got.Remands != 2 || got.Final.Status != trial.Mistrial || got.Final.Cause != trial.CauseRemandsExhausted {
		t.Errorf("%d remands, %+v", got.Remands, got.Final)
	}
	for i, pass := range outcome.Passes[:2] {
		answer, feedback := pass.RemandAnswer, pass.Verdict.RemandFeedback
		var problems abi.Collector
		if abi.CheckRemandAnswer(answer, feedback, &problems); !problems.Empty() {
			t.Errorf("remand %d: %v", i+1, problems.Err())
		}
		if len(answer.Answers) != len(feedback.Questions) || len(answer.Challenged) != len(feedback.Challenged) || len(feedback.Challenged) == 0 {
			t.Errorf("remand %d: %+v does not account for %+v", i+1, answer, feedback)
		}
	}
	if found := outcome.Light[1].Gathered; len(found) != 1 || found[0].Content != "pass with feedback" || found[0].Element != abi.Water {
		t.Errorf("the second pass gathered %+v", found)
	}
	check.Len(t, outcome.Light[2].Gathered, 0, "the third pass gathered what")
	// the second pass is told what lies before the court, in the order of the indictment.
	asked := nodeRequests(t, s, "resolve")
	if len(asked) != 3 || asked[0].File.Feedback != nil || asked[0].Case.Light != nil {
		t.Fatalf("resolve was asked %d times, the first time after a remand: %v", len(asked), asked[0].File.Feedback)
	}
	if asked[1].File.Feedback == nil || asked[1].Case.Light == nil || asked[1].Case.Light.Classification != got.Light.Classification {
		t.Errorf("the second time without feedback or Light's answer before: %+v", asked[1].Case.Light)
	}
	for i, item := range outcome.Passes[0].Indictment.Evidence {
		if e := asked[1].Case.Evidence[i]; e.SourceRef != item.SourceRef || e.Content != item.Content {
			t.Errorf("item %d of the indictment is not item %d of the evidence: %+v", i, i, e)
		}
	}
}

func TestAccept_HD8_AnAnswerWithoutNewEvidenceIsNoSurer(t *testing.T) {
	t.Parallel()
	def := lampPath(t, nil, straight...)
	def.Nodes[len(def.Nodes)-1].With = []pipeline.Param{pipeline.Text("behave", "loud")}
	h := open(t, host.Config{LightPath: def, Modules: lit(t), Pipeline: behave(t, "specter", "verdict", "remand",
		"activation_threshold: 0.85", "activation_threshold: 0.999")})
	got := try(t, h, unclassified()).Result
	// Nor is Light asked a second time: it would answer the same.
	if len(got.LightAfter) != 1 || got.LightAfter[0].Confidence != 0.99 || got.Remands != 1 {
		t.Errorf("%+v, after %+v", got.Light, got.LightAfter)
	}
	// A report that leaves the remand out is rejected, and named.
	h = openLit(t, host.Config{Pipeline: behave(t, "specter", "verdict", "remand")}, map[string]string{"report": "mute"}, straight...)
	got = try(t, h, unclassified()).Result
	if got.Final.Cause != trial.CauseInvalidArtifact || got.Error == nil || got.Error.Node != "report" || got.Error.Persona != "weaver" || got.Light == nil {
		t.Errorf("%+v, %+v", got.Final, got.Error)
	}
}

// A pass that ends as a duplicate answers with what correlate says, and looks into nothing.
func TestDuplicateIsTheAnswer(t *testing.T) {
	t.Parallel()
	h := openLit(t, host.Config{Pipeline: behave(t, "specter", "verdict", "remand")},
		map[string]string{"correlate": "duplicate", "investigate": "converge"}, "H2", "H6", "H9", "H15")
	outcome := try(t, h, unclassified())
	check.Equal(t, *outcome.Result.Light, (trial.Answer{Classification: "quota", Confidence: 0.83}), outcome.Result.Light)
	if got := lightPaths(outcome)[0]; !strings.HasSuffix(got, "H9:correlate H15:_done") {
		t.Errorf("Light took %q", got)
	}
	answer := outcome.Passes[0].RemandAnswer
	for _, reply := range answer.Answers {
		if reply.Status != abi.NotFound || len(reply.Evidence) > 0 {
			t.Errorf("%+v", reply)
		}
	}
	for _, reply := range answer.Challenged {
		check.Equal(t, reply.Status, abi.ItemStands, reply)
	}
	// The evidence has the elements of the nodes that it comes from.
	elements := map[string]abi.Element{}
	for _, e := range outcome.Light[0].Gathered {
		elements[e.SourceRef] = e.Element
	}
	if elements["lamp-log"] != abi.Water || elements["casebook:earlier"] != abi.Air {
		t.Errorf("elements %v", elements)
	}
}

// The clerk may say what it likes: two loops, then none.
func TestLoopsShareOneBudgetThatTheHostKeeps(t *testing.T) {
	t.Parallel()
	s := &spy{}
	h := openLit(t, host.Config{Observe: s.observe}, map[string]string{"review": "reassess"},
		"H2", "H6", "H10", "H11", "H13", "H14")
	got := lightPaths(try(t, h, unclassified()))[0]
	want := "recall H2:triage H6:resolve H8:investigate H10:resolve H8:investigate H10:resolve H8:investigate H11:review H14:report H16:_done"
	check.Equal(t, got, want, "Light took")
	var left []int
	for _, req := range nodeRequests(t, s, "investigate") {
		left = append(left, req.File.LoopsLeft)
	}
	if len(left) < 3 || !slices.Equal(left[:3], []int{2, 1, 0}) {
		t.Errorf("loops left: %v", left)
	}
}

// Without the mask of judgment a review only recommends.
func TestReviewWithoutJudgmentOnlyRecommends(t *testing.T) {
	t.Parallel()
	for _, judgment := range []bool{true, false} {
		s := &spy{}
		def := lampPath(t, map[string]string{"review": "overturn"}, straight...)
		for i := range def.Nodes {
			if def.Nodes[i].Name == "review" && !judgment {
				def.Nodes[i].Masks = nil
			}
		}
		outcome := try(t, open(t, host.Config{LightPath: def, Modules: lit(t), Observe: s.observe}), unclassified())
		want := abi.Approve
		if judgment {
			want = abi.Overturn
		}
		check.Equal(t, nodeRequests(t, s, "report")[0].File.Review.Decision, want, "judgment", judgment, "the report is told")
		for _, a := range outcome.Light[0].Artifacts {
			if a.Artifact.Review != nil && a.Artifact.Review.Decision != abi.Overturn {
				t.Errorf("the story has %+v", a.Artifact.Review)
			}
		}
	}
}

// What breaks the Light path is this case's failure, with module, node and cause.
func TestABrokenLightPathIsTheCasesFailure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		behave map[string]string
		fire   []string
		node   string
		cause  trial.Cause
	}{
		"a module that gives up": {map[string]string{"correlate": "fail"}, straight, "correlate", trial.CauseFailure},
		"another case's label":   {map[string]string{"investigate": "elsewhere"}, straight, "investigate", trial.CauseInvalidArtifact},
	} {
		h := openLit(t, host.Config{}, test.behave, test.fire...)
		outcome := try(t, h, unclassified())
		got := outcome.Result
		if got.Final.Status != trial.Mistrial || got.Final.Cause != test.cause || got.Error == nil || got.Error.Node != test.node || got.Error.Module == "" {
			t.Errorf("%s: %+v, %+v", name, got.Final, got.Error)
		}
		wantGaps(t, outcome)
		var b bytes.Buffer
		if err := render.NewJSONL(&b).Write(outcome); err != nil || !strings.Contains(b.String(), `"light":null`) {
			t.Errorf("%s: %s (%v)", name, b.String(), err)
		}
	}
}

func TestAccept_CT4_TheLightPathIsUntouchedWhenThereIsNoTrial(t *testing.T) {
	t.Parallel()
	behave := map[string]string{"investigate": "converge", "report": "loud"}
	on := try(t, openLit(t, host.Config{}, behave, straight...), unclassified())
	without := try(t, openLit(t, host.Config{Court: off}, behave, straight...), unclassified())
	if !bytes.Equal(lightOnly(t, on), lightOnly(t, without)) || on.Result.Activated || on.Result.Light == nil {
		t.Errorf("%s and %s", lightOnly(t, on), lightOnly(t, without))
	}
	for i := range on.Light[0].Artifacts {
		a, b := codec.AppendArtifactEntry(nil, &on.Light[0].Artifacts[i]), codec.AppendArtifactEntry(nil, &without.Light[0].Artifacts[i])
		if !bytes.Equal(a, b) {
			t.Errorf("artifact %d differs", i)
		}
	}
}

// lamp is the module of testdata/lamp, built once.
var lamp = sync.OnceValues(func() ([]byte, error) { return buildGuest("./testdata/lamp") })

// lit gives the embedded modules with the lamp beside them.
func lit(t testing.TB) fstest.MapFS {
	t.Helper()
	wasm := must.Get(lamp())(t)
	files := modules(t)
	files["lamp.wasm"] = &fstest.MapFile{Data: wasm}
	return files
}

// lampPath is a Light path like the shipped one, in which the lamp plays every persona and does what it is told: `node: behaviour`. The
// edges named in fire do so whenever they are asked.
func lampPath(t testing.TB, behave map[string]string, fire ...string) *pipeline.Definition {
	t.Helper()
	text := must.Get(fs.ReadFile(pipelines.FS, pipelines.RCAInvestigation))(t)
	def := must.Get(pipeline.Parse("light.yaml", text))(t)
	for i := range def.Personas {
		def.Personas[i].Module = "lamp"
	}
	// The lamp asks for three capabilities, so somebody must be granted each.
	for i := range def.Nodes {
		def.Nodes[i].With = nil
		if how := behave[def.Nodes[i].Name]; how != "" {
			def.Nodes[i].With = []pipeline.Param{pipeline.Text("behave", how)}
		}
	}
	for i := range def.Edges {
		e := &def.Edges[i]
		if e.Unconditional() {
			continue
		}
		e.Module, e.Evaluator, e.With = "lamp", "told", nil
		for _, id := range fire {
			if id == e.ID {
				e.With = []pipeline.Param{pipeline.Text("behave", "yes")}
			}
		}
	}
	return def
}

// straight leads through all nodes without a loop.
var straight = []string{"H2", "H6", "H9", "H15b", "H12"}

// library is a casebook and a source that know what the test knows.
type library struct {
	mu    sync.Mutex
	asked []string
	cases []abi.PriorCase
}

func (l *library) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, what)
}

func (l *library) Recall(_ context.Context, subject *abi.Case, _ int) ([]abi.PriorCase, error) {
	l.note("recall " + subject.ID)
	return l.cases, nil
}

func (l *library) Correlate(_ context.Context, text string, _ int) ([]abi.PriorCase, error) {
	l.note("correlate " + text)
	return l.cases, nil
}

func (l *library) Source(_ context.Context, query abi.SourceQuery) (abi.SourceAnswer, error) {
	l.note("source " + query.Text)
	return abi.SourceAnswer{Known: true, Frames: []abi.SourceFrame{{Path: "pkg/file.go", Line: 3, Kind: abi.SourceProduct}}}, nil
}

func (l *library) Digest() string { return strings.Join(l.asked, ",") }

// unclassified is the dispute without a Light.
func unclassified() abi.Case {
	c := dispute()
	c.Light = nil
	return c
}

// openLit opens a host with a Light path that is told what to do.
func openLit(t testing.TB, config host.Config, behave map[string]string, fire ...string) *host.Host {
	t.Helper()
	config.LightPath = lampPath(t, behave, fire...)
	if config.Modules == nil {
		config.Modules = lit(t)
	}
	return open(t, config)
}
