package guest_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/edges"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// Every kind of call hands its request to the handler, and says why it cannot. Package node has tests of its own.
func TestAnswer(t *testing.T) {
	t.Parallel()
	challenges := func(*abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
		return []abi.Challenge{{Challenge: "doubtful", Severity: abi.Minor}}, nil
	}
	answers := func(r *abi.EdgeRequest) ([]abi.EdgeAnswer, *abi.Failure) {
		return []abi.EdgeAnswer{{ID: r.Questions[0].ID, Fires: true}}, nil
	}
	opinions := func(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
		return []abi.CriterionOpinion{{Judge: r.Judge, CriterionID: r.Criteria[0].CriterionID, NumericScore: 5}}, nil
	}
	for name, kind := range map[string]struct {
		request []byte
		// ask gives how many answers there are, and the failure.
		ask func(served bool, request []byte) (int, *abi.Failure, error)
	}{
		"contest": {
			codec.AppendContestRequest(nil, &abi.ContestRequest{
				Persona:           abi.Persona{Name: "abyss", Element: abi.Water, Role: "defense", Alignment: "defender"},
				ChargedDefectType: "a", Labels: []string{"a", "b"},
			}),
			func(served bool, request []byte) (int, *abi.Failure, error) {
				r, err := codec.DecodeContestResponse(contest.Answer(map[bool]contest.Handler{true: challenges}[served], request), 0)
				return len(r.Challenges), r.Failure, err
			},
		},
		"edges": {
			codec.AppendEdgeRequest(nil, &abi.EdgeRequest{Node: "n", Family: abi.FamilyIndict, Questions: []abi.EdgeQuestion{{ID: "e", Evaluator: "x"}}}),
			func(served bool, request []byte) (int, *abi.Failure, error) {
				r, err := codec.DecodeEdgeResponse(edges.Answer(map[bool]edges.Handler{true: answers}[served], request), 0)
				return len(r.Answers), r.Failure, err
			},
		},
		"judge": {
			codec.AppendJudgeRequest(nil, &abi.JudgeRequest{
				Judge: "prosecutor", Opinion: abi.JudicialOpinion{Text: "It is so ordered."}, Criteria: []abi.Criterion{{CriterionID: "clear"}},
			}),
			func(served bool, request []byte) (int, *abi.Failure, error) {
				r, err := codec.DecodeJudgeResponse(judge.Answer(map[bool]judge.Handler{true: opinions}[served], request), 0)
				return len(r.Opinions), r.Failure, err
			},
		},
	} {
		if n, failure, err := kind.ask(true, kind.request); n != 1 || failure != nil || err != nil {
			t.Errorf("%s: %d answers, failure %+v, error %v", name, n, failure, err)
		}
		if n, failure, err := kind.ask(true, kind.request[:9]); n != 0 || failure == nil || failure.Code != guest.BadRequest || err != nil {
			t.Errorf("%s, a cut request: %d answers, failure %+v, error %v", name, n, failure, err)
		}
		if n, failure, err := kind.ask(false, kind.request); n != 0 || failure == nil || failure.Code != guest.NotServed || err != nil {
			t.Errorf("%s, no handler: %d answers, failure %+v, error %v", name, n, failure, err)
		}
	}
}

// What a module in Go may not link, since it would cost more than all of its
// judgement: fmt, reflection, the operating system, text encodings.
func TestModulesLinkNothingLarge(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", "../../plugins/challenger", "../../plugins/abyss", "../../plugins/bulwark", "../../plugins/specter", "../../plugins/clerk",
		"../../plugins/herald", "../../plugins/sentinel", "../../plugins/seeker", "../../plugins/weaver",
		"../../plugins/reader", "../../plugins/prosecutor", "../../plugins/advocate", "../../plugins/magistrate", "./...")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	out := must.Get(cmd.Output())(t)
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, "github.com/shadowcourt/shadowcourt/plugins/clerk") {
		t.Fatal("the list has no clerk")
	}
	for _, large := range []string{"fmt", "reflect", "os", "sort", "time", "regexp", "encoding/json", "encoding/binary", "log"} {
		if slices.Contains(linked, large) {
			t.Errorf("%s is linked", large)
		}
	}
}
