// Command bench is a judge for tests that does what its parameters tell it.
package main

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
)

func init() { judge.Handle(score) }

func main() {}

// score gives every criterion what the parameters say: score, and again in the
// second round; confidence; cite; violation; and behave, for what goes wrong, late in the
// second round alone.
func score(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
	number := func(name string, fallback float64) float64 {
		for _, p := range r.Params {
			if p.Name == name && p.Number != nil {
				return *p.Number
			}
		}
		return fallback
	}
	text := func(name string) string {
		for _, p := range r.Params {
			if p.Name == name && p.Text != nil {
				return *p.Text
			}
		}
		return ""
	}
	given, confidence, round := number("score", 3), number("confidence", 0.5), "first"
	for _, e := range r.Evidence {
		if strings.HasPrefix(e.SourceRef, "dissent:") {
			given, confidence, round = number("again", given), confidence+0.1, "second"
			break
		}
	}
	cited := []string{}
	if ref := text("cite"); ref != "" {
		cited = append(cited, ref)
	}
	violation := false
	for _, p := range r.Params {
		violation = violation || p.Name == "violation" && p.Flag != nil && *p.Flag
	}
	name := r.Judge
	switch text("behave") {
	case "trap":
		panic("told to")
	case "loop":
		for { //nolint:revive // told to
		}
	case "late":
		for round == "second" { //nolint:revive // told to
		}
	case "give up":
		return nil, guest.Fail("told_to", "it was told to give up")
	case "another":
		name = "another"
	case "too high":
		given = 6
	}
	var opinions []abi.CriterionOpinion
	for _, c := range r.Criteria {
		opinions = append(opinions, abi.CriterionOpinion{
			Judge: name, CriterionID: c.CriterionID, NumericScore: int(given), Argument: "told so in the " + round + " round",
			CitedEvidence: cited, RelevanceConfidence: confidence, SecurityViolationFound: violation,
		})
	}
	return opinions, nil
}
