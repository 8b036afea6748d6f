//go:build sdk

package polyglot

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// What `plugin new` makes builds at once with the language's own tools, passes
// its own tests, loads in the sandbox without any import, and answers rightly.
func TestTemplates(t *testing.T) {
	command := buildCommand(t)
	for _, l := range append(languages(), inGo()) {
		for _, role := range []string{"judge", "persona", "edge"} {
			t.Run(l.name+"/"+role, func(t *testing.T) {
				l.need(t)
				dir, name := t.TempDir(), "a-"+role
				cmd := exec.CommandContext(t.Context(), command, "plugin", "new", name, "--lang", l.name, "--role", role)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("plugin new: %v\n%s", err, out)
				}
				wasm := l.build(t, filepath.Join(dir, name))
				if prepares := bytes.Contains(wasm, []byte(abi.ExportPrepare)); prepares != (role == "persona") {
					t.Errorf("exports %s: %v", abi.ExportPrepare, prepares)
				}
				m := load(t, wasm)
				check(t, command, filepath.Join(dir, name, filepath.FromSlash(l.output)))
				if role == "judge" { // it builds to the same bytes in other folders
					l.run(t, dir, []string{command + " plugin push --reproducible " + name + " oci-layout:published --dry-run --cases 10"})
				}
				l.run(t, filepath.Join(dir, name), l.tests)
				if n := len(m.Info().Imports); n > 0 && l.name != "go" {
					t.Errorf("the module has %d imports: %v", n, m.Info().Imports)
				}
				map[string]func(*testing.T, *sandbox.Module){"judge": askJudge, "persona": askPersona, "edge": askEdge}[role](t, m)
				t.Logf("module of %d bytes", m.Info().Size)
			})
		}
	}
}

// buildCommand builds the command.
func buildCommand(t *testing.T) string {
	t.Helper()
	command := filepath.Join(t.TempDir(), "shadowcourt")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", command, "./cmd/shadowcourt")
	build.Dir = root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return command
}

// check holds a module to the conformance kit.
func check(t *testing.T, command, pattern string) {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d files %s (%v)", len(found), pattern, err)
	}
	cmd := exec.CommandContext(t.Context(), command, "plugin", "check", found[0], "--cases", "100")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("plugin check: %v\n%s", err, out)
	}
}

func askJudge(t *testing.T, m *sandbox.Module) {
	t.Helper()
	opinions := judged(t, m, "As log:L2 says.", "evidence", abi.Evidence{SourceRef: "log:L2", Content: "a"}, abi.Evidence{SourceRef: "log:L9", Content: "b"})
	if o := opinions[0]; o.NumericScore != 3 || len(o.CitedEvidence) != 1 || o.CitedEvidence[0] != "log:L2" {
		t.Errorf("opinion %+v", o)
	}
	rejects(t, m, abi.CallJudge)
}

// judged puts a text before a judge and holds the answer to the contract.
func judged(t *testing.T, m *sandbox.Module, text, criterion string, evidence ...abi.Evidence) []abi.CriterionOpinion {
	t.Helper()
	request := abi.JudgeRequest{
		Judge: "the judge", Opinion: abi.JudicialOpinion{Text: text, CaseID: "c", CourtName: "c"},
		Criteria: []abi.Criterion{{CriterionID: criterion}, {CriterionID: "another"}}, Evidence: evidence,
	}
	response := answer(t, m, abi.CallJudge, codec.AppendJudgeRequest(nil, &request), codec.DecodeJudgeResponse)
	if response.Failure != nil {
		t.Fatalf("failure %+v", response.Failure)
	}
	if c := response.Opinions; len(c) != 2 || c[0].CriterionID != criterion || c[1].CriterionID != "another" || c[0].Judge != request.Judge {
		t.Fatalf("opinions %+v", c)
	}
	return response.Opinions
}

func askPersona(t *testing.T, m *sandbox.Module) {
	t.Helper()
	request := abi.NodeRequest{
		Node: "discover", Family: abi.FamilyDiscover, Persona: abi.Persona{Name: "P", Element: abi.Earth, Role: "bench", Alignment: "bench"},
		Case: abi.CaseView{Labels: []string{"quota", "leak"}, Documents: []abi.Document{{Name: "log", Text: "ok\nquota exceeded é\n"}}},
	}
	discovery := discovered(t, m, &request)
	if len(discovery.Findings) != 1 || discovery.Findings[0].Quote != "quota exceeded é" || len(discovery.Missing) != 1 {
		t.Errorf("discovery %+v", discovery)
	}
	request.Family = abi.FamilyVerdict
	response := answer(t, m, abi.CallNode, codec.AppendNodeRequest(nil, &request), codec.DecodeNodeResponse)
	if response.Failure == nil || response.Failure.Code != "wrong_family" {
		t.Errorf("response %+v", response)
	}
	rejects(t, m, abi.CallNode)
}

// discovered has a module read the documents and holds the answer to the contract.
func discovered(t *testing.T, m *sandbox.Module, request *abi.NodeRequest) *abi.Discovery {
	t.Helper()
	response := answer(t, m, abi.CallNode, codec.AppendNodeRequest(nil, request), codec.DecodeNodeResponse)
	if response.Failure != nil || response.Artifact == nil || response.Artifact.Discovery == nil {
		t.Fatalf("response %+v", response)
	}
	return response.Artifact.Discovery
}

func askEdge(t *testing.T, m *sandbox.Module) {
	t.Helper()
	for confidence, want := range map[float64]bool{0.9: true, 0.89: false} {
		if a := evaluated(t, m, "confident", abi.Indictment{ChargedDefectType: "quota", Confidence: confidence}); a.Fires != want || a.ID != "E" {
			t.Errorf("confidence %v: answer %+v", confidence, a)
		}
	}
	rejects(t, m, abi.CallEdges)
}

// evaluated asks one edge and holds the answer to the contract.
func evaluated(t *testing.T, m *sandbox.Module, rule string, indictment abi.Indictment) abi.EdgeAnswer {
	t.Helper()
	request := abi.EdgeRequest{
		Node: "indict", Family: abi.FamilyIndict, Questions: []abi.EdgeQuestion{{ID: "E", Evaluator: rule}},
		Artifact: &abi.Artifact{Indictment: &indictment},
	}
	response := answer(t, m, abi.CallEdges, codec.AppendEdgeRequest(nil, &request), codec.DecodeEdgeResponse)
	if response.Failure != nil || len(response.Answers) != 1 {
		t.Fatalf("response %+v", response)
	}
	return response.Answers[0]
}

// rejects sends a request that breaks the contract: the answer is a failure that names the problem.
func rejects(t *testing.T, m *sandbox.Module, call abi.Call) {
	t.Helper()
	broken := []byte{0x81, 0xa3, 'f', 'o', 'g', 1}
	failure := map[abi.Call]func() *abi.Failure{
		abi.CallJudge:   func() *abi.Failure { return answer(t, m, call, broken, codec.DecodeJudgeResponse).Failure },
		abi.CallNode:    func() *abi.Failure { return answer(t, m, call, broken, codec.DecodeNodeResponse).Failure },
		abi.CallEdges:   func() *abi.Failure { return answer(t, m, call, broken, codec.DecodeEdgeResponse).Failure },
		abi.CallContest: func() *abi.Failure { return answer(t, m, call, broken, codec.DecodeContestResponse).Failure },
	}[call]()
	if failure == nil || failure.Code != "bad_request" || !strings.HasPrefix(failure.Message, "fog") {
		t.Errorf("failure %+v", failure)
	}
}
