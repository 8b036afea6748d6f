//go:build sdk

package polyglot

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/testkit/vectors"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// Every SDK reads each message of the test vectors as the contract says, in
// the sandbox: the same canonical bytes, or the same first problem.
func TestSDKsKeepTheVectors(t *testing.T) {
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			l.need(t)
			m := load(t, l.build(t, root(t, "sdk", l.name, "tests", l.vectors)), abi.CapLog, abi.CapRecall)
			askHost(t, m)
			askForMore(t, m)
			sets := must.Get(vectors.Sets())(t)
			count := 0
			for i := range sets {
				if slices.Contains(hostTypes(), sets[i].Type) {
					continue
				}
				count += runSet(t, m, &sets[i])
			}
			if count < 10_000 {
				t.Errorf("only %d vectors were run", count)
			}
			if l.ownTests {
				l.run(t, root(t, "sdk", l.name), l.tests)
			}
			t.Logf("%d vectors, module of %d bytes", count, m.Info().Size)
		})
	}
}

// askHost has the module ask the casebook, and for a line in the log: what is
// known comes back as it is, also where it is longer than the SDK expects.
func askHost(t *testing.T, m *sandbox.Module) {
	t.Helper()
	for _, n := range []int{0, 1, 3} {
		d := &broker{}
		for range n {
			d.known.Cases = append(d.known.Cases, abi.PriorCase{CaseID: "c", Subject: strings.Repeat("é", 4000), Status: "affirmed", Seen: 2})
		}
		out := must.Get(m.Call(sandbox.WithBroker(t.Context(), d), abi.CallContest, nil))(t)
		if !bytes.Equal(out.Bytes, codec.AppendPriorCases(nil, &d.known)) {
			t.Errorf("%d cases: the answer is %.100x", n, out.Bytes)
		}
		if want := []string{"limit 3", strconv.Itoa(n) + " cases"}; !slices.Equal(slices.Compact(d.asked), want) {
			t.Errorf("the host was asked %q, want %q", d.asked, want)
		}
	}
}

// askForMore has the module choose one of the offers, put a question to the first model, tell what became of it, and fail where there is
// nothing for it.
func askForMore(t *testing.T, m *sandbox.Module) {
	t.Helper()
	run := func(tests abi.TreeRevision) abi.ExperimentOffer {
		return abi.ExperimentOffer{Seconds: 2.5, Experiment: abi.Experiment{
			Product: abi.Head, Tests: tests, Environment: abi.StarvedEnvironment, Order: abi.OriginalOrder, Runs: 3,
		}}
	}
	wrong, right := run(abi.Head), run(abi.Base)
	offer := func(tokens int) []abi.ModelOffer {
		return []abi.ModelOffer{{Model: "one", ContextTokens: 1000, AnswerTokens: tokens}, {Model: "two", ContextTokens: 1, AnswerTokens: 1}}
	}
	asks := func(tokens int, messages ...abi.ChatMessage) abi.NodeResponse {
		return abi.NodeResponse{Completion: &abi.Completion{Model: "one", Messages: messages, AnswerTokens: tokens, Samples: 1}}
	}
	fails := func(code, message string) abi.NodeResponse {
		return abi.NodeResponse{Failure: &abi.Failure{Code: code, Message: message}}
	}
	chosen := abi.NodeResponse{Experiment: &right.Experiment}
	system, user := abi.ChatMessage{Role: abi.ChatSystem, Content: "You judge."}, abi.ChatMessage{Role: abi.ChatUser, Content: "why?"}
	for name, tc := range map[string]struct {
		change func(*abi.NodeRequest)
		want   abi.NodeResponse
	}{
		"nothing":           {func(*abi.NodeRequest) {}, fails("no_offer", "nothing to run")},
		"another offer":     {func(r *abi.NodeRequest) { r.Offers = []abi.ExperimentOffer{wrong} }, fails("no_offer", "nothing to run")},
		"offers":            {func(r *abi.NodeRequest) { r.Offers = []abi.ExperimentOffer{wrong, right} }, chosen},
		"models":            {func(r *abi.NodeRequest) { r.Models, r.Prompt = offer(500), system.Content }, asks(100, system, user)},
		"a terse model":     {func(r *abi.NodeRequest) { r.Models = offer(7) }, asks(7, user)},
		"experiments first": {func(r *abi.NodeRequest) { r.Models, r.Offers = offer(7), []abi.ExperimentOffer{right} }, chosen},
		"an answer": {func(r *abi.NodeRequest) {
			r.Models = offer(7)
			r.Completions = []abi.CompletionResult{{Model: "one", Outcome: abi.CompletionPartial, Answers: []string{"größe", "x"}, Detail: "2 of 3"}}
		}, fails("said", "größe")},
		"no answer": {func(r *abi.NodeRequest) {
			r.Completions = []abi.CompletionResult{{Model: "one", Outcome: abi.CompletionNotAsked, Answers: []string{}, Detail: "no budget"}}
		}, fails("model_not_asked", "no budget")},
	} {
		request := abi.NodeRequest{
			Node: "verdict", Family: abi.FamilyVerdict, Persona: abi.Persona{Name: "specter", Colour: "Grey", Element: abi.Fire, Role: "judge", Alignment: "neutral"},
			Case: abi.CaseView{Subject: user.Content, Labels: []string{"a", "b"}},
		}
		tc.change(&request)
		out := must.Get(m.Call(t.Context(), abi.CallNode, codec.AppendNodeRequest(nil, &request)))(t)
		if want := codec.AppendNodeResponse(nil, &tc.want); !bytes.Equal(out.Bytes, want) {
			t.Errorf("%s: the answer is\n  %x, want\n  %x", name, out.Bytes, want)
		}
	}
}

// broker knows some cases.
type broker struct {
	known abi.PriorCases
	asked []string
}

func (d *broker) Ask(_ context.Context, capability abi.Capability, request []byte) ([]byte, error) {
	if capability == abi.CapLog {
		line, err := codec.DecodeLogLine(request, 0)
		d.asked = append(d.asked, line.Message)
		return nil, err
	}
	query, err := codec.DecodeRecallQuery(request, 0)
	d.asked = append(d.asked, "limit "+strconv.Itoa(query.Limit))
	return codec.AppendPriorCases(nil, &d.known), err
}

// hostTypes are those that no module meets.
func hostTypes() []string {
	return []string{
		"artifact_entry", "audit_report", "case", "contest_entry", "court_config", "court_evidence_gap", "criterion_result",
		"completion_answer", "completion_query", "evidence_gap_brief", "experiment_answer", "experiment_query", "node_error", "opinion_entry", "position", "snapshot", "update",
	}
}

// acrossFields are the codes of §9.1: an SDK leaves these rules to the host.
func acrossFields(code abi.Code) bool {
	return slices.Contains([]abi.Code{
		abi.CodeExactlyOne, abi.CodeDuplicateLabel, abi.CodeDuplicateName, abi.CodeDuplicateID, abi.CodeClassification,
		abi.CodeRemandFeedback, abi.CodeConcedesAndFights, abi.CodeProbability,
	}, code)
}

func runSet(t *testing.T, m *sandbox.Module, set *vectors.Set) int {
	t.Helper()
	failed := 0
	for i := range set.Vectors {
		v := &set.Vectors[i]
		if err := runVector(t, m, set.Type, v); err != nil {
			t.Errorf("%s: %s: %v\n  message %.160s", set.Type, v.Name, err, v.Hex)
			if failed++; failed > 5 {
				t.Fatalf("%s: too much is wrong", set.Type)
			}
		}
	}
	return len(set.Vectors)
}

func runVector(t *testing.T, m *sandbox.Module, typeName string, v *vectors.Vector) error {
	t.Helper()
	message, err := v.Message()
	if err != nil {
		return err
	}
	request := append([]byte{byte(len(typeName))}, typeName...)
	out, err := m.Call(t.Context(), abi.CallNode, append(request, message...))
	if err != nil {
		return err
	}
	if len(out.Bytes) == 0 {
		return errors.New("there is no answer")
	}
	verdict, answer := out.Bytes[0], out.Bytes[1:]
	// An SDK has no size cap of its own: the host sends nothing beyond its limit.
	capped := len(v.Problems) > 0 && v.Problems[0].Code == abi.CodeTooLarge
	switch {
	case verdict == 0 && v.Valid && hex.EncodeToString(answer) != v.Canonical:
		return fmt.Errorf("is written as\n  %x, want\n  %s", answer, v.Canonical)
	case verdict == 0 && (v.Valid || capped || acrossFields(v.Problems[0].Code)):
		return nil
	case verdict == 0:
		return fmt.Errorf("is accepted, want %v", v.Problems)
	case verdict != 1:
		return fmt.Errorf("gives verdict %d", verdict)
	}
	path, code, _ := bytes.Cut(answer, []byte{0})
	if v.Valid {
		return fmt.Errorf("is rejected: %s: %s", path, code)
	}
	want := v.Problems[0]
	want.Path = printable(want.Path)
	if got := (vectors.Problem{Path: string(path), Code: abi.Code(code)}); got != want {
		return fmt.Errorf("has the first problem %v, want %v", got, want)
	}
	return nil
}

// printable writes a path as the SDKs do, which have no table of printable characters: those beyond ASCII stand in it as they are.
func printable(path string) string {
	return escaped.ReplaceAllStringFunc(path, func(s string) string {
		r, _, _, err := strconv.UnquoteChar(s, '"')
		if err != nil {
			return s
		}
		return string(r)
	})
}

var escaped = regexp.MustCompile(`\\u[0-9a-f]{4}|\\U[0-9a-f]{8}`)
