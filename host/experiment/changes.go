package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
)

// piece is where a change touched a file of head: lines that it added or changed, or the two around lines that it removed.
type piece struct {
	first, last int
	removed     bool // code, not only comments
}

// changes are the files of the product that differ between base and head and whose lines a toolchain can follow, by their paths in head.
type changes map[string][]piece

// digest names the changes; it is empty if none are measured.
func (c changes) digest() string {
	if c == nil {
		return ""
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(h, "%s %v\x00", name, c[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// The bounds of the changes that are followed.
const (
	maxChangedFiles = 500
	maxChangedFile  = 4 << 20
)

// changesOf are the changes of a Lab by toolchain.
type changesOf struct {
	mu   sync.Mutex
	made map[string]changes
}

// follows lists the changed files of the product that a toolchain can follow; nil where none of them was there before: what was added has
// no lines that the change touched.
func (l *Lab) follows(t toolchain) []string {
	head, base := l.trees[revisions{abi.Head, abi.Head}], l.trees[revisions{abi.Base, abi.Base}]
	if base == nil {
		return nil
	}
	var list []string
	modified := false
	for _, name := range head.tree.Changed(base.tree) {
		f, ok := head.tree.File(name)
		if !ok || f.Mode == tree.Symlink || sourcefile.IsTest(name) || !t.covers(name) {
			continue
		}
		_, before := base.tree.File(name)
		modified = modified || before
		list = append(list, name)
	}
	if !modified || len(list) > maxChangedFiles {
		return nil
	}
	return list
}

// errNoChange: the change has no lines of the product that could be followed.
var errNoChange = errors.New("the change has no code whose execution could be measured")

// changes compares the files that a toolchain can follow, by lines.
func (l *Lab) changes(ctx context.Context, t toolchain) (changes, error) {
	l.changed.mu.Lock()
	defer l.changed.mu.Unlock()
	key := t.about().name
	if c := l.changed.made[key]; c != nil {
		return c, nil
	}
	list := l.follows(t)
	if len(list) == 0 {
		return nil, errNoChange
	}
	scratch, err := os.MkdirTemp(l.dir.Path, "diff")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	head, base := l.trees[revisions{abi.Head, abi.Head}].tree, l.trees[revisions{abi.Base, abi.Base}].tree
	hunks, err := tree.Lines(ctx, base, head, list, maxChangedFile, scratch)
	if err != nil {
		return nil, err
	}
	c := changes{}
	for _, name := range list {
		now, _ := head.File(name)
		if before, _ := base.File(name); len(hunks[name]) == 0 && now.Blob != before.Blob {
			return nil, fmt.Errorf("%s is too large to be compared by lines", name)
		}
		for _, h := range hunks[name] {
			if !slices.ContainsFunc(h.Added, isCode) && !slices.ContainsFunc(h.Removed, isCode) {
				continue
			}
			p := piece{first: h.First, last: h.First + h.Count - 1, removed: slices.ContainsFunc(h.Removed, isCode)}
			if h.Count == 0 {
				p.last = h.First + 1
			}
			c[name] = append(c[name], p)
		}
	}
	if len(c) == 0 {
		return nil, errNoChange
	}
	if l.changed.made == nil {
		l.changed.made = map[string]changes{}
	}
	l.changed.made[key] = c
	return c, nil
}

// notCode are lines without code, in all languages that are followed: comments, imports and brackets.
var notCode = regexp.MustCompile(`^\s*(?://.*|#.*|import\b.*|from\b.*|(?:[\w.]+ )?"+[^"]*"+|[})\];,]*)\s*$`)

func isCode(line string) bool { return !notCode.MatchString(line) }

// seen counts the changed pieces that were executed, that were not, and those of which that is not known.
type seen struct {
	Executed  int  `json:"executed"`
	Missed    int  `json:"missed"`
	Unknown   int  `json:"unknown"`
	Processes bool `json:"processes"` // were started: what they execute is not known
}

// changed is what the counts say of the change. That it was not executed is said only if every piece is known.
func (s *seen) changed() abi.ChangedCode {
	switch {
	case s.Executed > 0:
		return abi.CodeExecuted
	case s.Missed > 0 && s.Unknown == 0 && !s.Processes:
		return abi.CodeNotExecuted
	}
	return ""
}

// sight is what is known of a line.
type sight int

const (
	silent sight = iota // nothing in it could be seen: a comment, an import
	missed
	unknown // it runs when a program starts, or is no code: what uses it is not known
	executed
)

// add adds the pieces of a file, of whose lines the function tells what is known. ran says whether any of its functions was executed: it
// stands for lines of which nothing is known.
func (s *seen) add(pieces []piece, ran bool, of func(line int) sight) {
	look := func(first, last int) sight {
		best := silent
		for n := max(first, 1); n <= last; n++ {
			best = max(best, of(n))
		}
		return best
	}
	for _, p := range pieces {
		found := look(p.first, p.last)
		if found == silent && p.removed {
			if found = look(p.first-1, p.last+1); found == silent {
				found = unknown
			}
		}
		switch {
		case found == executed, found == unknown && ran:
			s.Executed++
		case found == unknown:
			s.Unknown++
		case found == missed:
			s.Missed++
		}
	}
}

// traceFolder is the folder in the scratch folder for what tells of a run. The test can write to it.
const traceFolder = "trace"

// newTrace makes the folder empty.
func newTrace(scratch string) (string, error) {
	folder := filepath.Join(scratch, traceFolder)
	return folder, errors.Join(removeAll(folder), os.Mkdir(folder, 0o700))
}

// maxTraceBytes of a file that tells of a run are read. The test may have written it: what is larger tells nothing.
const maxTraceBytes = 32 << 20

// traceFile reads a file of the folder; empty if there is no plain file of that name or if it is too large.
func traceFile(scratch, name string) []byte {
	data, err := plainFile(scratch, filepath.Join(traceFolder, name), maxTraceBytes)
	if err != nil {
		return nil
	}
	return data
}
