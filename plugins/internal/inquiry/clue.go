package inquiry

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// Kind says what drew attention to a clue.
type Kind int

// sourcePrefix begins the source of everything that is read here.
const sourcePrefix = "seeker-"

// source names readings of a kind as a source of their own, so that a profile can know what each is worth.
func (k Kind) source() string {
	switch k {
	case Broken:
		return sourcePrefix + "diagnostic"
	case Crash:
		return sourcePrefix + "crash"
	case Site:
		return sourcePrefix + "frame"
	case Signal:
		return sourcePrefix + "signal"
	case Report:
		return sourcePrefix + "report"
	default:
		return sourcePrefix + "word"
	}
}

// The kinds, the most telling first.
const (
	Broken Kind = iota // a compiler's diagnostic
	Crash              // the lines with which a runtime ends a program
	Site               // the first frame of a crash that is the module's own
	Signal             // a line in which a signal of the profile stands
	Report             // what a test framework reports about a place
	Word               // a line that speaks of an error
)

// The depths to which documents are read.
const (
	First    = 1 // what tells most
	Second   = 2 // more places of the same
	Deepest  = 3 // all that one traversal looks at
	Remanded = 4 // more of the same, when the court asks
	maxClues = 64
)

// DepthOf is how deep a pass reads, deeper each time the traversal goes back.
func DepthOf(f *abi.LightFile) int {
	switch {
	case f != nil && f.Feedback != nil:
		return Remanded
	case f == nil || f.Investigate == nil || f.LoopsLeft > 1:
		return First
	case f.LoopsLeft == 1:
		return Second
	default:
		return Deepest
	}
}

// Clue is something in a document that bears on the cause.
type Clue struct {
	Kind     Kind
	Document string
	Line     int // from 1
	Quote    string
	end      int // the line behind the quote, from 0
	rank     int // what is asked for comes first
	// Depth from which it is looked at.
	Depth int
	// Place that it names, if it names one.
	Place sourcefile.Place
	// signals of the profile, by index, each once.
	signals []int
	// fact is what the place tells of the labels, in nats; nil for none.
	fact []float64
}

// Ref is the clue's source_ref: what kind of reading it is, and where.
func (c *Clue) Ref() string { return c.Kind.source() + ":" + c.Where() } // the kind comes first: profiles know a source by it

// Where the clue stands.
func (c *Clue) Where() string { return at(c.Document, c.Line-1) }

func at(document string, line int) string { return document + ":L" + text.Int(line+1) }

// Clues are what the documents of a case hold.
type Clues struct {
	List    []Clue
	labels  []string
	profile *abi.Profile
	// lines of each document, for what is searched by words.
	documents []document
	where     []int // 1 + the first spot of lines by their hashes; nil before a line is looked for
	spots     []spot
	steer     steer
	remanded  bool // the case came back from the court
}

// Upto gives the clues of a depth and those before it.
func (c *Clues) Upto(depth int) []*Clue {
	var out []*Clue
	for i := range c.List {
		if c.List[i].Depth <= depth {
			out = append(out, &c.List[i])
		}
	}
	return out
}

// tellingNats is how far a clue must lift a label above the next one to speak for it: odds of 5 to 4.
const tellingNats = 0.22

// Relevance of what names no label: whether it bears on the cause at all.
const (
	placeRelevance = 0.5
	wordRelevance  = 0.3
)

// Item makes evidence of a clue. It supports the label that the clue lifts clearly above the others; its confidence is the probability of
// that label if there were nothing but the clue, or without a label that it bears on the cause.
func (c *Clues) Item(clue *Clue) abi.Evidence {
	e := abi.Evidence{SourceRef: clue.Ref(), Content: clue.Quote, RelevanceConfidence: placeRelevance, Element: abi.Water}
	if clue.Kind == Word {
		e.RelevanceConfidence = wordRelevance
	}
	e.Supports, e.RelevanceConfidence = c.speaks(c.nats(clue), e.RelevanceConfidence)
	return e
}

func (c *Clues) speaks(nats []float64, otherwise float64) (label string, confidence float64) {
	if len(nats) == 0 {
		return "", otherwise
	}
	first := 0
	for j := range nats {
		if nats[j] > nats[first] {
			first = j
		}
	}
	sum := 0.0
	for j := range nats {
		if j != first && nats[first]-nats[j] < tellingNats {
			return "", otherwise
		}
		sum += math.Exp(nats[j] - nats[first])
	}
	return c.labels[first], 1 / sum
}

// nats are what a clue tells of the labels.
func (c *Clues) nats(clue *Clue) []float64 {
	sum := make([]float64, len(c.labels))
	copy(sum, clue.fact)
	addSignals(sum, c.labels, c.profile, clue.signals)
	return sum
}

// Items are the clues of a depth as evidence.
func (c *Clues) Items(depth int) []abi.Evidence {
	items := []abi.Evidence{}
	for _, clue := range c.Upto(depth) {
		items = append(items, c.Item(clue))
	}
	return items
}

// Own says whether an item is one that the clues give. An item of the same
// lines for which somebody else names another label is a reading of its own.
func (c *Clues) Own(e *abi.Evidence) bool {
	i := c.quoted(e)
	return i >= 0 && c.Item(&c.List[i]).Supports == e.Supports
}

// quoted is the clue of the same lines as an item, or -1.
func (c *Clues) quoted(e *abi.Evidence) int {
	return slices.IndexFunc(c.List, func(clue Clue) bool { return clue.Quote == e.Content && clue.Ref() == e.SourceRef })
}
