package repo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

const (
	maxChanges = 2000
	// nearby is how far from a frame a change outside of any known function still touches it.
	nearby = 3
)

// ChangeKind says what became of a file.
type ChangeKind string

// The kinds of changes. A file that was moved is one that was removed and one that was added.
const (
	ChangeAdded    ChangeKind = "added"
	ChangeModified ChangeKind = "modified"
	ChangeRemoved  ChangeKind = "removed"
)

// Change is a file that differs from the revision.
type Change struct {
	Path                     string // slash-separated, within the folder
	Kind                     ChangeKind
	Role                     abi.SourceKind
	AddedLines, RemovedLines int
	Hunks                    []Hunk
	// Opaque: a submodule, a binary file, or one over 4 MiB, of which no lines are compared.
	Opaque bool
}

// Code says whether more changed than comments and formatting.
func (c *Change) Code() bool {
	return c.Opaque || slices.ContainsFunc(c.Hunks, func(h Hunk) bool { return h.Code })
}

// Changed gives the files that differ from the revision of OpenSource, sorted by path: those that git tracks, as they stand in
// the folder now, committed or not, like git diff, and programs and tests that git neither tracks nor ignores. More than 2,000 are an error of OpenSource. Line ends do not count.
func (t *Source) Changed() []Change { return slices.Clone(t.changes) }

// Fork gives the commit at which HEAD left the history of the revision of OpenSource, and how many commits the revision has since then, at most 500.
// What they changed is among Changed. Where the revision is an ancestor of HEAD, began is empty.
func (t *Source) Fork() (began string, ahead int) { return t.began, t.ahead }

// Compares says whether the tree was opened with a revision to compare with.
func (t *Source) Compares() bool { return t.since != "" }

// Touches says whether code that changed since the revision is where a frame points: within its function if that is known,
// else within three lines of it. Nothing touches a frame of a tree without a revision.
func (t *Source) Touches(f Frame) bool {
	if at := t.parse(f.Path).at(f.Line); at != nil && t.unchanged(f.Path)[at.key] {
		return false
	}
	first, last := f.Line-nearby, f.Line+nearby
	if f.FirstLine > 0 {
		first, last = f.FirstLine, f.LastLine
	}
	for i := range t.touched[f.Path] {
		if h := &t.touched[f.Path][i]; h.Code && h.touches(first, last) {
			return true
		}
	}
	return false
}

// compareWith compares the files of the folder with those of a commit.
func (t *Source) compareWith(ctx context.Context, repository *Repository, since string) (err error) {
	if t.since, err = repository.Commit(ctx, since); err != nil {
		return err
	}
	if t.began, t.ahead, err = repository.Fork(ctx, t.since); err != nil {
		return err
	}
	changes, err := repository.Changes(ctx, t.since)
	if err != nil {
		return err
	}
	if len(changes.Paths) > maxChanges {
		return fmt.Errorf("%w: more than %d files changed since %s", ErrTooLarge, maxChanges, since)
	}
	before := map[string][]byte{}
	if err := changes.Before.ReadAll(ctx, changes.Paths, maxFileBytes+1, func(name string, data []byte) { before[name] = data }); err != nil {
		return err
	}
	for _, full := range changes.Paths {
		name := full
		if prefix := repository.Dir(); prefix != "." {
			name = strings.TrimPrefix(full, prefix+"/")
		}
		if c := t.compare(name, before[full], regular(changes.Before, full), regular(changes.Now, full)); c != nil {
			t.changes = append(t.changes, *c)
			t.touched[name] = c.Hunks
		}
	}
	return nil
}

// regular says whether a tree has a file that is no link.
func regular(of *Tree, name string) bool {
	f, ok := of.File(name)
	return ok && f.Mode != Symlink
}

// compare gives how a file differs from what it was, nil if it does not. Of submodules, of files that a sparse checkout leaves out, and of
// what is binary or too large it is known only that they differ.
func (t *Source) compare(name string, old []byte, was, is bool) *Change {
	c := &Change{Path: name, Kind: ChangeModified, Role: sourcefile.KindOf(name)}
	var now []byte
	var err error
	if is {
		now, err = t.readFile(name)
	}
	if !was {
		old = nil
	}
	switch {
	case !was && !is, is && err != nil, len(old) > maxFileBytes, isBinary(old), isBinary(now):
		c.Opaque = true
	}
	switch {
	case !was && is:
		c.Kind = ChangeAdded
	case was && !is:
		c.Kind = ChangeRemoved
	}
	if c.Opaque {
		return c
	}
	if c.Role == abi.SourceTest {
		t.oldTests[name] = old
	}
	c.Hunks = diffLines(splitLines(string(old)), splitLines(string(now)))
	if len(c.Hunks) == 0 && c.Kind == ChangeModified {
		return nil // only the ends of lines differ, as a checkout may have it
	}
	markCode(name, old, now, c.Hunks)
	for _, h := range c.Hunks {
		c.RemovedLines += h.OldLines
		c.AddedLines += h.NewLines
	}
	return c
}
