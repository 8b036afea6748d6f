package knowledge

import (
	"context"
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/source"
)

// maxChanged is how many files of a diff are told.
const maxChanged = 500

// Source answers from a tree, which stays the caller's. It reads all of it
// once, for its digest.
func Source(ctx context.Context, t *source.Tree) (host.Source, error) {
	digest, err := t.Digest(ctx)
	if err != nil {
		return nil, fmt.Errorf("digest of the source: %w", err)
	}
	s := &tree{Tree: t, digest: digest, touched: make(map[string]bool)}
	for _, c := range t.Changed() {
		s.touched[c.Path] = true
		if len(s.changed) < maxChanged {
			s.changed = append(s.changed, abi.ChangedFile{Path: c.Path, Kind: c.Role, Added: c.AddedLines, Removed: c.RemovedLines, Reach: abi.ReachUnknown})
		}
	}
	return s, nil
}

type tree struct {
	*source.Tree
	digest  string
	changed []abi.ChangedFile
	touched map[string]bool
}

func (s *tree) Digest() string { return s.digest }

// Source gives the places of the tree that a text names.
func (s *tree) Source(_ context.Context, query abi.SourceQuery) (abi.SourceAnswer, error) {
	answer := abi.SourceAnswer{Known: true, Changed: s.changed}
	frames := s.Frames(query.Text)
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
