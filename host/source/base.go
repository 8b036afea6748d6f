package source

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Base is the commit that a change begins at.
type Base struct {
	Commit string // the whole hash
	// Why says in words what it is and how it was found, as in "merge base of HEAD and origin/main (GITHUB_BASE_REF)".
	Why string
	// Guessed says that no branch is known that the change could be compared with, so that it may have begun earlier.
	Guessed bool
}

// ErrNoBase: nothing tells where the change begins.
var ErrNoBase = errors.New("no base is known")

// baseCommits are variables with the commit that a change begins at, as CI platforms set them.
var baseCommits = []string{"CI_MERGE_REQUEST_DIFF_BASE_SHA", "BITBUCKET_PR_DESTINATION_COMMIT"}

// targetBranches are variables with the branch that a change will be merged into. Some platforms set theirs for other builds, too:
// then the second variable has to have a value, and not "false".
var targetBranches = [][2]string{
	{"GITHUB_BASE_REF"},
	{"CI_MERGE_REQUEST_TARGET_BRANCH_NAME"},
	{"CHANGE_TARGET"},
	{"BUILDKITE_PULL_REQUEST_BASE_BRANCH"},
	{"SYSTEM_PULLREQUEST_TARGETBRANCH"},
	{"BITBUCKET_PR_DESTINATION_BRANCH"},
	{"CI_COMMIT_TARGET_BRANCH"},
	{"TRAVIS_BRANCH", "TRAVIS_PULL_REQUEST"},
	{"DRONE_TARGET_BRANCH", "DRONE_PULL_REQUEST"},
}

// FindBase finds where the change in a folder begins: by the variables of a CI platform, else as the merge base of HEAD with its upstream or
// with the default branch. Where that is HEAD itself, it is HEAD for changes that are not committed, and the commit before it
// otherwise. variable gives the value of an environment variable. Nothing is fetched. Errors: ErrNoBase, with what would help, and
// those of git.
func FindBase(ctx context.Context, dir string, variable func(string) string) (Base, error) {
	r, err := openRepository(dir)
	if err != nil {
		return Base{}, err
	}
	defer r.Close()
	head, err := r.commit("HEAD")
	if err != nil {
		return Base{}, err
	}
	for _, name := range baseCommits {
		if value := variable(name); value != "" {
			// A clone may lack the commit and have the branch. The commit may lie ahead of where the change began.
			c, err := r.commit(value)
			if err == nil {
				return r.mergeBase(head, c, c.Hash.String()[:shortHash], " ("+name+")")
			}
			if errors.Is(err, ErrAmbiguous) {
				return Base{}, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for _, names := range targetBranches {
		branch := strings.TrimPrefix(variable(names[0]), "refs/heads/")
		if second := names[1]; branch == "" || second != "" && (variable(second) == "" || variable(second) == "false") {
			continue
		}
		name, c := r.branch(branch)
		if c == nil {
			return Base{}, fmt.Errorf("%w: %s names the branch %q, which the clone does not have: fetch it (of GitHub's checkout: fetch-depth: 0)", ErrNoBase, names[0], branch)
		}
		return r.mergeBase(head, c, name, " ("+names[0]+")")
	}
	guessed := true
	if name, c := r.compared(); c != nil {
		guessed = false
		base, err := r.mergeBase(head, c, name, "")
		if err != nil || base.Commit != head.Hash.String() {
			return base, err
		}
	}
	return onTip(ctx, dir, head, guessed)
}

// BaseOf is the base that a revision names: its commit where HEAD contains it, else the merge base with it, since what others changed there
// is not of this change.
func BaseOf(dir, revision string) (Base, error) {
	r, err := openRepository(dir)
	if err != nil {
		return Base{}, err
	}
	defer r.Close()
	c, err := r.commit(revision)
	if err != nil {
		return Base{}, err
	}
	head, err := r.commit("HEAD")
	if err != nil {
		return Base{}, err
	}
	base, err := r.mergeBase(head, c, revision, "")
	if err != nil || base.Commit == c.Hash.String() {
		return Base{Commit: c.Hash.String(), Why: revision}, nil // without a commit in common it is what was asked for
	}
	return base, nil
}

// shortHash is how many digits of a hash people are told.
const shortHash = 12

// mergeBase is the last commit that HEAD has in common with a commit of this name. Of several, git takes the first one, too.
func (r *repository) mergeBase(head, c *object.Commit, name, found string) (Base, error) {
	common, err := c.MergeBase(head)
	if errors.Is(err, plumbing.ErrObjectNotFound) || err == nil && len(common) == 0 {
		if shallow, failed := r.Shallow(); failed == nil && len(shallow) > 0 {
			return Base{}, fmt.Errorf("%w: HEAD and %s have no commit in common here, since the clone is shallow: run `git fetch --deepen 50`, or check out with fetch-depth: 0", ErrNoBase, name)
		}
	}
	if err != nil {
		return Base{}, fmt.Errorf("merge base of HEAD and %s: %w", name, err)
	}
	if len(common) == 0 {
		return Base{}, fmt.Errorf("%w: HEAD and %s have no commit in common", ErrNoBase, name)
	}
	return Base{common[0].Hash.String(), "merge base of HEAD and " + name + found, false}, nil
}

// branch finds a branch, that of a remote first: a local one may be old. The commit is nil where there is none.
func (r *repository) branch(name string) (string, *object.Commit) {
	for _, full := range []string{"refs/remotes/origin/" + name, "refs/remotes/upstream/" + name, "refs/heads/" + name} {
		if c, err := r.commit(full); err == nil {
			return r.short(full), c
		}
	}
	return "", nil
}

// short is the short name of a reference, or the whole one where the short one may mean something else.
func (r *repository) short(full string) string {
	name := plumbing.ReferenceName(full).Short()
	if _, err := r.named(name); err != nil {
		return full
	}
	return name
}

// compared finds what the branch of HEAD is compared with: its upstream, unless that is the same branch of a remote, or else the default
// branch. The commit is nil where there is none.
func (r *repository) compared() (string, *object.Commit) {
	current := ""
	if ref, err := r.Reference(plumbing.HEAD); err == nil && ref.Type() == plumbing.SymbolicReference {
		current = ref.Target().Short()
	}
	if config, err := r.Config(); err == nil {
		if b := config.Branches[current]; b != nil && b.Merge != "" && b.Merge.Short() != current {
			name := "refs/heads/" + b.Merge.Short()
			if b.Remote != "." {
				name = "refs/remotes/" + b.Remote + "/" + b.Merge.Short()
			}
			if c, err := r.commit(name); err == nil {
				return r.short(name), c
			}
		}
	}
	if ref, err := storer.ResolveReference(r, "refs/remotes/origin/HEAD"); err == nil {
		if c, err := r.peel(ref.Hash()); err == nil {
			return r.short(ref.Name().String()), c
		}
	}
	for _, name := range []string{"main", "master", "trunk"} {
		if full, c := r.branch(name); c != nil {
			return full, c
		}
	}
	return "", nil
}

// onTip is the base of a change on the tip of the branch that it would be compared with, or where there is none.
func onTip(ctx context.Context, dir string, head *object.Commit, guessed bool) (Base, error) {
	tree, err := Open(ctx, dir, "HEAD")
	if err != nil {
		return Base{}, err
	}
	changed := len(tree.Changed()) > 0
	if err := tree.Close(); err != nil {
		return Base{}, err
	}
	if changed {
		return Base{head.Hash.String(), "HEAD, since there are changes that are not committed", guessed}, nil
	}
	before, err := head.Parent(0)
	switch {
	case errors.Is(err, object.ErrParentNotFound):
		return Base{}, fmt.Errorf("%w: HEAD is the first commit", ErrNoBase)
	case err != nil:
		return Base{}, fmt.Errorf("%w: the commit before HEAD can't be read; is the clone shallow? Check out with fetch-depth: 0: %w", ErrNoBase, err)
	}
	why := "the commit before HEAD, since HEAD is on the branch that it would be compared with"
	if guessed {
		why = "the commit before HEAD, since no branch is known to compare it with"
	}
	return Base{before.Hash.String(), why, guessed}, nil
}

// Place is where a folder lies in its repository.
type Place struct {
	Top    string // the folder of the working tree, absolute
	Prefix string // of the folder from Top, slash-separated; empty for Top itself
	// Shallow says that the clone lacks commits.
	Shallow bool
}

// PlaceIn finds where a folder lies in its repository.
func PlaceIn(dir string) (Place, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Place{}, err
	}
	r, err := openRepository(dir)
	if err != nil {
		return Place{}, err
	}
	defer r.Close()
	shallow, err := r.Shallow()
	return Place{r.top, r.prefix, len(shallow) > 0}, err
}

// CommitID is the whole hash of the commit of a revision in the repository of a folder. Errors: [ErrRevision], [ErrAmbiguous], and those of git.
func CommitID(dir, revision string) (string, error) {
	r, err := openRepository(dir)
	if err != nil {
		return "", err
	}
	defer r.Close()
	c, err := r.commit(revision)
	if err != nil {
		return "", err
	}
	return c.Hash.String(), nil
}
