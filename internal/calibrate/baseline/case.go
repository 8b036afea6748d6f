package baseline

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// Case is what a baseline sees of a case.
type Case struct {
	ID string
	// Group of cases that belong together, or empty.
	Group  string
	Labels []string
	Light  Statement
	// Statements of the witnesses, one for each source that names a label, by source.
	Statements []Statement
	// Tokens of the documents and of the items' contents, each once, sorted; Times is how often each stands.
	Tokens []string
	Times  []int
	// Truth is the right label, or empty. A Rule does not look at it.
	Truth string
}

// Statement is that a source names a label. Confidence is in [0, 1].
type Statement struct {
	Source     string
	Label      string
	Confidence float64
}

// LightSource is the name of Light among the sources. It can't be a source_ref's, which ends before the colon.
const LightSource = ":light"

// NewCase reduces a case. truth is the right label, or empty.
func NewCase(c *abi.Case, truth string) Case {
	out := NewVoters(c, truth)
	out.Tokens, out.Times = tokens(c)
	return out
}

// NewVoters reduces a case to those who vote: it has no tokens.
func NewVoters(c *abi.Case, truth string) Case {
	out := Case{ID: c.ID, Group: c.Group, Labels: c.Labels, Truth: truth, Statements: statements(c)}
	if c.Light != nil {
		out.Light = Statement{LightSource, c.Light.Classification, c.Light.Confidence}
	}
	return out
}

// statements gives each source one word: the label for which its items state the most together, ties to the earlier label of
// the case, with the highest confidence of those items. A statement made twice counts once.
func statements(c *abi.Case) []Statement {
	type word struct{ total, most float64 }
	said := map[string]map[string]word{}
	for i := range c.Evidence {
		e := &c.Evidence[i]
		if e.Supports == "" {
			continue
		}
		source := odds.SourceKey(e.SourceRef)
		if said[source] == nil {
			said[source] = map[string]word{}
		}
		w := said[source][e.Supports]
		said[source][e.Supports] = word{w.total + e.RelevanceConfidence, max(w.most, e.RelevanceConfidence)}
	}
	list := make([]Statement, 0, len(said))
	for source, words := range said {
		best := Statement{Source: source}
		most := -1.0
		for _, label := range c.Labels {
			if w, ok := words[label]; ok && w.total > most {
				most, best.Label, best.Confidence = w.total, label, w.most
			}
		}
		list = append(list, best)
	}
	slices.SortFunc(list, func(a, b Statement) int { return cmp.Compare(a.Source, b.Source) })
	return list
}
