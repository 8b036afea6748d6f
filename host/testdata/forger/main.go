// A module for tests that plays a persona of the court. It is idle, with valid and empty artifacts, unless the
// persona's colour says what it is up to: it forges the statements of measured sources, shouts its challenges, quotes its opponents, or
// does all of it.
package main

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

func init() {
	node.Handle(play)
	contest.Handle(func(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
		if !does(&r.Persona, "shout") {
			return nil, nil
		}
		own := wanted(r.Persona.Role, r.ChargedDefectType, r.Labels)
		var all []abi.Challenge
		for _, item := range r.Items {
			if item.Item.Supports != own {
				all = append(all, abi.Challenge{EvidenceIndex: item.EvidenceIndex, Challenge: "no", Severity: abi.Fatal})
			}
		}
		return all, nil
	})
}

func main() {}

// does says whether the persona is up to something.
func does(p *abi.Persona, what string) bool { return p.Colour == what || p.Colour == "everything" }

// wanted is the label that a side wants: the prosecution its charge, the others the first that is another one.
func wanted(role, charge string, labels []string) string {
	for _, label := range labels {
		if (label == charge) == (role == "prosecution") {
			return label
		}
	}
	return charge
}

func play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	switch r.Family {
	case abi.FamilyIndict:
		return &abi.Artifact{Indictment: indict(r)}, nil
	case abi.FamilyVerdict: // a judge who believes Light where it is sure, and nobody else
		v := &abi.Verdict{Decision: abi.Acquit, Confidence: 0.5}
		if r.Case.Light.Confidence >= 0.65 {
			v.Decision, v.FinalClassification = abi.Affirm, r.Indictment.ChargedDefectType
		}
		return &abi.Artifact{Verdict: v}, nil
	case abi.FamilyDiscover:
		return &abi.Artifact{Discovery: &abi.Discovery{Findings: findings(r)}}, nil
	case abi.FamilyDefend:
		return &abi.Artifact{DefenseBrief: &abi.DefenseBrief{Challenges: challenges(r), MotionToDismiss: true, Confidence: 0.5}}, nil
	default:
		return &abi.Artifact{HearingTurn: &abi.HearingTurn{NewChallenges: challenges(r), NewItems: items(r)}}, nil
	}
}

// indict leaves out all that speaks against the charge.
func indict(r *abi.NodeRequest) *abi.Indictment {
	v := &abi.Indictment{ChargedDefectType: r.Case.Light.Classification, Confidence: 0.5}
	if r.Persona.Colour == "idle" {
		return v
	}
	for _, e := range r.Case.Evidence {
		if e.Supports == v.ChargedDefectType {
			v.Evidence = append(v.Evidence, abi.IndictmentItem{SourceRef: e.SourceRef, Content: e.Content, Weight: 1, Supports: e.Supports, Element: e.Element})
		}
	}
	return v
}

// findings quote each line that holds a signal for one label by itself, and claim every document for it.
func findings(r *abi.NodeRequest) []abi.Finding {
	if r.Persona.Colour == "idle" || r.Profile == nil {
		return nil
	}
	own := r.Case.Labels[0]
	var all []abi.Finding
	for _, d := range r.Case.Documents {
		for line := range strings.Lines(d.Text) {
			if quote := strings.TrimSpace(line); len(all) < 200 && quote != "" && (does(&r.Persona, "forge") || speaks(r.Profile, quote, own)) {
				all = append(all, abi.Finding{Document: d.Name, Quote: quote, Supports: own, Strength: 1})
			}
		}
	}
	return all
}

// speaks says whether a line holds a signal for a label, and none against it.
func speaks(p *abi.Profile, line, label string) bool {
	nats := 0.0
	for _, s := range p.Signals {
		if strings.Contains(strings.ToLower(line), strings.ToLower(s.Phrase)) {
			for _, w := range s.Weights {
				if w.Label == label {
					nats += w.Weight
				} else {
					nats -= w.Weight
				}
			}
		}
	}
	return nats > 0
}

func challenges(r *abi.NodeRequest) []abi.Challenge {
	all := []abi.Challenge{}
	if !does(&r.Persona, "shout") {
		return all
	}
	own := wanted(r.Persona.Role, r.Indictment.ChargedDefectType, r.Case.Labels)
	for i, item := range r.Indictment.Evidence {
		if item.Supports != own && len(all) < 250 {
			all = append(all, abi.Challenge{EvidenceIndex: i, Challenge: "no", Severity: abi.Fatal})
		}
	}
	return all
}

// items quote a line that stands in the document that they name, which may have the name of a measured source, and each quote of an
// opponent for the other label.
func items(r *abi.NodeRequest) []abi.IndictmentItem {
	own := wanted(r.Persona.Role, r.Indictment.ChargedDefectType, r.Case.Labels)
	var all []abi.IndictmentItem
	add := func(source, content, supports string) {
		if len(all) < 250 && content != "" {
			all = append(all, abi.IndictmentItem{SourceRef: source, Content: content, Weight: 1, Supports: supports, Element: abi.Water})
		}
	}
	document, line := standing(r)
	for i := range r.Exhibits {
		if does(&r.Persona, "quote") && r.Exhibits[i].Document == document && r.Indictment.Evidence[i].Supports != own {
			add(document+":again", line, own)
		}
	}
	if does(&r.Persona, "forge") && line != "" {
		for _, element := range []abi.Element{abi.Fire, abi.Earth, abi.Water, abi.Air} {
			add(document+":"+string(element), line, own)
		}
		add(document+":silent", line, "")
	}
	return all
}

// standing is a line that stands in a document.
func standing(r *abi.NodeRequest) (document, line string) {
	if r.Discovery != nil {
		for _, f := range r.Discovery.Findings {
			return f.Document, f.Quote
		}
	}
	for i := range r.Exhibits {
		if x := &r.Exhibits[i]; x.Quote == abi.QuoteStands && !strings.Contains(r.Indictment.Evidence[i].Content, "\n") {
			return x.Document, r.Indictment.Evidence[i].Content
		}
	}
	return "", ""
}
