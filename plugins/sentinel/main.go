// Command sentinel selects where the investigation of the Light path looks.
package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/capability"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

func init() { node.Handle(sentinel{capability.Source}.play) }

func main() {}

// sentinel plays resolve. source asks for the files that a text names.
type sentinel struct {
	source func(abi.SourceQuery) (abi.SourceAnswer, *abi.Failure)
}

func (s sentinel) play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyResolve {
		return nil, guest.Fail(guest.WrongFamily, "the sentinel doesn't play "+string(r.Family))
	}
	source, failure := s.source(inquiry.Query(r, 0))
	if failure != nil {
		return nil, failure
	}
	return &abi.Artifact{Resolve: resolve(r, &source)}, nil
}

// The bounds of what is selected.
const (
	maxSelected = 8
	maxFocus    = 12
)

// spot is a place to look at, with what makes it worth it.
type spot struct {
	path   string
	line   int
	worth  int
	reason string
}

// resolve selects the components, which are folders, that hold the places a failure names: the product's before the tests', what the diff
// touches before the rest. Going back to it widens the view to all that the diff touches.
func resolve(r *abi.NodeRequest, source *abi.SourceAnswer) *abi.ResolveResult {
	spots := fromSource(source)
	if !source.Known || len(spots) == 0 {
		spots = append(spots, fromLog(r)...)
	}
	if again(r.File) {
		spots = append(spots, fromDiff(source)...)
	}
	slices.SortStableFunc(spots, func(a, b spot) int { return cmp.Compare(b.worth, a.worth) })
	v := &abi.ResolveResult{Selected: []abi.SelectedComponent{}}
	for i := range spots {
		v.Selected = take(v.Selected, &spots[i])
	}
	return v
}

// again says whether the case was investigated before, or came back from the court.
func again(f *abi.LightFile) bool { return f != nil && (f.Investigate != nil || f.Feedback != nil) }

// The worth of a place.
const (
	worthTest        = 1
	worthProduct     = 2
	worthChanged     = 2
	worthChangedNear = 4
)

func worthOf(kind abi.SourceKind) int {
	switch kind {
	case abi.SourceProduct:
		return worthProduct
	case abi.SourceTest, abi.SourceFixture:
		return worthTest
	default:
		return 0
	}
}

func fromSource(source *abi.SourceAnswer) []spot {
	var out []spot
	for i := range source.Frames {
		f := &source.Frames[i]
		s := spot{path: f.Path, line: f.Line, worth: worthOf(f.Kind), reason: "the log names it as " + string(f.Kind) + " code"}
		switch {
		case f.ChangedNear:
			s.worth += worthChangedNear
			s.reason += ", and the diff touches lines near it"
		case f.Changed:
			s.worth += worthChanged
			s.reason += ", and the diff touches the file"
		}
		out = append(out, s)
	}
	return out
}

func fromDiff(source *abi.SourceAnswer) []spot {
	var out []spot
	for i := range source.Changed {
		c := &source.Changed[i]
		out = append(out, spot{
			path: c.Path, worth: worthOf(c.Kind) - 1,
			reason: "the diff touches it: " + text.Count(c.Added, "line") + " added, " + text.Int(c.Removed) + " removed",
		})
	}
	return out
}

// fromLog reads the log itself, where no source is known.
func fromLog(r *abi.NodeRequest) []spot {
	var out []spot
	for _, clue := range inquiry.Read(r, nil).Upto(inquiry.Deepest) {
		p := clue.Place
		if p.Path == "" || sourcefile.Foreign(p.Path) {
			continue
		}
		kind := sourcefile.KindOf(p.Path)
		out = append(out, spot{path: p.Path, line: p.Line, worth: worthOf(kind), reason: clue.Where() + " names it as " + string(kind) + " code"})
	}
	return out
}

// take adds a place to its component, or selects the component.
func take(selected []abi.SelectedComponent, s *spot) []abi.SelectedComponent {
	name := component(s.path)
	focus := s.path
	if s.line > 0 {
		focus += ":" + text.Int(s.line)
	}
	for i := range selected {
		if c := &selected[i]; c.Name == name {
			if len(c.FocusPaths) < maxFocus && !slices.Contains(c.FocusPaths, focus) {
				c.FocusPaths = append(c.FocusPaths, focus)
			}
			return selected
		}
	}
	if len(selected) == maxSelected {
		return selected
	}
	return append(selected, abi.SelectedComponent{Name: name, FocusPaths: []string{focus}, Reason: upper(s.reason) + "."})
}

// component is the folder of a file, or the file where none is named.
func component(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return path
}

func upper(s string) string {
	if s != "" && 'a' <= s[0] && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
