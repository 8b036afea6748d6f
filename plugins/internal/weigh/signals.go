package weigh

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/phrases"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// NewMatcher returns a matcher of the profile's signals, by their index; nil without any.
func NewMatcher(p *abi.Profile) *phrases.Matcher {
	if p == nil || len(p.Signals) == 0 {
		return nil
	}
	list := make([]string, len(p.Signals))
	for i := range p.Signals {
		list[i] = p.Signals[i].Phrase
	}
	return phrases.New(list)
}

// mostSignalNats bounds one weight of a signal: beyond odds of e^20 to 1 a
// figure is no measurement, and sums must stay finite.
const mostSignalNats = 20

// SignalVector gives the weights of a signal in the order of the labels, each
// within 20 nats of 0.
func SignalVector(s *abi.Signal, labels []string) []float64 {
	v := make([]float64, len(labels))
	for i := range s.Weights {
		if j := slices.Index(labels, s.Weights[i].Label); j >= 0 {
			v[j] = min(max(v[j]+s.Weights[i].Weight, -mostSignalNats), mostSignalNats)
		}
	}
	return v
}

// readFindings appends the findings as testimony, but for those in whose quote
// a signal of the profile stands: of these it returns the signals, each once,
// and the lines.
func readFindings(m *Matter, testimony *[]Testimony) (signals []int, quoted register) {
	quoted = make(register)
	matcher := NewMatcher(m.Profile)
	found := make(map[int]bool)
	for i := range m.Findings {
		f := &m.Findings[i]
		known := false
		if matcher != nil {
			matcher.Scan(f.Quote, func(signal, _, _ int) {
				known = true
				if !found[signal] {
					found[signal] = true
					signals = append(signals, signal)
				}
			})
		}
		if known {
			lines := text.Substance(f.Quote)
			quoted.add(lines, entry{f.Supports, inFinding, len(lines)})
		} else {
			*testimony = append(*testimony, Testimony{SourceRef: f.Document, Content: f.Quote, Supports: f.Supports, Confidence: f.Strength, Quote: abi.QuoteStands, Left: 1})
		}
	}
	slices.Sort(signals)
	return signals, quoted
}

// addSignals adds the weights of the signals, within the profile's cap.
func (s *Scale) addSignals(m *Matter, signals []int) {
	if len(signals) == 0 {
		return
	}
	sum := make([]float64, len(m.Labels))
	for _, i := range signals {
		v := SignalVector(&m.Profile.Signals[i], m.Labels)
		lift(s.Support, v)
		for j, x := range v {
			sum[j] += x
		}
	}
	limit(sum, m.Profile.SignalCap)
	for j, x := range sum {
		s.Evidence[j] += x
	}
}
