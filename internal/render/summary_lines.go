package render

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// SummaryLine is one line of a summary for people.
type SummaryLine struct{ Name, Text string }

// Lines gives the summary in words, sanitized, for a table's foot and for reports.
func (s *Summary) Lines() []SummaryLine {
	var lines []SummaryLine
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, SummaryLine{name, text})
		}
	}
	s.finish()
	add(allFailed, s.allFailed())
	add("Cases", s.caseLine())
	add("No reruns", sanitize.Line(s.NoExperiments))
	add("Source", sanitize.Line(s.OtherSource))
	add("Answers", s.legend.answerLine())
	add("Mistrials", s.causeLine())
	add("Found", s.foundLine())
	if t := s.Truth; t != nil && t.Known > 0 {
		add("Truth", t.line())
	}
	if t := s.Truth; t != nil && t.Expected > 0 {
		add("Verdicts", "as expected in "+share(t.AsExpected, t.Expected))
	}
	if s.Audits != nil {
		add("Audits", s.Audits.line())
	}
	if s.Rules != nil {
		add("Rules", s.Rules.line())
	}
	if s.Models != nil {
		lines = append(lines, s.Models.lines()...)
	}
	add("Labels", s.legend.line())
	if s.Cases > 0 {
		add("Statuses", s.statusLine())
	}
	return lines
}

// Named lays a sanitized text out behind a name.
func (o TerminalOptions) Named(name, text string) string {
	const columns = 11 // of the name
	var b strings.Builder
	for i, part := range wrap(text, max(o.columns()-columns, 30)) {
		if i > 0 {
			name = ""
		}
		b.WriteString(o.paint(bold, name) + strings.Repeat(" ", max(columns-len(name), 0)) + part + "\n")
	}
	return b.String()
}

// RulesSummary counts the cases that rules of the user were evaluated for.
type RulesSummary struct {
	File    string `json:"file"`
	Digest  string `json:"digest"`
	Matched int    `json:"matched"`
	Failed  int    `json:"failed"`

	first string // message of the first failure
}

func (s *RulesSummary) add(r *trial.Rules) {
	s.File, s.Digest = r.File, r.Digest
	count(&s.Matched, len(r.Matches) > 0)
	if r.Error != nil {
		s.Failed++
		s.first = cmp.Or(s.first, r.Error.Message)
	}
}

func (s *RulesSummary) line() string {
	text := sanitize.Line(s.File) + ": a rule matched in " + plural(s.Matched, "case", "cases")
	if s.Failed > 0 {
		text += "; " + plural(s.Failed, "case was", "cases were") + " tried without the rules, which could not be evaluated: " + sanitize.Line(s.first)
	}
	return text
}

func (s *Summary) caseLine() string {
	var parts []string
	for _, of := range statusShares(s) {
		parts = append(parts, strconv.Itoa(of.Count)+" "+string(of.Status))
	}
	if len(parts) == 0 {
		return strconv.Itoa(s.Cases) + ", nothing to try"
	}
	return strconv.Itoa(s.Cases) + ": " + strings.Join(parts, ", ")
}

// allFailed is the line that stands before all others.
const allFailed = "All failed"

// allFailed says so where every case of a docket ended in a mistrial for one reason: then it is not the cases that are wrong.
func (s *Summary) allFailed() string {
	if s.Cases < 2 || s.ByStatus[trial.Mistrial] != s.Cases || len(s.failures) != 1 {
		return ""
	}
	reason := ""
	for at, message := range s.failures {
		reason = cmp.Or(message, string(at.cause))
	}
	return "all " + strconv.Itoa(s.Cases) + " cases ended in a mistrial for one reason, so nothing was decided: " + sanitize.Line(reason)
}

// foundLine counts what experiments found, the most frequent first.
func (s *Summary) foundLine() string {
	found := mostFirst(s.found)
	parts := make([]string, len(found))
	for i, f := range found {
		parts[i] = string(f) + " " + strconv.Itoa(s.found[f])
	}
	return strings.Join(parts, ", ")
}

// mostFirst are the keys of counts, the most frequent first.
func mostFirst[K ~string](counts map[K]int) []K {
	return slices.SortedFunc(maps.Keys(counts), func(a, b K) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
}

func (s *Summary) causeLine() string {
	causes := mostFirst(s.ByCause)
	parts := make([]string, 0, len(causes))
	for _, c := range causes {
		parts = append(parts, strconv.Itoa(s.ByCause[c])+" "+sanitize.Line(string(c)))
	}
	return strings.Join(parts, ", ")
}

func (s *TruthSummary) line() string {
	text := "of " + plural(s.Known, "tried case", "tried cases") + " Light was right in " + strconv.Itoa(s.LightRight) +
		" (" + percent(s.LightRight, s.Known) + "), the court in " + strconv.Itoa(s.CourtRight) +
		" (" + percent(s.CourtRight, s.Known) + "); " + plural(s.Flips, "flip", "flips")
	if s.Flips > 0 {
		text += ", " + strconv.Itoa(s.FlipsToRight) + " to right and " + strconv.Itoa(s.FlipsToWrong) + " from right to wrong"
	}
	if s.Open > 0 {
		text += "; " + strconv.Itoa(s.Open) + " left open, Light wrong in " + strconv.Itoa(s.OpenLightWrong) + " of them"
	}
	return text
}

func share(n, of int) string {
	return strconv.Itoa(n) + " of " + strconv.Itoa(of) + " (" + percent(n, of) + ")"
}

// legend gathers what the labels are called that a docket's answers name.
type legend struct {
	names map[string]string
	// answers counts the final classifications.
	answers map[string]int
}

func (l *legend) add(t *trial.Trial) {
	r := &t.Result
	if final := r.Final.Classification; final != "" {
		l.answers[final]++
	}
	used := []string{r.Final.Classification}
	if r.Light != nil {
		used = append(used, r.Light.Classification)
	}
	if t.Truth != nil {
		used = append(used, t.Truth.Classification)
	}
	for _, label := range used {
		name := t.LabelNames[label]
		if label == "" || name == "" || l.names[label] != "" {
			continue
		}
		l.names[label] = name
	}
}

// maxLegend is how many labels are explained; a project may have two hundred.
const maxLegend = 12

// line is the legend, sanitized; empty where no label has a name.
func (l *legend) line() string {
	labels := slices.Sorted(maps.Keys(l.names))
	parts := make([]string, len(labels))
	for i, label := range labels {
		parts[i] = snip(l.names[label], nameColumns) + " (" + snip(label, labelColumns) + ")"
	}
	return joinFew(parts, "; ")
}

// answerLine counts the answers by label, the most frequent first, sanitized.
func (l *legend) answerLine() string {
	labels := mostFirst(l.answers)
	parts := make([]string, len(labels))
	for i, label := range labels {
		parts[i] = strconv.Itoa(l.answers[label]) + " " + snip(trial.LabelName(l.names, label), labelColumns)
	}
	return joinFew(parts, ", ")
}

func joinFew(parts []string, with string) string {
	if more := len(parts) - maxLegend; more > 0 {
		parts = append(slices.Clone(parts[:maxLegend]), "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(parts, with)
}

// statusLine says what the statuses mean that there are.
func (s *Summary) statusLine() string {
	parts := []string{"Light is the classifier under review"}
	for _, of := range statusShares(s) {
		parts = append(parts, string(of.Status)+": "+of.Status.Meaning())
	}
	return strings.Join(parts, "; ")
}

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
	s.Models = cmp.Or(s.Models, &ModelSummary{})
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
