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
	if all := s.allFailed(); all != "" {
		lines = append(lines, SummaryLine{allFailed, all})
	}
	lines = append(lines, SummaryLine{"Cases", s.caseLine()})
	if s.finish(); s.NoExperiments != "" {
		lines = append(lines, SummaryLine{"No reruns", sanitize.Line(s.NoExperiments)})
	}
	if s.OtherSource != "" {
		lines = append(lines, SummaryLine{"Source", sanitize.Line(s.OtherSource)})
	}
	if answers := s.legend.answerLine(); answers != "" {
		lines = append(lines, SummaryLine{"Answers", answers})
	}
	if len(s.ByCause) > 0 {
		lines = append(lines, SummaryLine{"Mistrials", s.causeLine()})
	}
	if found := s.foundLine(); found != "" {
		lines = append(lines, SummaryLine{"Found", found})
	}
	if t := s.Truth; t != nil && t.Known > 0 {
		lines = append(lines, SummaryLine{"Truth", t.line()})
	}
	if t := s.Truth; t != nil && t.Expected > 0 {
		lines = append(lines, SummaryLine{"Verdicts", "as expected in " + share(t.AsExpected, t.Expected)})
	}
	if s.Audits != nil {
		lines = append(lines, SummaryLine{"Audits", s.Audits.line()})
	}
	if s.Models != nil {
		lines = append(lines, s.Models.lines()...)
	}
	if labels := s.legend.line(); labels != "" {
		lines = append(lines, SummaryLine{"Labels", labels})
	}
	if s.Cases > 0 {
		lines = append(lines, SummaryLine{"Statuses", s.statusLine()})
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

func (s *Summary) caseLine() string {
	var parts []string
	for _, status := range trial.Statuses() {
		if n := s.ByStatus[status]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+string(status))
		}
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
	found := slices.SortedFunc(maps.Keys(s.found), func(a, b trial.Finding) int {
		return cmp.Or(s.found[b]-s.found[a], cmp.Compare(a, b))
	})
	parts := make([]string, len(found))
	for i, f := range found {
		parts[i] = string(f) + " " + strconv.Itoa(s.found[f])
	}
	return strings.Join(parts, ", ")
}

func (s *Summary) causeLine() string {
	causes := slices.SortedFunc(maps.Keys(s.ByCause), func(a, b trial.Cause) int {
		if d := s.ByCause[b] - s.ByCause[a]; d != 0 {
			return d
		}
		return strings.Compare(string(a), string(b))
	})
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
