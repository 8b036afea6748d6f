// A module for tests that does what the node's or the edge's parameter
// `behave` says: it plays any persona, and none by default.
package main

import (
	"os"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/edges"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

func init() {
	node.Handle(play)
	contest.Handle(func(*abi.ContestRequest) ([]abi.Challenge, *abi.Failure) { return nil, nil })
	edges.Handle(answer)
}

func main() {}

// counter would betray an earlier call, if memory outlived one.
var counter int

func behaviour(params []abi.Param) string { return text(params, "behave") }

func text(params []abi.Param, name string) string {
	for _, p := range params {
		if p.Name == name && p.Text != nil {
			return *p.Text
		}
	}
	return ""
}

func play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	counter++
	how := behaviour(r.Params)
	misbehave(how)
	switch r.Family {
	case abi.FamilyVerdict:
		return verdict(r, how)
	case abi.FamilyHearing:
		return &abi.Artifact{HearingTurn: turn(r, how)}, nil
	case abi.FamilyDefend:
		return &abi.Artifact{DefenseBrief: brief(how)}, nil
	case abi.FamilyDiscover:
		return &abi.Artifact{Discovery: &abi.Discovery{Findings: findings(how)}}, nil
	default:
		return nil, guest.Fail("unplayed", "the puppet does not play "+string(r.Family))
	}
}

// misbehave ends the call in the way that the name says.
func misbehave(how string) {
	switch how {
	case "spin":
		for {
			counter++
		}
	case "trap":
		var none *abi.Artifact
		none.Verdict = nil
	case "exit":
		os.Exit(3)
	case "bomb":
		var hoard [][]byte
		for {
			hoard = append(hoard, make([]byte, 1<<20))
		}
	case "open":
		_, _ = os.Open("/etc/passwd")
	}
}

func verdict(r *abi.NodeRequest, how string) (*abi.Artifact, *abi.Failure) {
	v := &abi.Verdict{Decision: abi.Decision(how), Confidence: 0.5, Reasoning: "as told"}
	switch how {
	case "affirm":
		v.FinalClassification = r.Indictment.ChargedDefectType
	case "amend":
		for _, label := range r.Case.Labels {
			if label != r.Indictment.ChargedDefectType {
				v.FinalClassification = label
			}
		}
		if label := text(r.Params, "label"); label == r.Indictment.ChargedDefectType {
			v.Decision, v.FinalClassification = abi.Affirm, label
		} else if label != "" {
			v.FinalClassification = label
		}
	case "remand":
		v.RemandFeedback = &abi.RemandFeedback{Questions: []abi.Question{{ID: "q1", Question: "what else is known?"}}}
		for i := range r.Indictment.Evidence {
			v.RemandFeedback.Challenged = append(v.RemandFeedback.Challenged, abi.ChallengedItem{EvidenceIndex: i, Why: "prove it"})
		}
	case "contradiction": // affirms another label than the charge
		v.Decision, v.FinalClassification = abi.Affirm, "elsewhere"
	case "no change": // amends the charge to itself
		v.Decision, v.FinalClassification = abi.Amend, r.Indictment.ChargedDefectType
	case "confidence":
		v.Decision, v.Confidence = abi.Acquit, 1.5
	case "several": // three things wrong at once
		v.Decision, v.Confidence, v.FinalClassification = "perhaps", -1, string([]byte{0xff})
	case "wrong": // a valid artifact of another family
		return &abi.Artifact{HearingTurn: &abi.HearingTurn{}}, nil
	case "fail":
		return nil, guest.Fail("no_opinion", "I would rather not")
	case "count":
		v.Decision, v.Reasoning = abi.Acquit, digits(counter)
	}
	return &abi.Artifact{Verdict: v}, nil
}

func brief(how string) *abi.DefenseBrief {
	b := &abi.DefenseBrief{Confidence: 0.5}
	switch how {
	case "concede":
		b.PleaDeal = true
	case "dismiss":
		b.MotionToDismiss = true
	case "impostor":
		b.Challenges = []abi.Challenge{{EvidenceIndex: 0, Challenge: "not mine", Severity: abi.Fatal, By: "challenger"}}
	case "beyond":
		b.Challenges = []abi.Challenge{{EvidenceIndex: 1000, Challenge: "there is no such item", Severity: abi.Fatal}}
	case "bulky":
		b.MotionToDismiss = true
	}
	return b
}

// turn brings something new in every round when told to quarrel: a stronger
// challenge of the same item.
func turn(r *abi.NodeRequest, how string) *abi.HearingTurn {
	t := &abi.HearingTurn{Argument: string(r.Turn.Speaker) + " speaks, call " + digits(counter)}
	if how == "earlier" {
		t.NewItems = []abi.IndictmentItem{{SourceRef: "casebook:9", Content: "quota exceeded for volume data-7", Weight: 1, Supports: "quota"}}
	}
	if how != "quarrel" {
		return t
	}
	severity := [...]abi.Severity{abi.Minor, abi.Weakening, abi.Fatal}[min(r.Turn.Round-1, 2)]
	t.NewChallenges = []abi.Challenge{{EvidenceIndex: 0, Challenge: "round " + digits(r.Turn.Round), Severity: severity}}
	return t
}

func findings(how string) []abi.Finding {
	if how == "invent" {
		return []abi.Finding{{Document: "log", Quote: "words that stand nowhere in it", Strength: 1}}
	}
	return nil
}

func answer(r *abi.EdgeRequest) ([]abi.EdgeAnswer, *abi.Failure) {
	answers := make([]abi.EdgeAnswer, len(r.Questions))
	for i, q := range r.Questions {
		how := behaviour(q.Params)
		misbehave(how)
		answers[i] = abi.EdgeAnswer{ID: q.ID, Fires: how == "yes", Why: "as told"}
	}
	return answers, nil
}

func digits(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return digits(n/10) + digits(n%10)
}
