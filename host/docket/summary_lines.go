package docket

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/inert"
)

// SummaryLine is one line of a summary for people.
type SummaryLine struct{ Name, Text string }

// Lines tells the summary in words, inert, for a table's foot and for reports.
func (s *Summary) Lines() []SummaryLine {
	lines := []SummaryLine{{"Cases", s.caseLine()}}
	if len(s.ByCause) > 0 {
		lines = append(lines, SummaryLine{"Mistrials", s.causeLine()})
	}
	if t := s.Truth; t != nil && t.Known > 0 {
		lines = append(lines, SummaryLine{"Truth", t.line()})
	}
	if t := s.Truth; t != nil && t.Expected > 0 {
		lines = append(lines, SummaryLine{"Verdicts", "as expected in " + share(t.AsExpected, t.Expected)})
	}
	return lines
}

// summaryText lays the lines out with their names in a column.
func (o TerminalOptions) summaryText(s *Summary) string {
	const names = 11
	width := o.Width
	if width <= 0 {
		width = 120
	}
	var b strings.Builder
	for _, line := range s.Lines() {
		for i, part := range wrap(line.Text, max(width-names, 30)) {
			name := ""
			if i == 0 {
				name = line.Name
			}
			b.WriteString(o.paint(bold, name) + strings.Repeat(" ", names-len(name)) + part + "\n")
		}
	}
	return b.String()
}

func (s *Summary) caseLine() string {
	var parts []string
	for _, status := range Statuses() {
		if n := s.ByStatus[status]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+string(status))
		}
	}
	if len(parts) == 0 {
		return strconv.Itoa(s.Cases)
	}
	return strconv.Itoa(s.Cases) + ": " + strings.Join(parts, ", ")
}

func (s *Summary) causeLine() string {
	causes := slices.SortedFunc(maps.Keys(s.ByCause), func(a, b Cause) int {
		if d := s.ByCause[b] - s.ByCause[a]; d != 0 {
			return d
		}
		return strings.Compare(string(a), string(b))
	})
	parts := make([]string, 0, len(causes))
	for _, c := range causes {
		parts = append(parts, strconv.Itoa(s.ByCause[c])+" "+inert.Line(string(c)))
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
