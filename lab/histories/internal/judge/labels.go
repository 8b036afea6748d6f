package judge

import (
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// fourLabels are the labels of the four-label court, by their names in truths.
func fourLabels() []struct{ name, label string } {
	return []struct{ name, label string }{
		{"product bug", gotest.ProductBug}, {"test bug", gotest.AutomationBug}, {"system issue", gotest.SystemIssue}, {"flaky", gotest.NoDefect},
	}
}

// labelOf is the label that a case deserves; empty where the history does not tell.
func labelOf(c *history.Case) string {
	for _, l := range fourLabels() {
		if l.name == c.Truth.Label {
			return l.label
		}
	}
	return ""
}

// sure is the confidence from which on an answer may be taken as it stands.
const sure = 0.9

// labels sets Light alone beside the four-label court, on the cases whose label is known.
func labels(list []Judged, seed uint64) string {
	var b strings.Builder
	b.WriteString("| truth | Light alone right | court right | open | at least 0.9 sure | of these wrong |\n| --- | --- | --- | ---: | ---: | --- |\n")
	row := func(name string, has func(label string) bool) {
		var light, right, wrong share
		open := 0
		for i := range list {
			j := &list[i]
			label := labelOf(j.Case)
			if label == "" || !has(label) {
				continue
			}
			light.add(j.Case.Repository, j.Trial.Light == label)
			right.add(j.Case.Repository, j.Trial.Label == label)
			open += one(j.Trial.Label == "")
			if j.Trial.Label != "" && j.Trial.Confidence >= sure {
				wrong.add(j.Case.Repository, j.Trial.Label != label)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %s |\n", name, light.text(seed), right.text(seed), open, wrong.n, wrong.text(seed))
	}
	for _, l := range fourLabels() {
		row(l.name, func(label string) bool { return label == l.label })
	}
	row("all", func(string) bool { return true })
	return b.String()
}
