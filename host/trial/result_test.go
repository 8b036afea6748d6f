package trial

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// The contract's own example, to the byte.
const amendedJSON = `{"id":"a","activated":true,` +
	`"light":{"classification":"pb001","confidence":0.73},"light_after":[],` +
	`"verdict":{"decision":"amend","final_classification":"ab001","confidence":0.81,"reasoning":"r"},` +
	`"final":{"status":"amended","classification":"ab001","confidence":0.81,"cause":null},` +
	`"path":["indict","discover","defend","HD4:hearing","HD5:verdict","HD7:_done"],` +
	`"remands":0,"rounds":2,"handoffs":9,` +
	`"gap_brief":null,"modules":{"challenger":"sha256:aa"},"fuel":null,"error":null}`

const mistrialJSON = `{"id":"b","activated":true,"light":null,` +
	`"light_after":[{"classification":"x","confidence":0.5}],` +
	`"verdict":{"decision":"mistrial","final_classification":null,"confidence":0.1,"reasoning":""},` +
	`"final":{"status":"mistrial","classification":null,"confidence":0.1,"cause":"invalid_artifact"},` +
	`"path":[],"remands":1,"rounds":0,"handoffs":3,` +
	`"gap_brief":{"case_id":"b","cause":"invalid_artifact","final_confidence":0.1,` +
	`"gaps":[{"description":"d","source":"s","severity":"high","suggested_action":"act","court_phase":"defend"},` +
	`{"description":"d2","source":"","severity":"low","suggested_action":""}],"summary":"sum"},` +
	`"modules":{},"fuel":7,` +
	`"error":{"code":"invalid_artifact","message":"m","node":"defend","persona":"abyss","module":null,` +
	`"problems":[{"path":"challenges[0].severity","code":"invalid_value","detail":"bad"}]},` +
	`"timings":{"total_micros":9,"module_micros":8,"calls":2}}`

func amendedResult() Result {
	return Result{
		ID: "a", Activated: true, Light: &Answer{"pb001", 0.73},
		Verdict: NewRuling(&abi.Verdict{Decision: abi.Amend, FinalClassification: "ab001", Confidence: 0.81, Reasoning: "r"}),
		Final:   Final{Status: Amended, Classification: "ab001", Confidence: 0.81},
		Path:    []string{"indict", "discover", "defend", "HD4:hearing", "HD5:verdict", "HD7:_done"},
		Rounds:  2, Handoffs: 9, Modules: map[string]string{"challenger": "sha256:aa"},
	}
}

func mistrialResult() Result {
	fuel := uint64(7)
	return Result{
		ID: "b", Activated: true, LightAfter: []Answer{{"x", 0.5}},
		Verdict: NewRuling(&abi.Verdict{Decision: abi.Mistrial, Confidence: 0.1}),
		Final:   Final{Status: Mistrial, Confidence: 0.1, Cause: CauseInvalidArtifact},
		Remands: 1, Handoffs: 3, Fuel: &fuel,
		GapBrief: NewGapBrief(&abi.EvidenceGapBrief{
			CaseID: "b", Cause: "invalid_artifact", FinalConfidence: 0.1, Summary: "sum",
			Gaps: []abi.CourtEvidenceGap{
				{Description: "d", Source: "s", Severity: abi.GapHigh, SuggestedAction: "act", CourtPhase: abi.FamilyDefend},
				{Description: "d2", Severity: abi.GapLow},
			},
		}),
		Error: &Failure{
			Code: "invalid_artifact", Message: "m", Node: "defend", Persona: "abyss",
			Problems: NewProblems([]abi.Problem{{
				Path: abi.Path{abi.Field("challenges"), abi.Index(0), abi.Field("severity")}, Code: abi.CodeInvalidValue, Detail: "bad",
			}}),
		},
		Timings: &Timings{TotalMicros: 9, ModuleMicros: 8, Calls: 2},
	}
}

func TestResultIsWrittenAsTheContractHasIt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		result Result
		want   string
	}{{amendedResult(), amendedJSON}, {mistrialResult(), mistrialJSON}} {
		got := must.Get(json.Marshal(tc.result))(t)
		check.Same(t, cmp.Diff(tc.want, string(got)))
		var back Result
		must.Do(t, json.Unmarshal(got, &back))
		again := must.Get(json.Marshal(back))(t)
		check.Equal(t, string(again), tc.want, "read and written again")
	}
}

func TestResultWithoutAnythingHasNoNullLists(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(Result{ID: "a", GapBrief: &GapBrief{}, Error: &Failure{}})
	want := `{"id":"a","activated":false,"light":null,"light_after":[],"verdict":null,` +
		`"final":{"status":"","classification":null,"confidence":0,"cause":null},"path":[],"remands":0,"rounds":0,"handoffs":0,` +
		`"gap_brief":{"case_id":"","cause":"","final_confidence":0,"gaps":[],"summary":""},"modules":{},"fuel":null,` +
		`"error":{"code":"","message":"","node":null,"persona":null,"module":null,"problems":[]}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// A result that was read is written the same way each time.
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"id":"1","final":{"status":"affirmed","classification":"a","confidence":0.7,"cause":null},"failure":{"code":"x","problems":null}}`))
	f.Add([]byte(`{"id":"1","final":{"status":null}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var one, two Result
		if json.Unmarshal(data, &one) != nil {
			return
		}
		first := must.Get(json.Marshal(&one))(t)
		must.Do(t, json.Unmarshal(first, &two), first)
		if second, err := json.Marshal(&two); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%v\n%s\nis written again as\n%s", err, first, second)
		}
	})
}
