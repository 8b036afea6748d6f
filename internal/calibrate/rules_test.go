package calibrate

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// Of 40 cases the court without rules answers half right. A rule matches in 10, is right in 8 of them, and the court follows it.
func TestAccept_IG5_EachRuleIsMeasuredByItself(t *testing.T) {
	t.Parallel()
	set := &RuleSet{
		File: "rules.yaml", Digest: "sha256:00", Without: map[string]string{},
		Rules: []UserRule{{"good", "b", "@a"}, {"weak", "c", ""}, {"never", "a", ""}, {"foreign", "z", ""}},
	}
	list := duel(40, 0, 0)
	for i := range list {
		o := &list[i]
		o.Case.Labels, o.Case.Truth = []string{"a", "b", "c"}, "a"
		o.Case.Light.Label, o.Final.Classification = "a", "a"
		if i%2 == 0 {
			o.Case.Truth = "b"
		}
		if i < 10 {
			o.Rules = []trial.RuleMatch{{Rule: "good", Label: "b", Confidence: 0.9}}
			o.Case.Truth, o.Final.Classification = "b", "b"
			set.Without[o.Case.ID] = "a"
		}
		if i < 2 {
			o.Case.Truth = "a"
		}
		if i < 4 {
			o.Rules = append(o.Rules, trial.RuleMatch{Rule: "weak", Label: "c", Confidence: 0.7})
		}
	}
	list[39].RulesFailed = true
	o := options()
	o.Rules = set
	report := Measure(list, nil, o)
	r := report.Rules
	if r == nil || r.Cases != 40 || r.Matched.Count != 10 || r.Failed != 1 {
		t.Fatalf("%+v", r)
	}
	// With the rules 8 of the 10 are right and 15 of the other 30; without them 2 and 15. The plainest method does what the court does here.
	if r.With.Count != 23 || r.Without.Count != 17 || r.Decide.Count != 23 || r.Gain.CourtOnly != 8 || r.Gain.OtherOnly != 2 || r.OverDecide.Estimate != 0 {
		t.Errorf("with %+v, without %+v, decide %+v, gain %+v, over %+v", r.With, r.Without, r.Decide, r.Gain, r.OverDecide)
	}
	good, weak, never, foreign := &r.Rules[0], &r.Rules[1], &r.Rules[2], &r.Rules[3]
	if good.Right.Count != 8 || good.Right.Of != 10 || good.Right.Interval == nil || good.With.Count != 8 || good.Without.Count != 2 || good.Applies != 40 {
		t.Errorf("%+v", good)
	}
	if weak.Right.Count != 0 || weak.Right.Of != 4 || never.Right.Of != 0 || never.Right.Share != nil || foreign.Applies != 0 {
		t.Errorf("%+v, %+v, %+v", weak, never, foreign)
	}
	var b bytes.Buffer
	if err := WriteTable(&b, report, render.TerminalOptions{Width: 200}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"some rule matched in 10 of 40", "the rules could not be evaluated", "never matched", "no case has the label"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}
