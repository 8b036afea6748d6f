package trial

import (
	"slices"
	"strconv"
	"strings"
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

// Cached says that there are answers for no tokens: they come from the cache, or from an agent, whose tokens nobody counts.
func (c *Completion) Cached() bool {
	return c.Answers > 0 && c.InputTokens+c.OutputTokens == 0
}

// Took says in words what came of a completion and what it took: "answered (3 answers, 1200 tokens in and 300 out, cost 0.004)".
func (c *Completion) Took() string {
	var parts []string
	if c.Answers > 1 {
		parts = append(parts, strconv.Itoa(c.Answers)+" answers")
	}
	switch {
	case c.Cached():
		parts = append(parts, "no tokens")
	case c.InputTokens+c.OutputTokens > 0:
		parts = append(parts, strconv.Itoa(c.InputTokens)+" tokens in and "+strconv.Itoa(c.OutputTokens)+" out")
	}
	if c.Cost > 0 {
		parts = append(parts, "cost "+Money(c.Cost))
	}
	text := strings.ReplaceAll(string(c.Outcome), "_", " ")
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

// Money writes an amount with the digits that say something: 12.35, 0.0042.
func Money(v float64) string {
	if v >= 1 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// RoundMoney rounds an amount to 12 digits: sums of prices have no digits of binary arithmetic behind those that say something.
func RoundMoney(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return rounded
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

// Meaning says what a status means, in a few words; nothing of an unknown one.
func (s Status) Meaning() string {
	return map[Status]string{
		Unreviewed: "the court was off, Light's answer stands",
		Accepted:   "Light was sure enough, no trial",
		Rejected:   "Light was too unsure for a trial",
		Affirmed:   "the court upholds Light's answer",
		Amended:    "the court gives another label",
		Acquitted:  "the evidence decides nothing",
		Mistrial:   "the trial broke off",
	}[s]
}

// End names the outcome, as `amended quota 0.81` or `mistrial (module_trap)`.
func (r *Result) End() string {
	end := string(r.Final.Status)
	if r.Final.Classification != "" {
		end += " " + r.Final.Classification + " " + Number(r.Final.Confidence)
	}
	if r.Final.Cause != "" {
		end += " (" + string(r.Final.Cause) + ")"
	}
	return end
}

// Why is the reasoning of the last verdict, or what failed in its place.
func (r *Result) Why() string {
	switch {
	case r.Error != nil:
		return r.Error.Message
	case r.Verdict != nil:
		return r.Verdict.Reasoning
	}
	return ""
}

// How names the edge of the move, or says what happened without one.
func (s *Step) How() string {
	switch {
	case s.Edge != "":
		return s.Edge
	case s.Node == s.To:
		return "again"
	}
	return "no edge fired"
}

// Weight renders a weight, in [0, 1], with two digits, and never as a 1.00 or 0.00 that is not one.
func Weight(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	switch {
	case s == "1.00" && v < 1:
		return ">.99"
	case s == "0.00" && v > 0:
		return "<.01"
	}
	return s
}

// leastThreshold is the least that confidences are usually compared with.
const leastThreshold = 0.5

// Number is [Weight] for a confidence: one below a multiple of 0.05 that may be a threshold is not rounded up to it. 0.4999 is 0.49, for
// it is not 0.50.
func Number(v float64) string {
	s := Weight(v)
	shown, err := strconv.ParseFloat(s, 64)
	if err == nil && shown > v && shown >= leastThreshold && (strings.HasSuffix(s, "0") || strings.HasSuffix(s, "5")) {
		return strconv.FormatFloat(shown-0.01, 'f', 2, 64)
	}
	return s
}
