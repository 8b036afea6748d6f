package trial

import (
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Completion is what a persona asked a language model, and what came of it.
type Completion struct {
	// Node and Persona that asked.
	Node    string `json:"node"`
	Persona string `json:"persona"`
	// Model is the name that the pipeline gives it.
	Model   string                `json:"model"`
	Outcome abi.CompletionOutcome `json:"outcome"`
	// Answers is how many there are.
	Answers int    `json:"answers"`
	Detail  string `json:"detail,omitempty"`
	// Tokens that the provider counted.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// Cost in the currency of the prices.
	Cost float64 `json:"cost"`
}

// NewCompletion is a result as programs get it.
func NewCompletion(node, persona string, r *abi.CompletionResult) Completion {
	return Completion{
		Node: node, Persona: persona, Model: r.Model, Outcome: r.Outcome, Answers: len(r.Answers), Detail: r.Detail,
		InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, Cost: r.Cost,
	}
}

// ModelUsage is what language models took.
type ModelUsage struct {
	// Tokens that providers counted.
	InputTokens, OutputTokens int
	// Cost in the currency of the prices.
	Cost float64
	// Waited is the time from questions to answers.
	Waited time.Duration
}

// Fallback says that another module played a persona because its own one gave no usable answer.
type Fallback struct {
	Node    string `json:"node"`
	Persona string `json:"persona"`
	// Module that failed, and its fallback.
	Module   string `json:"module"`
	Fallback string `json:"fallback"`
	// Cause and Message say why the module failed.
	Cause   Cause  `json:"cause"`
	Message string `json:"message"`
}

// Statement is a label that a language model stated.
type Statement struct {
	// Source is "model:" and the name that the pipeline gives the model: what a profile knows it by.
	Source     string  `json:"source"`
	Label      string  `json:"label"`
	Confidence float64 `json:"confidence"`
}

// NewStatements are those of a discovery: of each source and label the most confident one, in their order.
func NewStatements(d *abi.Discovery) []Statement {
	if d == nil {
		return nil
	}
	var list []Statement
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Source == "" || f.Supports == "" {
			continue
		}
		at := slices.IndexFunc(list, func(s Statement) bool { return s.Source == f.Source && s.Label == f.Supports })
		if at < 0 {
			list = append(list, Statement{Source: f.Source, Label: f.Supports, Confidence: f.Strength})
			continue
		}
		list[at].Confidence = max(list[at].Confidence, f.Strength)
	}
	return list
}
