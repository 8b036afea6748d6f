package weigh

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
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
	// Party says that a persona of the court makes the statement, whatever it quotes: SourceRef is only what it cites.
	Party bool

	// lines is the substance of the content; nil before somebody asks for it.
	lines []string
}

// Known says whether a profile knows the item's source. It never knows a persona's statement: no persona can speak in the name of a
// source that was measured.
func (t *Testimony) Known(p *abi.Profile) bool {
	return p != nil && !t.Party && odds.Source(p, odds.SourceKey(t.SourceRef)) != nil
}

// substance gives the lines by which the content is recognised. They are read once.
func (t *Testimony) substance() []string {
	if t.lines == nil {
		t.lines = text.Substance(t.Content)
	}
	return t.lines
}

// witness is an item with what is known of who makes the statement.
type witness struct {
	*Testimony
	key   string // of the source
	model bool   // it is a language model
	known *abi.SourceReliability
}

// witnesses finds what a profile knows of items: nothing of what a persona says.
func witnesses(items []Testimony, p *abi.Profile) []witness {
	list := make([]witness, len(items))
	for i := range items {
		t := &items[i]
		w := witness{Testimony: t, key: odds.SourceKey(t.SourceRef), model: odds.IsModel(t.SourceRef)}
		if !t.Party {
			w.known = odds.Source(p, w.key)
		}
		list[i] = w
	}
	return list
}

// speaker is the key of the source that makes the statement. All personas are one speaker, so that a fourth item of theirs adds no more
// than a fourth item of anybody.
func (w *witness) speaker() string {
	if w.Party && !w.model {
		return partySource
	}
	return w.key
}

// partySource is no source that an item can name.
const partySource = ""

// hearsay says whether the item is the word of a persona of the court, or of a language model that the profile doesn't know.
func (w *witness) hearsay() bool { return w.Party || w.model && w.known == nil }

// Matter is everything that is weighed.
type Matter struct {
	Labels  []string
	Subject string
	// Light is what is asked about; nil where a mask hides it.
	Light     *abi.LightAnswer
	Testimony []Testimony
	Findings  []abi.Finding
	// Signals are the indexes of the profile's signals that stand in the documents.
	Signals []int
	// Experiments that were run, in their order.
	Experiments []abi.ExperimentResult
	Profile     *abi.Profile
}

// runsAlone is the matter as a profile wants it by which nothing but runs counts.
func (m *Matter) runsAlone() *Matter {
	if m.Profile == nil || m.Profile.Outcomes == nil || !m.Profile.Outcomes.Alone {
		return m
	}
	runs := *m
	runs.Testimony = slices.Clone(m.Testimony)
	for i := range runs.Testimony {
		runs.Testimony[i].Left = 0
	}
	runs.Subject, runs.Light, runs.Findings, runs.Signals = "", nil, nil, nil
	return &runs
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

// FromIndictment reads the indictment's items, unchallenged, with what the host knows of them. The confidence is the one that the item's
// source states, not the prosecution's weight; the weight stands in where no exhibit tells.
func FromIndictment(items []abi.IndictmentItem, exhibits []abi.Exhibit) []Testimony {
	out := make([]Testimony, len(items))
	for i := range items {
		item := &items[i]
		out[i] = Testimony{
			SourceRef: item.SourceRef, Content: item.Content, Supports: item.Supports, Element: item.Element,
			Confidence: item.Weight, Quote: abi.QuoteUnclaimed, Left: 1,
		}
	}
	for i := range exhibits {
		x := &exhibits[i]
		if x.EvidenceIndex < len(out) {
			out[x.EvidenceIndex].Confidence = x.RelevanceConfidence
			out[x.EvidenceIndex].Quote = x.Quote
		}
	}
	return out
}

// Challenged are items with what challenges leave of them.
func Challenged(items []Testimony, challenges []abi.Challenge) []Testimony {
	out := slices.Clone(items)
	for i := range challenges {
		ch := &challenges[i]
		if ch.EvidenceIndex < len(out) {
			t := &out[ch.EvidenceIndex]
			t.Left = min(t.Left, Left(ch.Severity))
		}
	}
	return out
}

// Unindicted reads the items of the case that an indictment leaves out: what the prosecution doesn't mention counts all the same.
func Unindicted(evidence []abi.Evidence, indicted []abi.IndictmentItem) []Testimony {
	type place struct{ sourceRef, content string }
	var there map[place]bool // where the order is not that of the case
	var left []abi.Evidence
	next := 0
	for i := range evidence {
		e := &evidence[i]
		if next < len(indicted) && indicted[next].SourceRef == e.SourceRef && indicted[next].Content == e.Content {
			next++
			continue
		}
		if there == nil {
			there = make(map[place]bool, len(indicted))
			for j := range indicted {
				there[place{indicted[j].SourceRef, indicted[j].Content}] = true
			}
		}
		if !there[place{e.SourceRef, e.Content}] {
			left = append(left, *e)
		}
	}
	return FromEvidence(left)
}

// partyConfidence bounds what a party may claim for a statement of its own: the line stands in a document, but that it speaks for a label
// is the party's own reading.
const partyConfidence = 0.5

// FromNewItems reads the items that a hearing brought, but for those that
// repeat an item of the case or one of the findings, which are weighed themselves.
func FromNewItems(items []abi.IndictmentItem, evidence []abi.Evidence, findings []abi.Finding) []Testimony {
	var out []Testimony
	for i := range items {
		item := &items[i]
		if isFinding(item, findings) || item.IsOfCase(evidence) {
			continue
		}
		out = append(out, Testimony{
			SourceRef: item.SourceRef, Content: item.Content, Supports: item.Supports, Element: item.Element,
			Confidence: min(item.Weight, partyConfidence), Quote: abi.QuoteStands, Left: 1, Party: true,
		})
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

func isFinding(item *abi.IndictmentItem, findings []abi.Finding) bool {
	for i := range findings {
		f := &findings[i]
		if f.Document == item.SourceRef && f.Quote == item.Content {
			return true
		}
	}
	return false
}

// unknownCap is the most, in nats, by which all sources together that a profile
// doesn't know move two labels apart, where it measured others: odds of 4 to 3.
const unknownCap = 0.3

// aside says whether a statement counts beside the others, and not among them: that of a persona of the court, of a language model
// and of a source that the profile doesn't know beside measured ones. The casebook's never does: nobody but the host writes
// its items, from earlier cases.
func (w *witness) aside(p *abi.Profile) bool {
	return w.Party || w.known == nil && (odds.IsModel(w.key) || odds.Stranger(p, w.key))
}

// unknown is what sources say that count beside the others: personas, language models, and beside measured sources those that the
// profile doesn't know. Anybody can bring any number of sources, as sure as they like, a persona may be anybody's code, and whoever
// writes a log can talk to a model: so all of them together count a little, and never decide against the others.
type unknown struct {
	sum   []float64
	most  float64 // nats
	items []int
	whole []float64 // nats of all items, those that are not of these too
}

// addUnknown adds what is left of it: within the cap, and at most half of what the leading label is ahead of another one, if one leads.
func (s *Scale) addUnknown(u unknown) {
	share := u.share(s.read)
	for _, i := range u.items {
		s.Nats[i] *= share
		v := u.whole[len(u.sum)*i : len(u.sum)*(i+1)]
		times(v, share)
		lift(s.Support, v)
	}
	for j, x := range u.sum {
		s.Evidence[j] += share * x
		s.read[j] += share * x
	}
}

func (u unknown) share(read []float64) float64 {
	share := 1.0
	if spread := odds.Spread(u.sum); spread > u.most {
		share = u.most / spread
	}
	if odds.Spread(read) < noise {
		return share // nothing that was measured speaks
	}
	top := slices.Index(read, slices.Max(read))
	for j, x := range u.sum {
		if gains := x - u.sum[top]; gains > 0 {
			share = min(share, (read[top]-read[j])/2/gains)
		}
	}
	return share
}

// Settled is the scale without what personas state, and models that the profile doesn't know.
func (s *Scale) Settled() *Scale {
	if s.settled != nil {
		return s.settled
	}
	return s
}
