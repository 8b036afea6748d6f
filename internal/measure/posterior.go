package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// Model gives the probabilities that the court's personas give a case by a profile alone: all its items stand
// unchallenged, and all its documents are read. It can be used by many goroutines at once.
type Model struct {
	profile *abi.Profile
	finder  odds.Signals
}

// NewModel is for a profile, which must not be changed afterwards.
func NewModel(p *abi.Profile) *Model { return &Model{p, odds.NewSignals(p)} }

// Posterior gives the probability of each label of a case, in its order.
// Sources that the profile doesn't know count nothing, unless it knows none: then all are believed at their word.
func (m *Model) Posterior(c *abi.Case) []float64 {
	return odds.Probabilities(m.nats(c), odds.Doubt)
}

func (m *Model) nats(c *abi.Case) []float64 {
	z := make([]float64, len(c.Labels))
	if m.profile.Light == nil && len(m.profile.Sources) == 0 {
		z = unmeasured(c, m.profile)
	}
	odds.AddBaseRates(z, c.Labels, m.profile)
	if c.Light != nil && m.profile.Light != nil {
		addTo(z, heardLight(m.profile.Light, c), 1)
	}
	for _, x := range statements(c) {
		if known := odds.Source(m.profile, x.source); known != nil {
			addTo(z, heard(known, c.Labels, x.said), 1)
		}
	}
	addTo(z, m.signals(c), 1)
	odds.Temper(z, m.profile)
	return z
}

// unmeasured is what the court makes of a case without a profile, challenges and documents aside. Strangers to a profile count nothing.
func unmeasured(c *abi.Case, p *abi.Profile) []float64 {
	z := make([]float64, len(c.Labels))
	var sources []string
	stated := make(map[string][][]float64) // by source and label
	for i := range c.Evidence {
		item := &c.Evidence[i]
		j, key := slices.Index(c.Labels, item.Supports), odds.SourceKey(item.SourceRef)
		if j < 0 || odds.Stranger(p, key) {
			continue
		}
		if stated[key] == nil {
			sources, stated[key] = append(sources, key), make([][]float64, len(c.Labels))
		}
		stated[key][j] = append(stated[key][j], item.RelevanceConfidence)
	}
	for _, key := range sources {
		v := make([]float64, len(c.Labels))
		for j, list := range stated[key] {
			slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
			for times, confidence := range list { // each repetition counts half of the one before
				v[j] += math.Ldexp(odds.Unmeasured(confidence, len(c.Labels)), -times)
			}
		}
		odds.Limit(v, odds.UnmeasuredSource)
		addTo(z, v, 1)
	}
	for j := range z {
		z[j] = min(z[j], odds.UnmeasuredAll)
	}
	if c.Light != nil {
		if j := slices.Index(c.Labels, c.Light.Classification); j >= 0 {
			z[j] += odds.Beyond(z, j, odds.Witness(c.Light.Confidence, len(c.Labels), odds.UnmeasuredLight))
		}
	}
	return z
}

// said is a label, or none, with the strongest confidence that is stated with it.
type said struct {
	label    string
	stated   float64
	elements []abi.Element // by which it is said, each once
}

type speaker struct {
	source string
	said   []said
}

// statements gives what each source of evidence says, each thing once.
func statements(c *abi.Case) []speaker {
	var out []speaker
	place := make(map[string]int)
	for i := range c.Evidence {
		item := &c.Evidence[i]
		key := odds.SourceKey(item.SourceRef)
		at, ok := place[key]
		if !ok {
			at = len(out)
			place[key] = at
			out = append(out, speaker{source: key})
		}
		out[at].add(item.Supports, item.RelevanceConfidence, odds.ElementOf(item.Element))
	}
	return out
}

func (s *speaker) add(label string, stated float64, element abi.Element) {
	i := slices.IndexFunc(s.said, func(x said) bool { return x.label == label })
	if i < 0 {
		i = len(s.said)
		s.said = append(s.said, said{label: label})
	}
	x := &s.said[i]
	x.stated = max(x.stated, stated)
	if !slices.Contains(x.elements, element) {
		x.elements = append(x.elements, element)
	}
}

// heard is what a source's statements add, within its cap.
func heard(s *abi.SourceReliability, labels []string, list []said) []float64 {
	v := make([]float64, len(labels))
	for _, x := range list {
		odds.AddStatement(v, labels, s, x.label, x.stated)
		for _, element := range x.elements {
			odds.AddElement(v, labels, s, x.label, element)
		}
	}
	odds.Limit(v, s.Cap)
	return v
}

// heardLight is what Light's answer adds, within its cap.
func heardLight(s *abi.SourceReliability, c *abi.Case) []float64 {
	return heard(s, c.Labels, []said{{label: c.Light.Classification, stated: c.Light.Confidence}})
}

// signals is what the signals in a case's texts add, within their cap.
func (m *Model) signals(c *abi.Case) []float64 {
	v := make([]float64, len(c.Labels))
	if m.finder.Empty() {
		return v
	}
	found := make([]bool, len(m.profile.Signals))
	for _, text := range texts(c) {
		m.finder.Scan(text, func(i, _, _ int) { found[i] = true })
	}
	for i, ok := range found {
		if ok {
			odds.AddSignal(v, c.Labels, &m.profile.Signals[i])
		}
	}
	odds.Limit(v, m.profile.SignalCap)
	return v
}

// passageBytes is how long the passages are whose signals are bounded together, by what they tell in all
// but a few of the cases: passageShare of a hundred.
const (
	passageBytes = 96
	passageShare = 95
)

// setCaps bounds each source by the most that it moved any case of the fit, and by what so many cases can show: who was right n
// times is right in the next case with odds of n+1 to 1 (Laplace). It bounds the signals together by textCap, and by what they tell at
// most in any case of the fit, and those of a passage.
func (c *corpus) setCaps(p *abi.Profile, train []int, textCap float64) {
	p.SignalCap = mostNats
	if p.Light != nil {
		p.Light.Cap = mostNats
	}
	for i := range p.Sources {
		p.Sources[i].Cap = mostNats
	}
	m := NewModel(p)
	densestOf := m.finder.Densest(p, passageBytes)
	most, speaks := make(map[string]float64), make(map[string]int)
	light, lights, told, densest := 0.0, 0, 0.0, []float64(nil)
	for _, i := range train {
		k := &c.samples[i].entry.Case
		if k.Light != nil {
			light = max(light, spread(heardLight(p.Light, k)))
			lights++
		}
		for _, x := range statements(k) {
			if known := odds.Source(p, x.source); known != nil {
				most[x.source] = max(most[x.source], spread(heard(known, k.Labels, x.said)))
				speaks[x.source]++
			}
		}
		told = max(told, spread(m.signals(k)))
		most := 0.0
		for _, text := range texts(k) {
			most = max(most, densestOf(text))
		}
		densest = append(densest, most)
	}
	if p.Light != nil {
		p.Light.Cap = capOf(light, lights)
	}
	for i := range p.Sources {
		p.Sources[i].Cap = capOf(most[p.Sources[i].Source], speaks[p.Sources[i].Source])
	}
	p.SignalCap = min(textCap, roundUp(told))
	if len(p.Signals) > 0 {
		slices.Sort(densest)
		p.SignalPassage = &abi.SignalPassage{Bytes: passageBytes, Nats: roundUp(hundredth(densest, passageShare))}
	}
}

// capOf rounds up, so that no case of the fit is cut by the rounding.
func capOf(most float64, n int) float64 {
	return roundUp(min(most, math.Log(float64(n)+2)+1, mostNats))
}

// hundredth gives the least of sorted figures that so many hundredths do not exceed.
func hundredth(sorted []float64, share int) float64 {
	return sorted[max(int(math.Ceil(float64(len(sorted)*share)/100))-1, 0)]
}

// roundUp keeps two decimal places.
func roundUp(x float64) float64 { return math.Ceil(100*x) / 100 }
