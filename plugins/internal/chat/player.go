package chat

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Player is a persona that does what it does without a model, and adds what a model says.
type Player struct {
	// Base gives the artifact without a model.
	Base func(*abi.NodeRequest) (*abi.Artifact, *abi.Failure)
	// Question is what the model is asked; nil where nothing is. base is the artifact without it.
	Question func(r *abi.NodeRequest, base *abi.Artifact) *Question
	// Apply adds the answers, one at least, to the artifact. sheet is what the model was shown of documents; nil where nothing was.
	Apply func(r *abi.NodeRequest, base *abi.Artifact, answers []Value, sheet *Sheet)
}

// Ask is what the model is asked first. What is wrong with the prompt the answer to the call says.
func (p *Player) Ask(r *abi.NodeRequest) *abi.Completion {
	if len(r.Completions) > 0 {
		return nil
	}
	_, _, asked, failure := p.asked(r)
	if failure != nil {
		return nil
	}
	return asked.Completion
}

// Play gives the artifact, or says why the model's part of it is missing.
func (p *Player) Play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	base, q, asked, failure := p.asked(r)
	if failure != nil {
		return nil, failure
	}
	if q == nil {
		return base, nil
	}
	answers, ok, failure := Answers(r, q.Schema)
	if failure != nil {
		return nil, failure
	}
	if ok && asked.Completion != nil {
		p.Apply(r, base, answers, asked.Sheet)
	}
	return base, nil
}

func (p *Player) asked(r *abi.NodeRequest) (*abi.Artifact, *Question, Asked, *abi.Failure) {
	base, failure := p.Base(r)
	if failure != nil || len(r.Models) == 0 && len(r.Completions) == 0 {
		return base, nil, Asked{}, failure
	}
	q := p.Question(r, base)
	if q == nil {
		return base, nil, Asked{}, nil
	}
	asked, failure := Ask(r, q)
	return base, q, asked, failure
}

// CountLines is how many lines documents have.
func CountLines(documents []abi.Document) int {
	n := 0
	for i := range documents {
		text := documents[i].Text
		if n += strings.Count(text, "\n"); text != "" && !strings.HasSuffix(text, "\n") {
			n++
		}
	}
	return n
}

// Said is a text of a model as artifacts repeat it.
func Said(r *abi.NodeRequest, what string) string {
	if what = strings.TrimSpace(what); what == "" {
		return ""
	}
	return modelSays + Model(r) + ": " + Clip(what, 1500)
}

// modelSays begins what artifacts repeat of a model.
const modelSays = "The model "
