// Package weigh turns what speaks for the labels of a case into probabilities.
//
// All figures are log-likelihoods in nats. An item that names one of k labels
// and states confidence c is read as a witness who is right with probability c
// and otherwise errs evenly, which is log(c(k-1)/(1-c)) for its label, from 0
// (no better than chance counts nothing, and never against) to a cap; c of that
// counts, since those whom nobody measured are surer than they are right. What one
// source says again counts half, then a quarter; what another source repeats
// counts a quarter; what claims a quote that does not stand counts a tenth.
// Challenges leave the share that their severity says. An item counts with
// the least of these shares, since a challenge and the reading often name the
// same flaw. All items of one source together stay within a cap.
//
// A profile (see abi/odds) replaces the stated confidences of the sources it
// knows, Light among them, by tables of how likely they say what they say, and by
// items of which element; what they say again counts nothing. Its signals count where they stand in a
// finding's quote, in the subject, or in an item that names no label. An item
// of an unknown source that quotes the line in which a signal for its own
// label stands repeats it.
//
// What language models say that the profile doesn't know counts beside the
// others: at most one nat, and at most half of what the leading label is ahead. It
// makes no flaw of another's item.
//
// Results of experiments count by the profile's tables, as odds.AddExperiments
// says, beside all that was read.
//
// Nothing here reads what a content argues: text counts only as a quote that
// stands or doesn't, as a repetition, and as a profile's signal.
//
// All functions are pure and give the same figures everywhere: sums run in the
// order of the labels, items and sources, never in the order of a map.
package weigh

import (
	"cmp"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// noise in nats is what counts as no evidence.
const noise = 1e-6

// Scale is a matter after weighing.
type Scale struct {
	Labels []string
	// Posterior are the probabilities of the labels, in their order.
	Posterior []float64
	// Evidence are the nats by label that items, findings and experiments
	// bring, without base rates and Light's own statement.
	Evidence []float64
	// Support are the nats by which single items, signals and the experiments
	// together lift each label above the one that they lift least, summed up:
	// what speaks for a label, whatever speaks against it.
	Support []float64
	// Nats says, for each testimony, how far it moves the labels apart, after
	// flaws, challenges and repetitions, before the caps of sources.
	Nats []float64
	// Flaws of each testimony.
	Flaws []Flaw

	// settled is the scale without what personas state, and unmeasured models; nil where they state nothing.
	settled *Scale

	matter *Matter
	// read are the nats by label of everything but the experiments, by the profile's temperature.
	read []float64
}

// Weigh weighs a matter. The labels must not be empty.
func Weigh(m *Matter) *Scale {
	s := weighAll(m)
	if settled, ok := m.settle(); ok {
		s.settled = weighAll(settled)
	}
	return s
}

func weighAll(m *Matter) *Scale {
	m = m.runsAlone()
	k := len(m.Labels)
	testimony := slices.Clone(m.Testimony)
	signals, quoted := readSignals(m, &testimony)
	s := &Scale{matter: m, Labels: m.Labels, Evidence: make([]float64, k), Support: make([]float64, k), Nats: make([]float64, len(testimony)), Flaws: flawsBeside(testimony, m.Profile, quoted)}
	s.addSignals(m, signals)
	unknown := s.addTestimony(m, testimony)
	s.read = slices.Clone(s.Evidence)
	odds.AddBaseRates(s.read, m.Labels, m.Profile)
	addLight(s.read, m)
	s.addUnknown(unknown)
	odds.Temper(s.read, m.Profile)
	s.addExperiments(m)
	s.Nats, s.Flaws = s.Nats[:len(m.Testimony)], s.Flaws[:len(m.Testimony)]
	return s
}

// speaker is one source of several items.
type speaker struct {
	aside   bool    // counts beside the others
	anybody bool    // nobody measured it
	most    float64 // nats
	sum     []float64
	said    []statement
}

// statement is what a source says for one label: how often, and by which elements.
type statement struct {
	label    string
	times    int
	elements []abi.Element
}

// say counts a statement, and gives how often it was made before; first says whether it was never made by this element.
func (s *speaker) say(label string, element abi.Element) (before int, first bool) {
	i := slices.IndexFunc(s.said, func(x statement) bool { return x.label == label })
	if i < 0 {
		i = len(s.said)
		s.said = append(s.said, statement{label: label})
	}
	x := &s.said[i]
	element = odds.ElementOf(element)
	if first = !slices.Contains(x.elements, element); first {
		x.elements = append(x.elements, element)
	}
	x.times++
	return x.times - 1, first
}

// addTestimony adds every item, the foremost of each source first. It gives what is said by sources that may not decide, see unknown,
// which is not added.
func (s *Scale) addTestimony(m *Matter, testimony []Testimony) unknown {
	share := make([]float64, len(testimony))
	whole := make([][]float64, len(testimony)) // before it fades
	for i := range testimony {
		share[i] = min(testimony[i].Left, s.Flaws[i].share()) * m.afterMixing(&testimony[i])
		whole[i] = vector(m, &testimony[i], share[i])
		s.Nats[i] = odds.Spread(whole[i])
	}
	order := s.foremost(m.Profile, testimony, share)
	index := make(map[string]int)
	var speakers []speaker
	others := unknown{sum: make([]float64, len(m.Labels)), most: odds.UnmeasuredModel}
	if odds.Measures(m.Profile) {
		others.most = unknownCap
	}
	for _, i := range order {
		t := &testimony[i]
		key := t.speaker()
		at, ok := index[key]
		if !ok {
			at = len(speakers)
			index[key] = at
			speakers = append(speakers, speaker{aside: t.aside(m.Profile), anybody: !t.Known(m.Profile) && key != abi.CasebookSource, most: sourceCap(m.Profile, t), sum: make([]float64, len(m.Labels))})
		}
		v := whole[i]
		if before, first := speakers[at].say(t.Supports, t.Element); before > 0 {
			v = again(m, t, share[i], before, first)
			s.Nats[i] = odds.Spread(v)
		}
		if t.aside(m.Profile) {
			others.items, others.vectors = append(others.items, i), append(others.vectors, v)
		} else {
			lift(s.Support, v)
		}
		for j, x := range v {
			speakers[at].sum[j] += x
		}
	}
	anybody := make([]float64, len(m.Labels))
	for i := range speakers {
		sum, to := speakers[i].sum, s.Evidence
		odds.Limit(sum, speakers[i].most)
		switch {
		case speakers[i].aside:
			to = others.sum
		case speakers[i].anybody:
			to = anybody
		}
		for j, x := range sum {
			to[j] += x
		}
	}
	for j, x := range anybody {
		s.Evidence[j] += min(x, odds.UnmeasuredAll)
	}
	return others
}

// foremost gives the items that count, those of known sources first. Of these one comes before another of which more is left, and then whose stated
// confidence is higher: a statement counts once, by the first. Of the others those come first that move the labels most.
func (s *Scale) foremost(p *abi.Profile, testimony []Testimony, share []float64) []int {
	var known, others []int
	for i := range testimony {
		switch {
		case share[i] > 0 && testimony[i].Known(p):
			known = append(known, i)
		case s.Nats[i] > noise:
			others = append(others, i)
		}
	}
	slices.SortStableFunc(known, func(a, b int) int {
		return cmp.Or(cmp.Compare(share[b], share[a]), cmp.Compare(testimony[b].Confidence, testimony[a].Confidence))
	})
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(s.Nats[b], s.Nats[a]) })
	return append(known, others...)
}

// vector is what share of an item adds to the labels.
func vector(m *Matter, t *Testimony, share float64) []float64 {
	v := make([]float64, len(m.Labels))
	if share <= 0 {
		return v
	}
	if known := t.known(m.Profile); known != nil {
		odds.AddStatement(v, m.Labels, known, t.Supports, t.Confidence)
		odds.AddElement(v, m.Labels, known, t.Supports, t.Element)
		return times(v, share)
	}
	for j, label := range m.Labels {
		if label == t.Supports {
			v[j] = share * odds.Unmeasured(t.Confidence, len(m.Labels))
		}
	}
	return v
}

// again is what share of an item adds whose source has said the same before, so many times; first says that it was never by the item's element. A
// known source's table covers the statement itself, however often it is made.
func again(m *Matter, t *Testimony, share float64, before int, first bool) []float64 {
	known := t.known(m.Profile)
	if known == nil {
		return vector(m, t, math.Ldexp(share, -before))
	}
	v := make([]float64, len(m.Labels))
	if first {
		odds.AddElement(v, m.Labels, known, t.Supports, t.Element)
	}
	return times(v, share)
}

func times(v []float64, share float64) []float64 {
	for j := range v {
		v[j] *= share
	}
	return v
}

// sourceCap is the most in nats that all statements of the source of one may count.
func sourceCap(p *abi.Profile, t *Testimony) float64 {
	switch known := t.known(p); {
	case known != nil:
		return known.Cap
	case odds.IsModel(t.SourceRef):
		return odds.UnmeasuredModel
	default:
		return odds.UnmeasuredSource
	}
}

// Nothing is how many nats are as good as none: odds of 6 to 5.
const Nothing = 0.2

// Of is the probability of a label, 0 for one that the case doesn't have.
func (s *Scale) Of(label string) float64 {
	if i := slices.Index(s.Labels, label); i >= 0 {
		return s.Posterior[i]
	}
	return 0
}

// Speaks is what of the evidence speaks for a label, in nats.
func (s *Scale) Speaks(label string) float64 {
	if i := slices.Index(s.Labels, label); i >= 0 {
		return s.Support[i]
	}
	return 0
}

// Top is the most probable label; of equal ones the preferred, then the first.
func (s *Scale) Top(preferred string) (label string, p float64) {
	label, p = preferred, s.Of(preferred)
	for i, l := range s.Labels {
		if s.Posterior[i] > p {
			label, p = l, s.Posterior[i]
		}
	}
	return label, p
}

// Rival is the most probable label besides the given one that any evidence speaks
// for; ok is false where there is none.
func (s *Scale) Rival(label string) (rival string, p float64, ok bool) {
	for i, l := range s.Labels {
		if l != label && s.Posterior[i] > p && s.Support[i] > Nothing {
			rival, p, ok = l, s.Posterior[i], true
		}
	}
	return rival, p, ok
}

// Weight gives an item's nats as a share of the most that one item may count.
func Weight(nats float64) float64 { return min(nats/odds.UnmeasuredItem, 1) }
