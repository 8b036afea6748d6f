package render

import (
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// ModelSummary counts what language models were asked in a docket, and what that took.
type ModelSummary struct {
	// Completions that personas asked for; Unanswered of them have no answer, Cached ones have answers that took no tokens.
	Completions int `json:"completions"`
	Unanswered  int `json:"unanswered"`
	Cached      int `json:"cached"`
	// Tokens that were counted, and their cost in the currency of the prices.
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Cost         float64 `json:"cost"`
	// Fallbacks is how often a fallback played for want of a usable answer.
	Fallbacks int `json:"fallbacks"`
	// Unbound are the names in the pipeline that no model answers to: nobody was asked in its place.
	Unbound []string `json:"unbound,omitempty"`
}

// Unbound notes the names in the pipeline that no model answers to.
func (s *Summary) Unbound(names []string) {
	if len(names) == 0 {
		return
	}
	if s.Models == nil {
		s.Models = &ModelSummary{}
	}
	s.Models.Unbound = names
}

func (s *ModelSummary) add(r *trial.Result) {
	for i := range r.Completions {
		c := &r.Completions[i]
		s.Completions++
		count(&s.Unanswered, c.Answers == 0)
		count(&s.Cached, c.Cached())
		s.InputTokens += c.InputTokens
		s.OutputTokens += c.OutputTokens
		s.Cost = trial.RoundMoney(s.Cost + c.Cost)
	}
	s.Fallbacks += len(r.Fallbacks)
}

// lines have what is missing apart, so that no figure hides it.
func (s *ModelSummary) lines() []SummaryLine {
	var lines []SummaryLine
	if s.Completions+s.Fallbacks > 0 || len(s.Unbound) == 0 {
		lines = append(lines, SummaryLine{"Models", s.line()})
	}
	if names := sanitize.Line(strings.Join(s.Unbound, ", ")); len(s.Unbound) == 1 {
		lines = append(lines, SummaryLine{"Unbound", names + ": no model answers to this name, and nobody was asked in its place"})
	} else if names != "" {
		lines = append(lines, SummaryLine{"Unbound", names + ": no models answer to these names, and nobody was asked in their place"})
	}
	return lines
}

func (s *ModelSummary) line() string {
	text := plural(s.Completions, "completion", "completions")
	if s.Cached > 0 {
		text += ", " + strconv.Itoa(s.Cached) + " cached"
	}
	if s.Unanswered > 0 {
		text += ", " + strconv.Itoa(s.Unanswered) + " without an answer"
	}
	text += "; " + strconv.Itoa(s.InputTokens) + " tokens in and " + strconv.Itoa(s.OutputTokens) + " out"
	if s.Cost > 0 {
		text += ", cost " + trial.Money(s.Cost)
	}
	if s.Fallbacks > 0 {
		text += "; " + plural(s.Fallbacks, "fallback", "fallbacks") + " played"
	}
	return text
}
