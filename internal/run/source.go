package run

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/repo"
)

// maxChanged bounds the files of a diff that are told.
const maxChanged = 500

// Source answers from a tree, which stays the caller's. It reads all of it
// once, for its digest.
func Source(ctx context.Context, t *repo.Source) (host.Source, error) {
	digest, err := t.Digest(ctx)
	if err != nil {
		return nil, fmt.Errorf("digest of the source: %w", err)
	}
	s := &source{of: t, digest: digest, touched: make(map[string]bool)}
	for _, c := range t.Changed() {
		s.touched[c.Path] = c.Code()
	}
	return s, nil
}

type source struct {
	of      *repo.Source
	digest  string
	touched map[string]bool
}

func (s *source) Digest() string { return s.digest }

// Source gives the places of the tree that a text names, and what the diff
// changes.
func (s *source) Source(_ context.Context, query abi.SourceQuery) (abi.SourceAnswer, error) {
	frames := s.of.Frames(query.Text)
	answer := abi.SourceAnswer{Known: true}
	if s.of.Compares() {
		s.compare(&answer, query.Text, frames)
	}
	for i := range frames[:min(len(frames), query.Limit)] {
		f := &frames[i]
		frame := abi.SourceFrame{
			Path: f.Path, Line: f.Line, Kind: f.Role, Function: f.Function,
			Changed: s.touched[f.Path], ChangedNear: s.of.Touches(*f),
		}
		if !f.Stale {
			if excerpt, err := s.of.Excerpt(f.Path, f.Line, query.Lines); err == nil { // a file that can't be read has none
				frame.Excerpt = strings.Join(excerpt.Lines, "\n")
			}
		}
		answer.Frames = append(answer.Frames, frame)
	}
	return answer, nil
}

// compare tells the diff: of the files with the nearest reach the first ones of each kind.
func (s *source) compare(answer *abi.SourceAnswer, text string, frames []repo.Frame) {
	near := make(map[string]bool) // folders of the failing tests and of the places that the text names
	for _, t := range s.of.Tests(text, frames) {
		answer.Tests = append(answer.Tests, abi.FailingTest{Name: t.Name, Path: t.Path, New: t.New, Changed: t.Changed})
		near[path.Dir(t.Path)] = true
	}
	for i := range frames {
		near[path.Dir(frames[i].Path)] = true
	}
	answer.Diff, answer.Located = true, len(near) > 0
	type group struct {
		reach abi.SourceReach
		kind  abi.SourceKind
	}
	groups := make(map[group][]abi.ChangedFile)
	for _, c := range s.of.Changed() {
		g := group{reach(&c, near), c.Role}
		groups[g] = append(groups[g], abi.ChangedFile{
			Path: c.Path, Kind: c.Role, Added: c.AddedLines, Removed: c.RemovedLines, Reach: g.reach, Code: c.Code(),
		})
	}
	for _, reach := range []abi.SourceReach{abi.ReachPackage, abi.ReachDependencies, abi.ReachUnknown, abi.ReachNone} {
		for _, kind := range []abi.SourceKind{abi.SourceProduct, abi.SourceTest, abi.SourceFixture, abi.SourceOther} {
			files := groups[group{reach, kind}]
			answer.Changed = append(answer.Changed, files[:min(len(files), maxChanged/4)]...)
		}
	}
	answer.Changed = answer.Changed[:min(len(answer.Changed), maxChanged)]
}

// reach says how a change bears on the failing tests: by the folder alone, since what they import is not followed.
func reach(c *repo.Change, near map[string]bool) abi.SourceReach {
	switch {
	case !c.Code():
		return abi.ReachNone
	case sourcefile.IsDependencies(c.Path), sourcefile.IsBuild(c.Path):
		return abi.ReachDependencies
	case c.Role == abi.SourceOther:
		return abi.ReachNone
	case near[path.Dir(c.Path)]:
		return abi.ReachPackage
	}
	return abi.ReachUnknown
}
