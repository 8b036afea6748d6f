package culprit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/repo"
)

// LineConfig says which commits are searched.
type LineConfig struct {
	// Source is a folder of the module under test, in a git repository or a subfolder of one.
	Source string
	// Base is a revision at which the test still passed, and Head one at which it fails. Head may be empty: then it is the working tree, whose
	// changes that are not committed are one more commit.
	Base, Head string
	// HeadTests has the tests of head run at every commit, and not only at those that lack the failing test: for a test that was changed so
	// that it shows the failure.
	HeadTests bool
	// Most is the most commits that are searched. Default: 4096.
	Most int
	// Lab says how the test is run. Source, Commit, Green and Mode are set here. Budget and PerCase limit the runs of one commit; default
	// of Budget: an hour, since the options of the search have a limit of their own.
	Lab experiment.Config
	// Open is the most commits whose trees and builds are kept at the same time. Default: 8.
	Open int
}

const (
	defaultMostCommits = 4096
	defaultOpen        = 8
	labBudget          = time.Hour
)

// Line is a line of commits, with what was built of them. Not safe for concurrent use.
type Line struct {
	config     LineConfig
	repository *repo.Repository
	base       string
	head       string // a full id, or empty for the working tree
	commits    []repo.Commit
	files      []string // of head, sorted
	labs       labs
}

// OpenLine lists the commits from the base, which is left out, to head, along first parents. The caller closes the Line. Errors: those of
// [repo.Open] and [repo.Repository.Line].
func OpenLine(ctx context.Context, c LineConfig) (*Line, error) {
	c.Most, c.Open, c.Lab.Budget = cmp.Or(c.Most, defaultMostCommits), cmp.Or(c.Open, defaultOpen), cmp.Or(c.Lab.Budget, labBudget)
	c.Lab.PerCase = cmp.Or(c.Lab.PerCase, c.Lab.Budget)
	if c.Most < 1 || c.Most > MaxCommits || c.Open < 1 {
		return nil, fmt.Errorf("%d commits, %d open: expected positive numbers, and at most %d commits", c.Most, c.Open, MaxCommits)
	}
	r, err := repo.Open(ctx, c.Source)
	if err != nil {
		return nil, err
	}
	l := &Line{config: c, repository: r}
	files, err := l.list(ctx, r)
	if err != nil {
		return nil, err
	}
	l.files = files.Paths()
	l.labs = labs{line: l}
	return l, nil
}

// list lists the commits and reads the tree of head.
func (l *Line) list(ctx context.Context, r *repo.Repository) (*repo.Tree, error) {
	var err error
	if l.config.Head != "" {
		if l.base, l.commits, err = r.Line(ctx, l.config.Base, l.config.Head, l.config.Most); err != nil {
			return nil, err
		}
		l.head = l.commits[len(l.commits)-1].ID
		return r.At(ctx, l.head)
	}
	work, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	committed, err := r.At(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	changed := work.Changed(committed)
	ids := [2]string{}
	for i, revision := range []string{l.config.Base, "HEAD"} {
		if ids[i], err = r.Commit(ctx, revision); err != nil {
			return nil, err
		}
	}
	if l.base = ids[0]; ids[0] != ids[1] || len(changed) == 0 {
		if l.base, l.commits, err = r.Line(ctx, l.config.Base, "HEAD", l.config.Most); err != nil {
			return nil, err
		}
	}
	if len(changed) > 0 {
		l.commits = append(l.commits, repo.Commit{Title: "changes that are not committed", Paths: changed})
	} else {
		l.head = l.commits[len(l.commits)-1].ID
	}
	return work, nil
}

// Base is the id of the commit before the first one. It may be older than the base of the config, where that is no first parent.
func (l *Line) Base() string { return l.base }

// Commits are the commits by their numbers in a search, less one. The ID of changes that are not committed is empty.
func (l *Line) Commits() []repo.Commit { return l.commits }

// Head is the laboratory that runs the last commit. It is that of the search, and closed with the Line.
func (l *Line) Head(ctx context.Context) (*experiment.Lab, error) {
	lab, _, err := l.labs.of(ctx, len(l.commits), false)
	return lab, err
}

// Find searches for the commit that broke the failing test of a case. Where the options have no prior, it is [Line.Prior]. A test that the base
// lacks, and that its product fails too, began to fail with the commit that brought it.
func (l *Line) Find(ctx context.Context, c *abi.Case, o Options) (Result, error) {
	if o.Prior == nil {
		o.Prior = l.Prior(c)
	}
	r := l.runner(c)
	found, err := Find(ctx, r, o)
	if err != nil || found.Ending != Before && found.Ending != None || !r.lacks[0] || l.config.HeadTests {
		return found, err
	}
	r.brought = true
	if o.Time > 0 {
		o.Time = max(o.Time-found.Time, time.Nanosecond)
	}
	return Find(ctx, r, o)
}

// Close removes all trees and builds.
func (l *Line) Close() error { return l.labs.close(0) }

// maxHunkFile bounds the files that are compared for a hunk, in bytes.
const maxHunkFile = 4 << 20

// Hunk is the place where a commit changes code that is nearest to the failing test of a case, by the rules of [Line.Prior], and the path of
// the file. Files of the product come before those of tests. The path is empty where there is none, and for changes that are not committed.
// commit is an index into [Line.Commits]. Lines are as the files have them, and not safe for a terminal.
func (l *Line) Hunk(ctx context.Context, c *abi.Case, commit int) (path string, hunk repo.Edit, err error) {
	of := &l.commits[commit]
	near, best := nearOf(c, l.files), 0.0
	for _, p := range of.Paths {
		weight := near.weight(p)
		if sourcefile.IsTest(p) {
			weight /= weightNamed / weightTests * 2
		}
		if weight > best {
			path, best = p, weight
		}
	}
	if path == "" || of.ID == "" {
		return "", repo.Edit{}, nil
	}
	old, err := l.repository.At(ctx, of.ID+"^1")
	if err != nil {
		return "", repo.Edit{}, err
	}
	now, err := l.repository.At(ctx, of.ID)
	if err != nil {
		return "", repo.Edit{}, err
	}
	hunks, err := repo.Edits(ctx, old, now, path, maxHunkFile)
	if err != nil || len(hunks) == 0 {
		return "", repo.Edit{}, err
	}
	return path, hunks[max(slices.IndexFunc(hunks, code), 0)], nil
}

// code says whether one of the changed lines looks like more than a comment or an import.
func code(h repo.Edit) bool {
	return slices.ContainsFunc(slices.Concat(h.Removed, h.Added), func(line string) bool {
		line = strings.TrimSpace(line)
		comment := strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/*")
		return line != "" && !comment && !strings.HasPrefix(line, "import ") && !strings.HasPrefix(line, `"`)
	})
}
