package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Summary counts what came of a docket.
type Summary struct {
	Cases int `json:"cases"`
	// Tried is how many went before the court.
	Tried    int                  `json:"tried"`
	ByStatus map[trial.Status]int `json:"by_status"`
	// ByCause counts the mistrials.
	ByCause map[trial.Cause]int `json:"by_cause"`
	// Truth compares with what is known of the right answers; nil when nothing is.
	Truth *TruthSummary `json:"truth"`
	// Audits of the verdicts' opinions; nil where none was asked for.
	Audits *AuditSummary `json:"audits,omitempty"`
	// Rules are those of the user; nil where there are none.
	Rules *RulesSummary `json:"rules,omitempty"`
	// Models is what language models were asked and took; nil where none was.
	Models *ModelSummary `json:"models,omitempty"`

	// NoExperiments says why no experiment could be run where some were wanted, OtherSource that the failures are hardly those of the
	// source; see [Summary.Unable].
	NoExperiments string `json:"no_experiments,omitempty"`
	OtherSource   string `json:"other_source,omitempty"`

	noExperiments, otherSource func() string
	legend                     legend
	// found counts what experiments found.
	found map[trial.Finding]int
	// failures are where mistrials came from, with the message of the first of each.
	failures map[failedAt]string
}

// failedAt is where and why trials failed.
type failedAt struct {
	cause         trial.Cause
	node, persona string
}

// AuditSummary counts the audits of a docket.
type AuditSummary struct {
	Count int `json:"count"`
	// MeanScore is the mean of the global scores, in [0, 5].
	MeanScore float64 `json:"mean_score"`
	// SecurityViolations and Degraded are how many have a result of that kind.
	SecurityViolations int `json:"security_violations"`
	Degraded           int `json:"degraded"`
}

func (s *AuditSummary) add(a *trial.Audit) {
	s.MeanScore = (s.MeanScore*float64(s.Count) + a.GlobalScore) / float64(s.Count+1)
	s.Count++
	count(&s.SecurityViolations, a.SecurityViolationFound)
	count(&s.Degraded, slices.ContainsFunc(a.Results, func(r trial.AuditResult) bool { return r.Degraded }))
}

func (s *AuditSummary) line() string {
	text := plural(s.Count, "opinion", "opinions") + ", mean score " + strconv.FormatFloat(s.MeanScore, 'f', 2, 64)
	if s.SecurityViolations > 0 {
		text += ", " + plural(s.SecurityViolations, "security violation", "security violations")
	}
	if s.Degraded > 0 {
		text += ", " + strconv.Itoa(s.Degraded) + " degraded"
	}
	return text
}

// TruthSummary compares Light and the court over the cases that were tried and whose right classification is known. The
// metrics that hold up in an argument, with intervals and baselines, are package measure's.
type TruthSummary struct {
	// Known is how many tried cases have a known classification.
	Known int `json:"known"`
	// LightRight and CourtRight are how many of them each had right. A case that the court left open is not right.
	LightRight int `json:"light_right"`
	CourtRight int `json:"court_right"`
	// Flips are the cases in which the court named another label than Light.
	Flips        int `json:"flips"`
	FlipsToRight int `json:"flips_to_right"`
	FlipsToWrong int `json:"flips_to_wrong"`
	// Open are acquittals and mistrials; OpenLightWrong of them saved Light from a wrong answer.
	Open           int `json:"open"`
	OpenLightWrong int `json:"open_light_wrong"`
	// Expected is how many tried cases have an expected verdict, AsExpected how many got it.
	Expected   int `json:"expected"`
	AsExpected int `json:"as_expected"`
}

// Unable takes what says, when all cases are tried, why experiments that were wanted could not be run, and that no failure belongs to
// the source; each empty where that is not so.
func (s *Summary) Unable(noExperiments, otherSource func() string) {
	s.noExperiments, s.otherSource = noExperiments, otherSource
}

func (s *Summary) finish() {
	if s.noExperiments != nil {
		s.NoExperiments, s.OtherSource = s.noExperiments(), s.otherSource()
	}
}

// NewSummary is empty, with every status at 0.
func NewSummary() *Summary {
	s := &Summary{
		ByStatus: make(map[trial.Status]int), ByCause: make(map[trial.Cause]int), found: make(map[trial.Finding]int),
		failures: make(map[failedAt]string), legend: legend{names: make(map[string]string), answers: make(map[string]int)},
	}
	for _, status := range trial.Statuses() {
		s.ByStatus[status] = 0
	}
	return s
}

// Add counts a trial.
func (s *Summary) Add(t *trial.Trial) {
	r := &t.Result
	s.Cases++
	s.legend.add(t)
	s.ByStatus[r.Final.Status]++
	if r.Final.Cause != "" {
		s.ByCause[r.Final.Cause]++
		s.failed(r)
	}
	if len(r.Experiments) > 0 {
		s.found[t.Conclusion().Finding]++
	}
	if r.Audit != nil {
		s.Audits = cmp.Or(s.Audits, &AuditSummary{})
		s.Audits.add(r.Audit)
	}
	if r.Rules != nil {
		s.Rules = cmp.Or(s.Rules, &RulesSummary{})
		s.Rules.add(r.Rules)
	}
	if len(r.Completions)+len(r.Fallbacks) > 0 {
		s.Models = cmp.Or(s.Models, &ModelSummary{})
		s.Models.add(r)
	}
	if !r.Activated {
		return
	}
	s.Tried++
	if t.Truth == nil {
		return
	}
	s.Truth = cmp.Or(s.Truth, &TruthSummary{})
	s.Truth.add(r, t.Truth, t.Compare())
}

func (s *Summary) failed(r *trial.Result) {
	at, message := failedAt{cause: r.Final.Cause}, ""
	if f := r.Error; f != nil {
		at.node, at.persona, message = f.Node, f.Persona, f.Message
	}
	if _, known := s.failures[at]; !known {
		s.failures[at] = message
	}
}

func (s *TruthSummary) add(r *trial.Result, truth *trial.Truth, c trial.Comparison) {
	if truth.ExpectedVerdict != "" {
		s.Expected++
		switch {
		case r.Final.Status == trial.Mistrial: // whatever the last verdict said
			count(&s.AsExpected, truth.ExpectedVerdict == abi.Mistrial)
		case r.Verdict != nil:
			count(&s.AsExpected, truth.ExpectedVerdict == r.Verdict.Decision)
		}
	}
	if !c.Known {
		return
	}
	s.Known++
	count(&s.LightRight, c.LightRight)
	count(&s.CourtRight, c.CourtRight)
	switch {
	case r.Final.Classification == "":
		s.Open++
		count(&s.OpenLightWrong, !c.LightRight)
	case c.Flipped:
		s.Flips++
		count(&s.FlipsToRight, c.CourtRight)
		count(&s.FlipsToWrong, c.LightRight)
	}
}

func count(into *int, yes bool) {
	if yes {
		*into++
	}
}

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
	add("Answers", joinFew(counted(s.legend.answers, func(label string, n int) string {
		return strconv.Itoa(n) + " " + snip(trial.LabelName(s.legend.names, label), labelColumns)
	}), ", "))
	add("Mistrials", strings.Join(counted(s.ByCause, func(c trial.Cause, n int) string { return strconv.Itoa(n) + " " + sanitize.Line(string(c)) }), ", "))
	add("Found", strings.Join(counted(s.found, func(f trial.Finding, n int) string { return string(f) + " " + strconv.Itoa(n) }), ", "))
	if t := s.Truth; t != nil && t.Known > 0 {
		add("Truth", t.line())
	}
	if t := s.Truth; t != nil && t.Expected > 0 {
		add("Verdicts", fmt.Sprintf("as expected in %d of %d (%s)", t.AsExpected, t.Expected, percent(t.AsExpected, t.Expected)))
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
		meanings := []string{"Light is the classifier under review"}
		for _, of := range statusShares(s) {
			meanings = append(meanings, string(of.Status)+": "+of.Status.Meaning())
		}
		add("Statuses", strings.Join(meanings, "; "))
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

// counted are counts in words, the most frequent first.
func counted[K ~string](counts map[K]int, say func(of K, n int) string) (words []string) {
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b K) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) }) {
		words = append(words, say(k, counts[k]))
	}
	return words
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
		if name := t.LabelNames[label]; label != "" && name != "" {
			l.names[label] = cmp.Or(l.names[label], name)
		}
	}
}

// maxLegend is how many labels are explained; a project may have two hundred.
const maxLegend = 12

// line is the legend, sanitized; empty where no label has a name.
func (l *legend) line() string {
	var parts []string
	for _, label := range slices.Sorted(maps.Keys(l.names)) {
		parts = append(parts, snip(l.names[label], nameColumns)+" ("+snip(label, labelColumns)+")")
	}
	return joinFew(parts, "; ")
}

func joinFew(parts []string, with string) string {
	if more := len(parts) - maxLegend; more > 0 {
		parts = append(slices.Clone(parts[:maxLegend]), "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(parts, with)
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
