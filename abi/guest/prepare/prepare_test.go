package prepare

import (
	"reflect"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func given(weight float64) []abi.LabelWeight { return []abi.LabelWeight{{Label: "a", Weight: weight}} }

// known is a profile of two signals, two sources and a model of outcomes.
func known() *abi.Profile {
	return &abi.Profile{
		Name:    "known",
		Signals: []abi.Signal{{Phrase: "one", Weights: given(1)}, {Phrase: "two", Weights: given(2)}},
		Sources: []abi.SourceReliability{{Source: "log"}, {Source: "repo"}}, SignalCap: 3,
		Outcomes: &abi.OutcomeModel{Shapes: []abi.RateShape{{Name: "steady", Passed: 1}}},
	}
}

func view() *abi.CaseView {
	return &abi.CaseView{Subject: "a test", Labels: []string{"a", "b"}, Documents: []abi.Document{{Name: "log", Text: "one two"}}}
}

func give(t *testing.T, s *State, r *abi.PrepareRequest) *abi.Failure {
	t.Helper()
	response := must.Get(codec.DecodePrepareResponse(s.Answer(codec.AppendPrepareRequest(nil, r)), 1<<10))(t)
	return response.Failure
}

func prepared(t *testing.T) *State {
	t.Helper()
	s := new(State)
	for _, r := range []abi.PrepareRequest{{Digest: "first", Profile: known()}, {Digest: "second", Case: view()}} {
		if f := give(t, s, &r); f != nil {
			t.Fatal(f)
		}
	}
	return s
}

func TestARequestIsCompletedWithWhatWasPrepared(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	experiments := []abi.ExperimentResult{{Outcome: abi.OutcomePassed}}
	evidence := []abi.Evidence{{SourceRef: "log:L1", Content: "one"}}
	r := &abi.NodeRequest{
		Node: "verdict", Case: abi.CaseView{Experiments: experiments, Evidence: evidence},
		Prepared: &abi.Prepared{Digest: "second", Case: true, Profile: &abi.ProfileParts{Signals: []int{1}, Sources: []int{0}}},
	}
	if f := s.Node(r); f != nil {
		t.Fatal(f)
	}
	profile := known()
	profile.Signals, profile.Sources, profile.Outcomes = profile.Signals[1:], profile.Sources[:1], nil
	want := *view()
	want.Experiments, want.Evidence = experiments, evidence
	if !reflect.DeepEqual(r.Profile, profile) || !reflect.DeepEqual(r.Case, want) {
		t.Errorf("%+v\n%+v", r.Profile, r.Case)
	}
	whole := &abi.ContestRequest{Prepared: &abi.Prepared{Digest: "second", Profile: &abi.ProfileParts{All: true, Outcomes: true}}}
	if f := s.Contest(whole); f != nil || !reflect.DeepEqual(whole.Profile, known()) {
		t.Errorf("%v %+v", f, whole.Profile)
	}
	own := &abi.NodeRequest{Profile: &abi.Profile{Name: "own"}, Case: abi.CaseView{Subject: "own"}, Prepared: &abi.Prepared{Digest: "second"}}
	if f := s.Node(own); f != nil || own.Profile.Name != "own" || own.Case.Subject != "own" {
		t.Errorf("%v %+v", f, own)
	}
}

func TestARequestThatNamesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	half := new(State)
	if f := give(t, half, &abi.PrepareRequest{Digest: "first"}); f != nil {
		t.Fatal(f)
	}
	all := &abi.ProfileParts{All: true}
	for name, f := range map[string]*abi.Failure{
		"another digest":      prepared(t).Node(&abi.NodeRequest{Prepared: &abi.Prepared{Digest: "first"}}),
		"never prepared":      new(State).Node(&abi.NodeRequest{Prepared: &abi.Prepared{Digest: "first"}}),
		"no profile":          half.Contest(&abi.ContestRequest{Prepared: &abi.Prepared{Digest: "first", Profile: all}}),
		"no case":             half.Node(&abi.NodeRequest{Prepared: &abi.Prepared{Digest: "first", Case: true}}),
		"signal out of range": prepared(t).Node(&abi.NodeRequest{Prepared: &abi.Prepared{Digest: "second", Profile: &abi.ProfileParts{Signals: []int{2}}}}),
		"source out of range": prepared(t).Node(&abi.NodeRequest{Prepared: &abi.Prepared{Digest: "second", Profile: &abi.ProfileParts{Sources: []int{9}}}}),
	} {
		if f == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	s := prepared(t)
	if response, err := codec.DecodePrepareResponse(s.Answer([]byte{0x80}), 1<<10); err != nil || response.Failure == nil || s.digest != "second" {
		t.Errorf("an invalid request: %+v, %v, %q", response, err, s.digest)
	}
}
