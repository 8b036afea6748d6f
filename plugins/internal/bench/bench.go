// Package bench is what the bench does without a language model: it reads the documents at discovery, keeps the notes of the
// hearing, and contests the items that fall to its element.
package bench

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Play gives the artifact of a node of the bench.
func Play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail(incomplete, "the case has no labels")
	}
	switch r.Family {
	case abi.FamilyDiscover:
		if failure := params.Check("the bench", r.Params, proceeding.ExperimentParams()...); failure != nil {
			return nil, failure
		}
		return &abi.Artifact{Discovery: discover(r)}, nil
	case abi.FamilyHearing:
		if r.Indictment == nil || r.Turn == nil {
			return nil, guest.Fail(incomplete, "a turn of the hearing needs the indictment and whose turn it is")
		}
		return &abi.Artifact{HearingTurn: note(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the bulwark doesn't play "+string(r.Family))
	}
}

// Choose asks at discovery for the first experiment of the trial, by what the documents say alone: no conclusion of Light enters
// the choice. In the hearing the bench asks for none.
func Choose(r *abi.NodeRequest) *abi.Experiment {
	if r.Family != abi.FamilyDiscover || len(r.Case.Labels) == 0 {
		return nil
	}
	texts := make([]string, len(r.Case.Documents))
	for i := range r.Case.Documents {
		texts[i] = r.Case.Documents[i].Text
	}
	scale := weigh.Weigh(&weigh.Matter{
		Labels: r.Case.Labels, Subject: r.Case.Subject, Profile: r.Profile,
		Findings: discover(r).Findings, Signals: weigh.Standing(r.Profile, texts), Experiments: r.Case.Experiments,
	})
	return proceeding.First(r, scale)
}

const incomplete = "incomplete_request"

// Contest contests the items that fall to the bench's element: what is flawed, and what names a label but neither quotes nor gives a
// reason, unless a profile knows its source.
func Contest(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	return proceeding.ContestVague(r), nil
}

// maxFindings bounds a discovery; the strongest stay.
const maxFindings = 64

// discover reads the documents for what speaks for the labels: by the
// profile's signals where it has some, otherwise by the labels' own names. That
// a profile has none may only say that too few cases were there to learn any.
func discover(r *abi.NodeRequest) *abi.Discovery {
	if len(r.Case.Documents) == 0 {
		return &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{"the case has no documents to read"}}
	}
	if r.Profile != nil && len(r.Profile.Signals) > 0 {
		return readSignals(r.Case.Documents, r.Case.Labels, r.Profile)
	}
	return readNames(r.Case.Documents, r.Case.Labels)
}
