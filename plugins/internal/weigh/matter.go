package weigh

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// Testimony is one item that may speak for a label.
type Testimony struct {
	SourceRef string
	Content   string
	// Supports is a label of the case, or empty.
	Supports string
	Element  abi.Element
	// Confidence in [0, 1] that the label is right, as the item's own source states it.
	Confidence float64
	Quote      abi.QuoteStatus
	// Left is the share in [0, 1] that challenges leave of the item.
	Left float64
}

// Known says whether a profile knows the item's source.
func (t *Testimony) Known(p *abi.Profile) bool {
	return odds.Source(p, odds.SourceKey(t.SourceRef)) != nil
}

// unmeasuredModel says whether the item is the word of a language model that the
// profile doesn't know.
func (t *Testimony) unmeasuredModel(p *abi.Profile) bool {
	return odds.IsModel(t.SourceRef) && !t.Known(p)
}

// Matter is everything that is weighed.
type Matter struct {
	Labels  []string
	Subject string
	// Light is what is asked about; nil where a mask hides it.
	Light     *abi.LightAnswer
	Testimony []Testimony
	Findings  []abi.Finding
	// Experiments that were run, in their order.
	Experiments []abi.ExperimentResult
	Profile     *abi.Profile
}

// FromEvidence reads the case's own items, unchallenged.
func FromEvidence(items []abi.Evidence) []Testimony {
	out := make([]Testimony, len(items))
	for i := range items {
		e := &items[i]
		out[i] = Testimony{SourceRef: e.SourceRef, Content: e.Content, Supports: e.Supports, Element: e.Element, Confidence: e.RelevanceConfidence, Quote: abi.QuoteUnclaimed, Left: 1}
	}
	return out
}

// FromIndictment reads the indictment's items, with what the host knows of
// them and what the challenges leave. The confidence is the one that the
// item's source states, not the prosecution's weight; the weight stands in
// where no exhibit tells.
func FromIndictment(items []abi.IndictmentItem, exhibits []abi.Exhibit, challenges []abi.Challenge) []Testimony {
	out := make([]Testimony, len(items))
	for i := range items {
		out[i] = fromItem(&items[i], items[i].Weight)
	}
	for i := range exhibits {
		x := &exhibits[i]
		if x.EvidenceIndex < len(out) {
			out[x.EvidenceIndex].Confidence = x.RelevanceConfidence
			out[x.EvidenceIndex].Quote = x.Quote
		}
	}
	for i := range challenges {
		ch := &challenges[i]
		if ch.EvidenceIndex < len(out) {
			t := &out[ch.EvidenceIndex]
			t.Left = min(t.Left, Left(ch.Severity))
		}
	}
	return out
}

// partyConfidence bounds what a party of the hearing may claim for an item
// that it brings itself: the line stands in a document, but that it speaks for
// a label is the party's own reading.
const partyConfidence = 0.5

// FromNewItems reads the items that a hearing brought, but for those that
// repeat one of the findings, which are weighed themselves.
func FromNewItems(items []abi.IndictmentItem, findings []abi.Finding) []Testimony {
	var out []Testimony
	for i := range items {
		if !isFinding(&items[i], findings) {
			out = append(out, fromItem(&items[i], min(items[i].Weight, partyConfidence)))
		}
	}
	return out
}

// Left is the share that a challenge of this severity leaves of an item.
func Left(s abi.Severity) float64 {
	switch s {
	case abi.Fatal:
		return 0
	case abi.Weakening:
		return 0.5
	case abi.Minor:
		return 0.8
	default:
		return 1
	}
}

func fromItem(item *abi.IndictmentItem, confidence float64) Testimony {
	return Testimony{SourceRef: item.SourceRef, Content: item.Content, Supports: item.Supports, Element: item.Element, Confidence: confidence, Quote: abi.QuoteUnclaimed, Left: 1}
}

func isFinding(item *abi.IndictmentItem, findings []abi.Finding) bool {
	for i := range findings {
		f := &findings[i]
		if f.Document == item.SourceRef && f.Quote == item.Content {
			return true
		}
	}
	return false
}
