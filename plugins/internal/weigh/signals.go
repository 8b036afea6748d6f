package weigh

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// readSignals gives the signals of the profile that stand in the findings'
// quotes, the subject and the contents of items that name no label, each once.
// The findings of other sources, and those without a signal, are appended as
// testimony; of the others the lines are returned.
func readSignals(m *Matter, testimony *[]Testimony) (signals []int, quoted register) {
	quoted = make(register)
	finder := odds.NewSignals(m.Profile)
	found := make(map[int]bool)
	read := func(content string) (stands bool) {
		finder.Scan(content, func(signal, _, _ int) {
			stands = true
			if !found[signal] {
				found[signal] = true
				signals = append(signals, signal)
			}
		})
		return stands
	}
	read(m.Subject)
	for i := range m.Testimony {
		if t := &m.Testimony[i]; t.Supports == "" && t.Quote != abi.QuoteAbsent && t.Left > 0 {
			read(t.Content)
		}
	}
	for i := range m.Findings {
		f := &m.Findings[i]
		switch {
		case f.Source != "":
			*testimony = append(*testimony, Testimony{SourceRef: f.Source, Content: f.Quote, Supports: f.Supports, Confidence: f.Strength, Quote: abi.QuoteStands, Left: 1})
		case read(f.Quote):
			lines := text.Substance(f.Quote)
			quoted.add(lines, entry{f.Supports, inFinding, len(lines)})
		default:
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
		v := make([]float64, len(m.Labels))
		odds.AddSignal(v, m.Labels, &m.Profile.Signals[i])
		lift(s.Support, v)
		for j, x := range v {
			sum[j] += x
		}
	}
	odds.Limit(sum, m.Profile.SignalCap)
	for j, x := range sum {
		s.Evidence[j] += x
	}
}
