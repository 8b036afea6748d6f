package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/repo"
)

// line is a line of commits of which one broke a test, as it is saved: real commits, of which it keeps what they touched.
type line struct {
	ID string `json:"id"` // of the fault
	// Culprit is its number, from 1.
	Culprit int      `json:"culprit"`
	Commits []commit `json:"commits"`
	// Files are those of the tree that the failure may name, and one of each folder.
	Files []string `json:"files"`
}

type commit struct {
	// ID is empty for the commit that takes a fix back, which is not real.
	ID    string   `json:"id,omitempty"`
	Paths []string `json:"paths,omitempty"`
}

const (
	leastCommits, mostCommits = 8, 256
	mostPaths                 = 100 // of a commit
)

// collect makes the lines of all faults from the snapshots of a folder and saves them. Faults that are not on a line of first parents
// with enough commits have none.
func collect(ctx context.Context, snapshots, work string, list []fault, out string) error {
	var lines []line
	for i := range list {
		l, err := lineOf(ctx, &list[i], snapshots, work)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", list[i].ID, err)
			continue
		}
		lines = append(lines, l)
	}
	return save(out, lines)
}

func lineOf(ctx context.Context, f *fault, snapshots, work string) (line, error) {
	made, err := f.repository(ctx, snapshots, work)
	if err != nil {
		return line{}, err
	}
	end := f.Commit // a fault that takes a fix back is put among the commits before the fix
	if f.Taken == nil {
		if end, err = made.Tip(ctx); err != nil {
			return line{}, err
		}
	}
	root, err := made.Git(ctx, "rev-list", "--first-parent", "--max-parents=0", end)
	if err != nil {
		return line{}, err
	}
	r, err := repo.Open(ctx, made.Folder())
	if err != nil {
		return line{}, err
	}
	_, list, err := r.Line(ctx, strings.TrimSpace(root), end, 1<<16)
	if err != nil {
		return line{}, err
	}
	random := seeded(f.ID, "line")
	n := int(math.Round(leastCommits * math.Pow(float64(mostCommits)/leastCommits, random.Float64())))
	l := line{ID: f.ID}
	var ok bool
	if f.Taken != nil {
		ok = l.replay(list, f.Taken, n, random)
	} else {
		ok = l.around(list, f.Commit, n, random)
	}
	if !ok {
		return line{}, errors.New("too few commits on its line of first parents")
	}
	at, err := r.At(ctx, f.Commit)
	if err != nil {
		return line{}, err
	}
	l.Files = namedFiles(f, at.Paths())
	return l, nil
}

// around takes real commits with the real culprit among them.
func (l *line) around(list []repo.Commit, culprit string, n int, random *rand.Rand) bool {
	at := slices.IndexFunc(list, func(c repo.Commit) bool { return c.ID == culprit })
	if n = min(n, len(list)); at < 0 || n < leastCommits {
		return false
	}
	// The window begins where it can, so that it has n commits and the culprit.
	first, last := max(0, at-n+1), min(at, len(list)-n)
	first += random.IntN(last - first + 1)
	for _, c := range list[first : first+n] {
		l.Commits = append(l.Commits, commitOf(c))
	}
	l.Culprit = at - first + 1
	return true
}

// replay takes real commits and puts one among them that takes a fix back.
func (l *line) replay(list []repo.Commit, taken []string, n int, random *rand.Rand) bool {
	if n = min(n, len(list)+1); n < leastCommits {
		return false
	}
	for _, c := range list[len(list)-(n-1):] {
		l.Commits = append(l.Commits, commitOf(c))
	}
	l.Culprit = 1 + random.IntN(n)
	l.Commits = slices.Insert(l.Commits, l.Culprit-1, commit{Paths: taken})
	return true
}

func commitOf(c repo.Commit) commit {
	return commit{c.ID, c.Paths[:min(len(c.Paths), mostPaths)]}
}

// namedFiles are the files whose name stands in the failure, and the first one of each folder.
func namedFiles(f *fault, all []string) []string {
	named := map[string]bool{}
	for i := range f.Case.Documents {
		for p := range sourcefile.Places(f.Case.Documents[i].Text) {
			named[path.Base(p.Path)] = true
		}
	}
	folders := map[string]bool{}
	var list []string
	for _, file := range all {
		if named[path.Base(file)] || !folders[path.Dir(file)] {
			list = append(list, file)
		}
		folders[path.Dir(file)] = true
	}
	return list
}

// seeded is a source of chance that depends on names alone.
func seeded(names ...string) *rand.Rand {
	h := fnv.New64a()
	for _, n := range names {
		_, _ = h.Write([]byte(n + "\x00")) // never fails
	}
	return rand.New(rand.NewPCG(h.Sum64(), 33)) //nolint:gosec // chance that can be repeated
}

func save(file string, lines []line) error {
	return study.SaveLines(file, func(out *json.Encoder) error {
		for i := range lines {
			if err := out.Encode(&lines[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// load reads the lines of saved faults. What is not valid is an error.
func load(file string) (lines []line, err error) {
	err = study.LoadLines(file, func(in *json.Decoder) error {
		lines, err = study.Rest[line](in)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i := range lines {
		if l := &lines[i]; len(l.Commits) < leastCommits || len(l.Commits) > mostCommits || l.Culprit < 1 || l.Culprit > len(l.Commits) {
			return nil, fmt.Errorf("%s: %s: culprit %d of %d commits", file, l.ID, l.Culprit, len(l.Commits))
		}
	}
	return lines, nil
}
