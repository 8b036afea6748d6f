package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/source"
)

// How many files of a diff are told, and of those how many that don't bear on
// the tests.
const (
	maxChanged = 500
	maxOthers  = 50
)

// Source answers from a tree, which stays the caller's. It reads all of it
// once, for its digest.
func Source(ctx context.Context, t *source.Tree) (host.Source, error) {
	digest, err := t.Digest(ctx)
	if err != nil {
		return nil, fmt.Errorf("digest of the source: %w", err)
	}
	s := &tree{Tree: t, digest: digest, touched: make(map[string]bool)}
	for _, c := range t.Changed() {
		s.touched[c.Path] = c.Code()
	}
	return s, nil
}

type tree struct {
	*source.Tree
	digest  string
	touched map[string]bool
}

func (s *tree) Digest() string { return s.digest }

// Source gives the places of the tree that a text names, and how the diff
// bears on the tests that it tells of.
func (s *tree) Source(_ context.Context, query abi.SourceQuery) (abi.SourceAnswer, error) {
	frames := s.Frames(query.Text)
	answer := abi.SourceAnswer{Known: true}
	if s.Compares() {
		s.compare(&answer, s.Bearing(query.Text, frames))
	}
	for i := range frames[:min(len(frames), query.Limit)] {
		f := &frames[i]
		frame := abi.SourceFrame{
			Path: f.Path, Line: f.Line, Kind: f.Role, Function: f.Function,
			Changed: s.touched[f.Path], ChangedNear: s.Touches(*f),
		}
		if !f.Stale {
			if excerpt, err := s.Excerpt(f.Path, f.Line, query.Lines); err == nil { // a file that can't be read has none
				frame.Excerpt = strings.Join(excerpt.Lines, "\n")
			}
		}
		answer.Frames = append(answer.Frames, frame)
	}
	return answer, nil
}

// compare tells the diff.
func (s *tree) compare(answer *abi.SourceAnswer, bearing source.Bearing) {
	answer.Diff, answer.Located = true, bearing.Located
	for _, t := range bearing.Tests {
		answer.Tests = append(answer.Tests, abi.FailingTest{Name: t.Name, Path: t.Path, New: t.New, Changed: t.Changed})
	}
	for i := range bearing.Intents {
		in := &bearing.Intents[i]
		answer.Intent = append(answer.Intent, abi.SourceIntent{Kind: in.Kind, Path: in.Path, Hunk: *hunk(&in.Hunk), Names: in.Names})
	}
	others := 0
	for i := range bearing.Changes {
		c := &bearing.Changes[i]
		if c.Reach == abi.ReachNone || c.Reach == abi.ReachUnknown {
			others++
		}
		if len(answer.Changed) == maxChanged || others > maxOthers {
			return
		}
		answer.Changed = append(answer.Changed, abi.ChangedFile{
			Path: c.Path, Kind: c.Role, Added: c.AddedLines, Removed: c.RemovedLines,
			Reach: c.Reach, Distance: c.Distance, Named: c.Named, Code: c.Code(), Hunk: hunk(c.Hunk),
		})
	}
}

func hunk(s *source.Shown) *abi.SourceHunk {
	if s == nil {
		return nil
	}
	h := &abi.SourceHunk{Line: s.Line, Text: s.Text}
	if s.Commit != nil {
		h.Commit, h.Author = s.Commit.Hash, s.Commit.Author
	}
	return h
}
