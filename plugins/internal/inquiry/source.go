package inquiry

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// sourceKey is the source of items about the module's source.
const sourceKey = "source"

// IsSource says whether an item tells what the source shows.
func IsSource(e *abi.Evidence) bool { return odds.SourceKey(e.SourceRef) == sourceKey }

// maxQueryBytes bounds the text that the source is asked about.
const maxQueryBytes = 256 << 10

// Query asks for the files that the documents name: their heads and tails
// where they are long.
func Query(r *abi.NodeRequest, lines int) abi.SourceQuery {
	var b strings.Builder
	room := maxQueryBytes / max(1, len(r.Case.Documents))
	for i := range r.Case.Documents {
		b.WriteString(ends(r.Case.Documents[i].Text, room))
		b.WriteByte('\n')
	}
	return abi.SourceQuery{Text: strings.ToValidUTF8(b.String(), ""), Limit: maxFrames, Lines: lines}
}

const maxFrames = 50

func ends(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most/2] + "\n" + s[len(s)-most/2:]
}

// SourceItems are evidence of what the diff says of the places that a log
// names, and the nats by which it moves the labels.
func SourceItems(r *abi.NodeRequest, source *abi.SourceAnswer) (items []abi.Evidence, facts []float64) {
	if source == nil || !source.Known {
		return nil, nil
	}
	t := &teller{roles: RolesOf(r), labels: r.Case.Labels, source: source}
	c := &Clues{labels: r.Case.Labels, profile: r.Profile}
	facts = make([]float64, len(r.Case.Labels))
	seen := make(map[string]bool)
	for i := range source.Frames {
		f := &source.Frames[i]
		label, nats := t.roles.of(f.Kind), 0.0
		switch {
		case f.ChangedNear:
			nats = changedNearNats
		case f.Changed:
			nats = changedNats
		}
		v := t.lifts(label, nats)
		if nats == 0 || v == nil || seen[f.Path] {
			continue
		}
		seen[f.Path] = true
		for j, x := range v {
			facts[j] = max(facts[j], x)
		}
		item := abi.Evidence{SourceRef: sourceKey + ":" + f.Path + ":" + text.Int(f.Line), Content: touched(f), Element: abi.Water}
		item.Supports, item.RelevanceConfidence = c.speaks(v, placeRelevance)
		items = append(items, item)
	}
	return items, facts
}

// touched tells what the diff does to a place, with the lines as they are.
func touched(f *abi.SourceFrame) string {
	where := f.Path
	if f.Function != "" {
		where += ", in " + f.Function
	}
	said := "The diff touches " + where + "."
	if f.ChangedNear {
		said = "The diff touches lines near " + where + ", line " + text.Int(f.Line) + "."
	}
	if f.Excerpt == "" {
		return said
	}
	return said + "\n" + strings.TrimRight(ends(f.Excerpt, maxQuoteBytes), "\n")
}

// SourceFacts are the nats of the items about the source that are in the
// evidence: what an investigation learned of the diff, for those who may not
// ask for it themselves.
func SourceFacts(r *abi.NodeRequest) []float64 {
	facts := make([]float64, len(r.Case.Labels))
	for i := range r.Case.Evidence {
		e := &r.Case.Evidence[i]
		if !IsSource(e) {
			continue
		}
		one := make([]float64, len(facts))
		addWitness(one, r.Case.Labels, e.Supports, e.RelevanceConfidence)
		for j, x := range one {
			facts[j] = max(facts[j], x)
		}
	}
	odds.Limit(facts, factCap)
	return facts
}
