package reading

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
)

// UnknownCriterion is the code of the failure of a judge that is asked for a criterion which it can't judge.
const UnknownCriterion = "unknown_criterion"

const security = "security"

// Judge answers for a judge without parameters: read gives its view of an opinion, which says for each criterion what the judge makes of
// it, or that it can't judge it. What the others said when they dissented is heard, but not of security.
func Judge(name string, r *abi.JudgeRequest, read func(*abi.JudgeRequest) func(criterion string) (abi.CriterionOpinion, bool)) ([]abi.CriterionOpinion, *abi.Failure) {
	if failure := params.Check(name, r.Params); failure != nil {
		return nil, failure
	}
	judge := read(r)
	opinions := make([]abi.CriterionOpinion, len(r.Criteria))
	for i := range r.Criteria {
		criterion := r.Criteria[i].CriterionID
		o, ok := judge(criterion)
		if !ok {
			return nil, guest.Fail(UnknownCriterion, name+" can't judge "+criterion)
		}
		o.Judge, o.CriterionID = r.Judge, criterion
		if criterion != security {
			reconsider(&o, r.Evidence)
		}
		opinions[i] = o
	}
	return opinions, nil
}

// reconsider is what a judge makes of having heard the others, when it is asked again: it goes one step towards the surest of those that
// are surer than itself, and is a little surer of it than it was before. Nobody goes further: who is surer of what is wrong would win
// every time.
func reconsider(o *abi.CriterionOpinion, evidence []abi.Evidence) {
	surest := o.RelevanceConfidence
	theirs, who := o.NumericScore, ""
	for i := range evidence {
		e := &evidence[i]
		ref, heard := strings.CutPrefix(e.SourceRef, DissentName+":")
		if heard && e.Supports == o.CriterionID && e.RelevanceConfidence > surest && e.Content != "" && '1' <= e.Content[0] && e.Content[0] <= '5' {
			surest, theirs, who = e.RelevanceConfidence, int(e.Content[0]-'0'), ref[strings.LastIndexByte(ref, ':')+1:]
		}
	}
	switch {
	case theirs == o.NumericScore:
		return
	case theirs > o.NumericScore:
		o.NumericScore++
	default:
		o.NumericScore--
	}
	o.RelevanceConfidence += (1 - o.RelevanceConfidence) / 10
	o.Argument += " " + who + ", who is surer, moves this one step."
}

// Grade gives 1 to 5: one more for each bound that x reaches.
func Grade(x float64, bounds ...float64) int {
	score := 1
	for _, b := range bounds {
		if x >= b {
			score++
		}
	}
	return score
}

// Collect answers for a collector without parameters: read gets the opinion's statements, the other documents and the labels, and says
// what it found.
func Collect(name string, r *abi.NodeRequest, read func(statements []Statement, documents []abi.Document, labels []string, out *abi.Discovery)) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyCollect {
		return nil, guest.Fail(guest.WrongFamily, name+" doesn't play "+string(r.Family))
	}
	if failure := params.Check(name, r.Params); failure != nil {
		return nil, failure
	}
	out := &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{}}
	var documents []abi.Document
	var opinion *abi.Document
	for i := range r.Case.Documents {
		if d := &r.Case.Documents[i]; d.Name == OpinionName && opinion == nil {
			opinion = d
		} else {
			documents = append(documents, *d)
		}
	}
	if opinion == nil {
		out.Missing = append(out.Missing, "there is no opinion to read")
	} else {
		read(Statements(opinion.Text), documents, r.Case.Labels, out)
	}
	return &abi.Artifact{Discovery: out}, nil
}
