package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// legend gathers what the labels are called that a docket's answers name.
type legend struct {
	labels []string
	names  map[string]string
	// answers counts the final classifications.
	answers map[string]int
}

func (l *legend) add(t *trial.Trial) {
	r := &t.Result
	if final := r.Final.Classification; final != "" {
		if l.answers == nil {
			l.answers = make(map[string]int)
		}
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
		if l.names == nil {
			l.names = make(map[string]string)
		}
		l.labels = append(l.labels, label)
		l.names[label] = name
	}
}

// maxLegend is how many labels are told of; a project may have two hundred.
const maxLegend = 12

// line is the legend, sanitized; empty where no label has a name.
func (l *legend) line() string {
	labels := slices.Sorted(slices.Values(l.labels))
	parts := make([]string, len(labels))
	for i, label := range labels {
		parts[i] = snip(l.names[label], nameColumns) + " (" + snip(label, labelColumns) + ")"
	}
	return joinFew(parts, "; ")
}

// answerLine counts the answers by label, the most frequent first, sanitized.
func (l *legend) answerLine() string {
	labels := slices.SortedFunc(maps.Keys(l.answers), func(a, b string) int {
		if d := l.answers[b] - l.answers[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
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
	for _, status := range trial.Statuses() {
		if s.ByStatus[status] > 0 {
			parts = append(parts, string(status)+": "+status.Meaning())
		}
	}
	return strings.Join(parts, "; ")
}
