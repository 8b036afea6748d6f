package docket

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/inert"
)

// Meaning says what a status means, in a few words; nothing of an unknown one.
func (s Status) Meaning() string {
	switch s {
	case Unreviewed:
		return "the court was off, Light's answer stands"
	case Accepted:
		return "Light was sure enough, no trial"
	case Rejected:
		return "Light was too unsure for a trial"
	case Affirmed:
		return "the court upholds Light's answer"
	case Amended:
		return "the court gives another label"
	case Acquitted:
		return "the evidence decides nothing"
	case Mistrial:
		return "the trial broke off"
	}
	return ""
}

// legend gathers what the labels are called that a docket's answers name.
type legend struct {
	labels []string
	names  map[string]string
}

func (l *legend) add(t *Trial) {
	r := &t.Result
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
		if l.names == nil {
			l.names = make(map[string]string)
		}
		l.labels = append(l.labels, label)
		l.names[label] = name
	}
}

// line is the legend, inert; empty where no label has a name.
func (l *legend) line() string {
	const most = 12 // a project may have two hundred
	labels := slices.Sorted(slices.Values(l.labels))
	parts := make([]string, 0, len(labels))
	for i, label := range labels {
		if i == most {
			parts = append(parts, "and "+plural(len(labels)-most, "more", "more"))
			break
		}
		parts = append(parts, snip(label, labelColumns)+" "+snip(l.names[label], nameColumns))
	}
	return strings.Join(parts, "; ")
}

// statusLine says what the statuses mean that there are.
func (s *Summary) statusLine() string {
	parts := []string{"Light is the classifier under review"}
	for _, status := range Statuses() {
		if s.ByStatus[status] > 0 {
			parts = append(parts, string(status)+": "+status.Meaning())
		}
	}
	return strings.Join(parts, "; ")
}

// LabelName is what people call a label of the case, inert; empty where it has no name.
func (t *Trial) LabelName(label string) string { return inert.Line(t.LabelNames[label]) }
