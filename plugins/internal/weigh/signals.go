package weigh

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// reading is what texts say of a matter.
type reading struct {
	// signals of the profile that count, each once, by their index.
	signals []int
	// quoted are the lines of findings with a signal, which say nothing beside it.
	quoted []quote
	// findings are the others.
	findings []Testimony
}

// quote is lines with the label that their finding names and the signals in them favour.
type quote struct {
	label string
	lines []string
}

// read gives the signals that the host found in the documents, and those in the
// subject and in the contents of the case's items that name no label. What a persona quotes is read for none: it could choose what
// stands in the documents, and part what the profile takes for stuffed.
func (m *Matter) read() reading {
	var r reading
	var finder odds.Signals
	if m.Profile != nil && len(m.Profile.Signals) > 0 {
		finder = odds.NewSignals(m.Profile)
		r.signals = m.standing(finder)
	}
	for i := range m.Findings {
		f := &m.Findings[i]
		if f.Source == "" && !finder.Empty() {
			if label, stands := favours(m, finder, f.Quote); stands {
				if label != f.Supports {
					label = "" // whom the line repeats is the signals' to say
				}
				r.quoted = append(r.quoted, quote{label, text.Substance(f.Quote)})
				continue
			}
		}
		r.findings = append(r.findings, fromFinding(f))
	}
	return r
}

// standing are the signals that count, ascending.
func (m *Matter) standing(finder odds.Signals) []int {
	var signals []int
	found := make([]bool, len(m.Profile.Signals))
	add := func(signal, _, _ int) {
		if signal < len(found) && !found[signal] {
			found[signal] = true
			signals = append(signals, signal)
		}
	}
	for _, signal := range m.Signals {
		add(signal, 0, 0)
	}
	read := func(content string) {
		if len(signals) < len(found) {
			finder.Scan(content, add)
		}
	}
	read(m.Subject)
	for i := range m.Testimony {
		if t := &m.Testimony[i]; t.Supports == "" && !t.Party && t.Quote != abi.QuoteAbsent && t.Left > 0 {
			read(t.Content)
		}
	}
	slices.Sort(signals)
	return signals
}

// Standing are the indexes of the profile's signals that stand in texts, for whoever is shown the documents themselves.
func Standing(p *abi.Profile, texts []string) []int {
	finder := odds.NewSignals(p)
	var signals []int
	for _, text := range texts {
		finder.Scan(text, func(signal, _, _ int) {
			if !slices.Contains(signals, signal) {
				signals = append(signals, signal)
			}
		})
	}
	return signals
}

// fromFinding is what a persona says that it read in a document, or a model through it.
func fromFinding(f *abi.Finding) Testimony {
	t := Testimony{SourceRef: f.Document, Content: f.Quote, Supports: f.Supports, Confidence: f.Strength, Quote: abi.QuoteStands, Left: 1, Party: true}
	if f.Source != "" {
		t.SourceRef = f.Source
	}
	return t
}

// favours is the label for which the signals in a text speak most; stands is false where there is none.
func favours(m *Matter, finder odds.Signals, content string) (label string, stands bool) {
	nats := make([]float64, len(m.Labels))
	finder.Scan(content, func(signal, _, _ int) {
		stands = true
		odds.AddSignal(nats, m.Labels, &m.Profile.Signals[signal])
	})
	return m.Labels[slices.Index(nats, slices.Max(nats))], stands
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

// addLight adds Light's own statement. One that nobody measured rests on the evidence that lies here: it is no second observation beside
// what speaks for its label already, and counts by what it says beyond that. Against what speaks for another label it counts in full.
func addLight(to []float64, m *Matter) {
	if m.Light == nil {
		return
	}
	says, stated := m.Light.Classification, m.Light.Confidence
	if m.Profile != nil && m.Profile.Light != nil {
		v := make([]float64, len(m.Labels))
		odds.AddStatement(v, m.Labels, m.Profile.Light, says, stated)
		odds.Limit(v, m.Profile.Light.Cap)
		for j, x := range v {
			to[j] += x
		}
		return
	}
	for j, label := range m.Labels {
		if label == says {
			to[j] += odds.Beyond(to, j, odds.Witness(stated, len(m.Labels), odds.UnmeasuredLight))
		}
	}
}

// lift adds to each label how far v lifts it above the one that it lifts least.
func lift(to, v []float64) {
	least, _ := odds.Extremes(v)
	for j, x := range v {
		to[j] += x - least
	}
}
