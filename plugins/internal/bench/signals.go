package bench

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// sighting is where a signal stands first, and how often it stands.
type sighting struct {
	document   int
	start, end int
	times      int
}

// readSignals looks for the profile's signals. A finding quotes the line of
// the first place; how often a phrase stands is told, and counts nothing more.
func readSignals(documents []abi.Document, labels []string, p *abi.Profile) *abi.Discovery {
	seen := make([]sighting, len(p.Signals))
	finder := odds.NewSignals(p)
	for d := range documents {
		finder.Scan(documents[d].Text, func(signal, start, end int) {
			s := &seen[signal]
			if s.times == 0 {
				*s = sighting{document: d, start: start, end: end}
			}
			s.times++
		})
	}
	lines, spoken := quotedLines(seen, documents, labels, p)
	found := make([]abi.Finding, 0, len(lines))
	var pulls []float64
	for i := range lines {
		if finding, pull := lines[i].finding(seen, documents, labels, p); finding.Quote != "" && pull > 0 {
			found, pulls = append(found, finding), append(pulls, pull)
		}
	}
	return &abi.Discovery{Findings: strongest(found, pulls), Missing: missingSignals(labels, spoken, p)}
}

// quotedLine is a line in which signals stand first, with what they tell together.
type quotedLine struct {
	document int
	quote    string
	signals  []int
	nats     []float64
}

// quotedLines gathers the sightings by the lines that show them, and says of
// which labels a signal stands.
func quotedLines(seen []sighting, documents []abi.Document, labels []string, p *abi.Profile) (lines []quotedLine, spoken []bool) {
	type place struct {
		document int
		quote    string
	}
	index := make(map[place]int)
	spoken = make([]bool, len(labels))
	for i := range seen {
		at := &seen[i]
		if at.times == 0 {
			continue
		}
		if supports, _, _ := reading(signalNats(&p.Signals[i], labels), labels); supports != "" {
			spoken[slices.Index(labels, supports)] = true
		}
		quote := text.QuoteAround(documents[at.document].Text, at.start, at.end)
		j, ok := index[place{at.document, quote}]
		if !ok {
			j = len(lines)
			index[place{at.document, quote}] = j
			lines = append(lines, quotedLine{document: at.document, quote: quote, nats: make([]float64, len(labels))})
		}
		lines[j].signals = append(lines[j].signals, i)
		odds.AddSignal(lines[j].nats, labels, &p.Signals[i])
	}
	return lines, spoken
}

func (l *quotedLine) finding(seen []sighting, documents []abi.Document, labels []string, p *abi.Profile) (abi.Finding, float64) {
	supports, strength, pull := reading(l.nats, labels)
	parts := make([]string, len(l.signals))
	for n, i := range l.signals {
		parts[n] = "\"" + p.Signals[i].Phrase + "\" (" + times(seen[i].times)
		if own, _, _ := reading(signalNats(&p.Signals[i], labels), labels); own != "" {
			parts[n] += ", for " + own
		}
		parts[n] += ")"
	}
	observation := "the signals " + strings.Join(parts, ", ") + " stand in one line"
	if first := l.signals[0]; len(l.signals) == 1 {
		observation = "the signal \"" + p.Signals[first].Phrase + "\" stands " + times(seen[first].times)
	}
	if supports == "" {
		observation += ", and tells no single label"
	}
	return abi.Finding{
		Document: documents[l.document].Name, Observation: observation, Quote: l.quote, Supports: supports, Strength: strength,
	}, pull
}

func signalNats(s *abi.Signal, labels []string) []float64 {
	nats := make([]float64, len(labels))
	odds.AddSignal(nats, labels, s)
	return nats
}

// reading gives the label that a vector of nats favours over all others, how
// probable it alone would make that label, and how far it moves the labels apart.
func reading(nats []float64, labels []string) (supports string, strength, pull float64) {
	best, least := 0, 0
	for i := range nats {
		if nats[i] > nats[best] {
			best = i
		}
		if nats[i] < nats[least] {
			least = i
		}
	}
	pull = nats[best] - nats[least]
	sum, equals := 0.0, 0
	for i := range nats {
		sum += math.Exp(nats[i] - nats[best])
		if nats[i] == nats[best] {
			equals++
		}
	}
	if equals > 1 {
		return "", 1 / sum, pull
	}
	return labels[best], 1 / sum, pull
}

func strongest(found []abi.Finding, pulls []float64) []abi.Finding {
	if len(found) <= maxFindings {
		return found
	}
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(pulls[b], pulls[a]) })
	order = order[:maxFindings]
	slices.Sort(order)
	kept := make([]abi.Finding, 0, maxFindings)
	for _, i := range order {
		kept = append(kept, found[i])
	}
	return kept
}

// missingSignals names the labels that have signals of which none stands.
func missingSignals(labels []string, spoken []bool, p *abi.Profile) []string {
	missing := []string{}
	for j, label := range labels {
		if spoken[j] {
			continue
		}
		n := 0
		for i := range p.Signals {
			if supports, _, _ := reading(signalNats(&p.Signals[i], labels), labels); supports == label {
				n++
			}
		}
		if n > 0 {
			missing = append(missing, "no document holds any of the "+text.Count(n, "signal")+" for "+label)
		}
	}
	return missing
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return text.Int(n) + " times"
}
