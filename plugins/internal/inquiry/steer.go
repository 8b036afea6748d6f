package inquiry

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// steer is what a pass looks for first: the places that resolve selected, and
// what the court asks.
type steer struct {
	focus  []string
	topics []Topic
}

func steerOf(r *abi.NodeRequest) steer {
	s := steer{topics: Topics(r)}
	if r.File != nil && r.File.Resolve != nil {
		for i := range r.File.Resolve.Selected {
			s.focus = append(s.focus, r.File.Resolve.Selected[i].FocusPaths...)
		}
	}
	return s
}

// The ranks of clues.
const (
	asked     = iota // it bears on a question of the court
	inFocus          // it names a place that was selected
	elsewhere        // neither
)

// rankOf a clue: the least comes first.
func (c *Clues) rankOf(clue *Clue) int {
	e := c.Item(clue)
	for i := range c.steer.topics {
		if c.steer.topics[i].Concerns(&e) {
			return asked
		}
	}
	if clue.Place.Path != "" {
		at := clue.Place.Path + ":" + text.Int(clue.Place.Line)
		if slices.ContainsFunc(c.steer.focus, func(f string) bool { return sourcefile.Same(f, at) || sourcefile.Same(f, clue.Place.Path) }) {
			return inFocus
		}
	}
	return elsewhere
}
