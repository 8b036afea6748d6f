package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

const (
	maxChanges   = 2000
	maxHunks     = 1000
	maxHunkLines = 60
	maxDiffBytes = 1 << 20
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
	Path string // slash-separated, within the folder
	Kind ChangeKind
	Role abi.SourceKind
	// AddedLines and RemovedLines count all lines; Hunks hold at most 1,000 places and 60 lines each way of a place, and a
	// mebibyte of text in all changes together.
	AddedLines, RemovedLines int
	Hunks                    []Hunk
	// Opaque: a binary file, or one over 4 MiB, of which no lines are compared.
	Opaque bool
}

// Code says whether more changed than comments and formatting.
func (c *Change) Code() bool {
	return c.Opaque || slices.ContainsFunc(c.Hunks, func(h Hunk) bool { return h.Code })
}

// Changed gives the files that differ from the revision of Open, sorted by path: those that git tracks, as they stand in
// the folder now, committed or not, like git diff, and programs and tests that git neither tracks nor ignores. More than 2,000 are an error of Open. Line ends do not count.
func (t *Tree) Changed() []Change { return slices.Clone(t.changes) }

// Fork gives the commit at which HEAD left the history of the revision of Open, its first 12 digits, and how many commits the revision has
// since then, at most 500. What they changed is among Changed. Where the revision is an ancestor of HEAD, began is empty.
func (t *Tree) Fork() (began string, ahead int) {
	if t.history == nil {
		return "", 0
	}
	return t.history.began, t.history.ahead
}

// Touches says whether code that changed since the revision is where a frame points: within its function if that is known,
// else within three lines of it. Nothing touches a frame of a tree without a revision.
func (t *Tree) Touches(f Frame) bool {
	if p := t.sectionsOf(f.Path); p != nil {
		if at := p.at(f.Line); at != nil && at.same {
			return false
		}
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

// compareWith compares the files under the folder with those of a commit.
func (t *Tree) compareWith(ctx context.Context, dir, since string) (err error) {
	repo, err := openRepository(dir)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(repo.advise(err, since), repo.Close())
		}
	}()
	commit, err := repo.commit(since)
	if err != nil {
		return err
	}
	before, err := repo.filesOf(commit)
	if err != nil {
		return fmt.Errorf("commit %s: %w", commit.Hash, err)
	}
	now, err := repo.tracked()
	if err != nil {
		return err
	}
	names := t.namesOf(repo, before, now)
	room := maxDiffBytes
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		change, err := repo.changed(t, name, before, now)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if change == nil {
			continue
		}
		if len(t.changes) == maxChanges {
			return fmt.Errorf("%w: more than %d files changed since %s", ErrTooLarge, maxChanges, since)
		}
		t.changes = append(t.changes, bound(*change, &room))
	}
	for _, c := range t.changes {
		t.touched[c.Path] = c.Hunks
	}
	t.history = newHistory(repo, commit)
	return nil
}

// entry is a file as git knows it, or a submodule.
type entry struct {
	hash   plumbing.Hash
	module bool // a submodule, whose hash is that of a commit
	absent bool // of a sparse checkout: it is not in the work tree
}

// filesOf lists the regular files and the submodules of a commit under the folder.
func (r *repository) filesOf(commit *object.Commit) (map[string]entry, error) {
	tree, err := commit.Tree()
	if err == nil && r.prefix != "" {
		tree, err = tree.Tree(r.prefix)
		if errors.Is(err, object.ErrDirectoryNotFound) {
			return nil, nil // the folder is newer
		}
	}
	if err != nil {
		return nil, err
	}
	files := map[string]entry{}
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	for {
		name, e, err := walker.Next()
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, err
		case (isFile(e.Mode) || e.Mode == filemode.Submodule) && fs.ValidPath(name):
			files[name] = entry{hash: e.Hash, module: e.Mode == filemode.Submodule}
		}
		if len(files) > maxFiles {
			return nil, fmt.Errorf("%w: more than %d files", ErrTooLarge, maxFiles)
		}
	}
}

func isFile(mode filemode.FileMode) bool {
	return mode == filemode.Regular || mode == filemode.Executable || mode == filemode.Deprecated
}

// tracked are the files and submodules of the index under the folder.
func (r *repository) tracked() (map[string]entry, error) {
	index, err := r.Index()
	if err != nil {
		return nil, fmt.Errorf("the index: %w: if it is sparse, run `git sparse-checkout reapply --no-sparse-index`", err)
	}
	files := make(map[string]entry, len(index.Entries))
	for _, e := range index.Entries {
		name, ok := e.Name, true
		if r.prefix != "" {
			name, ok = strings.CutPrefix(name, r.prefix+"/")
		}
		if ok && (isFile(e.Mode) || e.Mode == filemode.Submodule) && fs.ValidPath(name) {
			files[name] = entry{hash: e.Hash, module: e.Mode == filemode.Submodule, absent: e.SkipWorktree}
		}
	}
	return files, nil
}

// namesOf are the names of all files to compare, sorted.
func (t *Tree) namesOf(r *repository, before, now map[string]entry) []string {
	names := make([]string, 0, len(now))
	tracked := make(map[string]bool, len(now))
	for _, files := range []map[string]entry{before, now} {
		for name := range files {
			if !tracked[name] {
				tracked[name] = true
				names = append(names, name)
			}
		}
	}
	names = append(names, t.untracked(r, tracked)...)
	slices.Sort(names)
	return names
}

// changed gives how a file differs from the commit, nil if it does not. Of submodules, and of files that a sparse checkout
// leaves out, it is known only whether they differ.
func (r *repository) changed(t *Tree, name string, before, now map[string]entry) (*Change, error) {
	old, was := before[name]
	current, is := now[name]
	if !old.module && !current.module && !current.absent {
		return r.compare(t, name, before)
	}
	c := &Change{Path: name, Kind: ChangeModified, Role: sourcefile.KindOf(name), Opaque: true}
	switch {
	case was && is && old.hash == current.hash:
		return nil, nil //nolint:nilnil // no change is an answer
	case !was:
		c.Kind = ChangeAdded
	case !is:
		c.Kind = ChangeRemoved
	}
	return c, nil
}

// compare gives how a file differs from the commit, nil if it does not.
func (r *repository) compare(t *Tree, name string, before map[string]entry) (*Change, error) {
	from, was := before[name]
	hash := from.hash
	now, err := t.readFile(name)
	opaque := errors.Is(err, ErrTooLarge)
	is := err == nil || opaque
	c := &Change{Path: name, Kind: ChangeModified, Role: sourcefile.KindOf(name), Opaque: opaque}
	switch {
	case !was && !is:
		return nil, nil //nolint:nilnil // no change is an answer
	case !was:
		c.Kind = ChangeAdded
	case !is:
		c.Kind = ChangeRemoved
	case !opaque && plumbing.ComputeHash(plumbing.BlobObject, now) == hash, opaque && t.sameFile(name, hash):
		return nil, nil //nolint:nilnil // no change is an answer
	}
	var old []byte
	if was {
		var large bool
		if old, large, err = r.blob(hash); err != nil {
			return nil, err
		}
		opaque = opaque || large
	}
	if opaque || isBinary(old) || isBinary(now) {
		c.Opaque = true
		return c, nil
	}
	if c.Role == abi.SourceTest {
		t.oldTests[name] = old
	}
	c.Hunks = diffLines(splitLines(string(old)), splitLines(string(now)))
	if len(c.Hunks) == 0 && c.Kind == ChangeModified {
		return nil, nil //nolint:nilnil // only the ends of lines differ, as a checkout may have it
	}
	markCode(name, old, now, c.Hunks)
	return c, nil
}

// sameFile compares a file that is too large to keep with what the repository has of it.
func (t *Tree) sameFile(name string, hash plumbing.Hash) bool {
	file, err := t.root.Open(filepath.FromSlash(name))
	if err != nil {
		return false
	}
	defer file.Close() // it was only read
	info, err := file.Stat()
	if err != nil {
		return false
	}
	hasher := plumbing.NewHasher(plumbing.BlobObject, info.Size())
	_, err = io.Copy(hasher, file)
	return err == nil && hasher.Sum() == hash
}

// blob reads a file of the repository, if it is not too large.
func (r *repository) blob(hash plumbing.Hash) (data []byte, large bool, err error) {
	// Of objects that are borrowed from another repository the size is known only with the object.
	if size, err := r.EncodedObjectSize(hash); err == nil && size > maxFileBytes {
		return nil, true, nil
	}
	blob, err := object.GetBlob(r, hash)
	if err != nil || blob.Size > maxFileBytes {
		return nil, err == nil, err
	}
	reader, err := blob.Reader()
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(reader, maxFileBytes)); err != nil {
		return nil, false, err
	}
	return b.Bytes(), false, nil
}

// bound counts the lines of a change and cuts its text to what room is left.
func bound(c Change, room *int) Change {
	for i := range c.Hunks {
		h := &c.Hunks[i]
		c.RemovedLines += h.OldLines
		c.AddedLines += h.NewLines
		h.Removed, h.Added = boundLines(h.Removed, room), boundLines(h.Added, room)
	}
	c.Hunks = slices.Clip(c.Hunks[:min(len(c.Hunks), maxHunks)])
	return c
}

func boundLines(lines []string, room *int) []string {
	var kept []string
	for _, line := range lines[:min(len(lines), maxHunkLines)] {
		line = tidy(line)
		if *room -= len(line) + 1; *room < 0 {
			*room = 0
			break
		}
		kept = append(kept, line)
	}
	return kept
}
