// Package weigh turns what speaks for the labels of a case into probabilities.
//
// All figures are log-likelihoods in nats. An item that names one of k labels and states confidence c is read as a witness who is right
// with probability c and otherwise errs evenly, which is log(c(k-1)/(1-c)) for its label, from 0 (no better than chance counts nothing, and
// never against) to a cap; c of that counts, since those whom nobody measured are surer than they are right. What one source says again
// counts half, then a quarter; what another source repeats counts a quarter; what claims a quote that does not stand counts a tenth.
// Challenges leave the share that their severity says. An item counts with the least of these shares, since a challenge and the reading
// often name the same flaw. All items of one source together stay within a cap.
//
// A profile (see abi/odds) replaces the stated confidences of the sources it knows, Light among them, by tables of how likely they say what
// they say, and by items of which element; what they say again counts nothing. Its signals count where they stand in a finding's quote, in
// the subject, or in an item that names no label. An item of an unknown source that quotes the line in which a signal for its own label
// stands repeats it.
//
// What language models say that the profile doesn't know counts beside the others: at most one nat, and at most half of what the leading
// label is ahead. It makes no flaw of another's item.
//
// Results of experiments count by the profile's tables, as odds.AddExperiments says, beside all that was read.
//
// Nothing here reads what a content argues: text counts only as a quote that stands or doesn't, as a repetition, and as a profile's signal.
//
// All functions are pure and give the same figures everywhere: sums run in the order of the labels, items and sources, never in the order
// of a map.
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
	// Evidence are the nats by label that items, findings and experiments bring, without base rates and Light's own statement.
	Evidence []float64
	// Support are the nats by which single items, signals and the experiments together lift each label above the one that they lift least,
	// summed up: what speaks for a label, whatever speaks against it.
	Support []float64
	// Nats says, for each testimony, how far it moves the labels apart, after flaws, challenges and repetitions, before the caps of sources.
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
	parties := len(m.Findings) > 0 || slices.ContainsFunc(m.Testimony, func(t Testimony) bool { return t.Party })
	m = m.runsAlone()
	read := m.read()
	items := append(witnesses(m.Testimony, m.Profile), witnesses(read.findings, m.Profile)...)
	s := m.weigh(items, &read)
	s.Nats, s.Flaws = s.Nats[:len(m.Testimony)], s.Flaws[:len(m.Testimony)]
	if parties {
		s.settled = m.weigh(slices.DeleteFunc(items, func(w witness) bool { return w.Party }), &read)
	}
	return s
}

func (m *Matter) weigh(items []witness, read *reading) *Scale {
	k := len(m.Labels)
	room := make([]float64, 3*k+len(items)) // one piece for all, since pieces are expensive
	s := &Scale{
		matter: m, Labels: m.Labels, Evidence: room[:k:k], Support: room[k : 2*k : 2*k], read: room[2*k : 3*k : 3*k], Nats: room[3*k:],
		Flaws: flawsBeside(items, read.quoted),
	}
	s.addSignals(m, read.signals)
	unknown := s.addTestimony(m, items)
	copy(s.read, s.Evidence)
	odds.AddBaseRates(s.read, m.Labels, m.Profile)
	addLight(s.read, m)
	s.addUnknown(unknown)
	odds.Temper(s.read, m.Profile)
	s.addExperiments(m)
	return s
}

// speaker is one source of several items.
type speaker struct {
	key     string
	aside   bool    // counts beside the others
	anybody bool    // nobody measured it
	most    float64 // nats
	sum     []float64
	said    statement // mostly all that it says
	more    []statement
}

// statement is what a source says for one label: how often, and by which elements.
type statement struct {
	label   string
	times   int
	element abi.Element
	others  []abi.Element
}

// say counts a statement, and gives how often it was made before; first says whether it was never made by this element.
func (s *speaker) say(label string, element abi.Element) (before int, first bool) {
	x, element := s.statement(label), odds.ElementOf(element)
	x.times++
	switch {
	case x.times == 1:
		x.element = element
		return 0, true
	case x.element == element || slices.Contains(x.others, element):
		return x.times - 1, false
	}
	x.others = append(x.others, element)
	return x.times - 1, true
}

func (s *speaker) statement(label string) *statement {
	if s.said.times == 0 {
		s.said.label = label
	}
	if s.said.label == label {
		return &s.said
	}
	i := slices.IndexFunc(s.more, func(x statement) bool { return x.label == label })
	if i < 0 {
		i = len(s.more)
		s.more = append(s.more, statement{label: label})
	}
	return &s.more[i]
}

// speakers are the sources of items, each once.
type speakers struct {
	list []speaker
	more map[string]int // places in list beyond the first few, by key
}

// fewSpeakers are faster looked for one by one.
const fewSpeakers = 16

func (s *speakers) find(key string) int {
	if at, ok := s.more[key]; ok {
		return at
	}
	return slices.IndexFunc(s.list[:min(len(s.list), fewSpeakers)], func(x speaker) bool { return x.key == key })
}

func (s *speakers) add(x speaker) {
	switch at := len(s.list); {
	case at == fewSpeakers:
		s.more = map[string]int{x.key: at}
	case at > fewSpeakers:
		s.more[x.key] = at
	}
	s.list = append(s.list, x)
}

// addTestimony adds every item, the foremost of each source first. It gives what is said by sources that may not decide, see unknown,
// which is not added.
func (s *Scale) addTestimony(m *Matter, items []witness) unknown {
	n, k := len(items), len(m.Labels)
	room := make([]float64, n+2*n*k+2*k)
	share, whole, sums, rest := room[:n], room[n:n+n*k], room[n+n*k:n+2*n*k], room[n+2*n*k:]
	others := unknown{sum: rest[:k], most: odds.UnmeasuredModel, whole: whole}
	if odds.Measures(m.Profile) {
		others.most = unknownCap
	}
	for i := range items {
		share[i] = items[i].Left
		if left := s.Flaws[i].share(); left < share[i] {
			share[i] = left
		}
		share[i] *= m.afterMixing(&items[i], items)
		v := whole[k*i : k*(i+1)] // before it fades
		add(v, m, &items[i], share[i])
		s.Nats[i] = odds.Spread(v)
	}
	order := s.foremost(items, share)
	sources := speakers{list: make([]speaker, 0, min(len(order), fewSpeakers))}
	for _, i := range order {
		w := &items[i]
		key, aside := w.speaker(), w.aside(m.Profile)
		at := sources.find(key)
		if at < 0 {
			at = len(sources.list)
			sources.add(speaker{key: key, aside: aside, anybody: w.known == nil && key != abi.CasebookSource, most: w.most(), sum: sums[k*at : k*(at+1)]})
		}
		source := &sources.list[at]
		v := whole[k*i : k*(i+1)]
		if before, first := source.say(w.Supports, w.Element); before > 0 {
			clear(v)
			addAgain(v, m, w, share[i], before, first)
			s.Nats[i] = odds.Spread(v)
		}
		if aside {
			others.items = append(others.items, i)
		} else {
			lift(s.Support, v)
		}
		for j, x := range v {
			source.sum[j] += x
		}
	}
	anybody := rest[k:]
	for i := range sources.list {
		source, to := &sources.list[i], s.Evidence
		odds.Limit(source.sum, source.most)
		switch {
		case source.aside:
			to = others.sum
		case source.anybody:
			to = anybody
		}
		for j, x := range source.sum {
			to[j] += x
		}
	}
	for j, x := range anybody {
		if x > odds.UnmeasuredAll {
			x = odds.UnmeasuredAll
		}
		s.Evidence[j] += x
	}
	return others
}

// foremost gives the items that count, those of known sources first. Of these one comes before another of which more is left, and then whose stated
// confidence is higher: a statement counts once, by the first. Of the others those come first that move the labels most.
func (s *Scale) foremost(items []witness, share []float64) []int {
	order := make([]int, 0, len(items))
	for i := range items {
		if items[i].known != nil && share[i] > 0 {
			order = append(order, i)
		}
	}
	known := len(order)
	for i := range items {
		if (items[i].known == nil || !(share[i] > 0)) && s.Nats[i] > noise {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order[:known], func(a, b int) int {
		return cmp.Or(cmp.Compare(share[b], share[a]), cmp.Compare(items[b].Confidence, items[a].Confidence))
	})
	slices.SortStableFunc(order[known:], func(a, b int) int { return cmp.Compare(s.Nats[b], s.Nats[a]) })
	return order
}

// add adds to the labels what share of an item says.
func add(to []float64, m *Matter, w *witness, share float64) {
	if share <= 0 {
		return
	}
	if w.known != nil {
		odds.AddStatement(to, m.Labels, w.known, w.Supports, w.Confidence)
		odds.AddElement(to, m.Labels, w.known, w.Supports, w.Element)
		times(to, share)
		return
	}
	for j, label := range m.Labels {
		if label == w.Supports {
			to[j] = share * odds.Unmeasured(w.Confidence, len(m.Labels))
		}
	}
}

// addAgain adds what share of an item says whose source has said the same before, so many times; first says that it was never by the item's element. A
// known source's table covers the statement itself, however often it is made.
func addAgain(to []float64, m *Matter, w *witness, share float64, before int, first bool) {
	if w.known == nil {
		add(to, m, w, math.Ldexp(share, -before))
		return
	}
	if first {
		odds.AddElement(to, m.Labels, w.known, w.Supports, w.Element)
	}
	times(to, share)
}

func times(v []float64, share float64) {
	for j := range v {
		v[j] *= share
	}
}

// most is the most in nats that all statements of the item's source may count.
func (w *witness) most() float64 {
	switch {
	case w.known != nil:
		return w.known.Cap
	case w.model:
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

// Rival is the most probable label besides the given one that any evidence speaks for; ok is false where there is none.
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
