package court

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
)

func TestAProfileIsCutToTheCase(t *testing.T) {
	t.Parallel()
	weights := []abi.LabelWeight{{Label: "a", Weight: 1}}
	signal := func(p string) abi.Signal { return abi.Signal{Phrase: p, Weights: weights} }
	source := func(n string) abi.SourceReliability { return abi.SourceReliability{Source: n, Share: 1, Cap: 1} }
	light := source("light")
	whole := &abi.Profile{
		Name: "p", SignalCap: 2, BaseRates: []abi.LabelWeight{{Label: "a", Weight: 0.5}}, Light: &light,
		Signals: []abi.Signal{signal("in the log"), signal("nowhere"), signal("in the subject"), signal("unlabelled"), signal("labelled")},
		Sources: []abi.SourceReliability{source("rule"), source("silent"), source("log")},
	}
	subject := &abi.Case{Subject: "IN the subject", Labels: []string{"a", "b"}, Documents: []abi.Document{{Name: "log#2", Text: "what stands in the log"}}}
	evidence := []abi.Evidence{{SourceRef: "rule:7", Content: "labelled", Supports: "a"}, {SourceRef: "other", Content: "is unlabelled"}}
	d := newDomain(whole, true)
	want := &abi.Profile{
		Name: "p", SignalCap: 2, BaseRates: whole.BaseRates, Light: &light,
		Signals: []abi.Signal{whole.Signals[0], whole.Signals[2], whole.Signals[3]},
		Sources: []abi.SourceReliability{whole.Sources[0]}, // whoever quotes the log is not its source
	}
	got, read := d.standing(subject, evidence)
	if diff := cmp.Diff(want, got.profile); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0}, read); diff != "" {
		t.Error("the signals in the documents:", diff)
	}
	if diff := cmp.Diff(abi.ProfileParts{Signals: []int{0, 2, 3}, Sources: []int{0}, Outcomes: true}, got.parts); diff != "" {
		t.Error("the parts:", diff)
	}
	none := newDomain(nil, true)
	if got, read := none.standing(subject, evidence); got.profile != nil || read != nil {
		t.Errorf("without a profile: %+v, %v", got, read)
	}
}
