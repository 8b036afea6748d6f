package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// Base is the commit that a change begins at.
type Base struct {
	Commit string // the whole id
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

// FindBase finds where the change in the opened folder begins: by the variables of a CI platform, else as the merge base of HEAD with its
// upstream or with the default branch. Where that is HEAD itself, it is HEAD for changes that are not committed, and the commit before it
// otherwise. variable gives the value of an environment variable. Nothing is fetched. Errors: ErrNoBase, with what would help, and those of git.
func (r *Repository) FindBase(ctx context.Context, variable func(string) string) (Base, error) {
	head, err := r.Commit(ctx, "HEAD")
	if err != nil {
		return Base{}, err
	}
	for _, name := range baseCommits {
		if value := variable(name); value != "" {
			// A clone may lack the commit and have the branch. The commit may lie ahead of where the change began.
			c, err := r.Commit(ctx, value)
			if err == nil {
				return r.mergeBase(ctx, head, c, c[:shortID], " ("+name+")")
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
		name, c := r.branch(ctx, branch)
		if c == "" {
			return Base{}, fmt.Errorf("%w: %s names the branch %q, which the clone does not have: fetch it (of GitHub's checkout: fetch-depth: 0)", ErrNoBase, names[0], branch)
		}
		return r.mergeBase(ctx, head, c, name, " ("+names[0]+")")
	}
	name, c := r.compared(ctx)
	if c != "" {
		base, err := r.mergeBase(ctx, head, c, name, "")
		if err != nil || base.Commit != head {
			return base, err
		}
	}
	return r.onTip(ctx, head, c == "")
}

// BaseOf is the base that a revision names: its commit where HEAD contains it, else the merge base with it, since what others changed there
// is not of this change.
func (r *Repository) BaseOf(ctx context.Context, revision string) (Base, error) {
	c, err := r.Commit(ctx, revision)
	if err != nil {
		return Base{}, err
	}
	head, err := r.Commit(ctx, "HEAD")
	if err != nil {
		return Base{}, err
	}
	base, err := r.mergeBase(ctx, head, c, revision, "")
	if err != nil || base.Commit == c {
		return Base{Commit: c, Why: revision}, ctx.Err() // without a commit in common it is what was asked for
	}
	return base, nil
}

// shortID is how many digits of an id people are told.
const shortID = 12

// mergeBase is the last commit that HEAD has in common with a commit of this name.
func (r *Repository) mergeBase(ctx context.Context, head, c, name, found string) (Base, error) {
	out, err := r.git(ctx, "merge-base", head, c)
	if ctx.Err() != nil {
		return Base{}, context.Cause(ctx)
	}
	if failed, ok := errors.AsType[*gitError](err); err != nil && (!ok || failed.line != "") {
		return Base{}, fmt.Errorf("merge base of HEAD and %s: %w%s", name, err, r.advice(ctx))
	}
	if err != nil {
		if advice := r.advice(ctx); advice != "" {
			return Base{}, fmt.Errorf("%w: HEAD and %s have no commit in common here%s", ErrNoBase, name, advice)
		}
		return Base{}, fmt.Errorf("%w: HEAD and %s have no commit in common", ErrNoBase, name)
	}
	return Base{strings.TrimSpace(string(out)), "merge base of HEAD and " + name + found, false}, nil
}

// branch finds a branch, that of a remote first: a local one may be old. The commit is empty where there is none.
func (r *Repository) branch(ctx context.Context, name string) (full, commit string) {
	for _, full := range []string{"refs/remotes/origin/" + name, "refs/remotes/upstream/" + name, "refs/heads/" + name} {
		if c, err := r.Commit(ctx, full); err == nil {
			return r.short(ctx, full), c
		}
	}
	return "", ""
}

// short is the short name of a reference, or the whole one where the short one may mean something else.
func (r *Repository) short(ctx context.Context, full string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(full, "refs/remotes/"), "refs/heads/")
	if _, err := r.Commit(ctx, name); err != nil {
		return full
	}
	return name
}

// compared finds what the branch of HEAD is compared with: its upstream, unless that is the same branch of a remote, or else the default
// branch. The commit is empty where there is none.
func (r *Repository) compared(ctx context.Context) (name, commit string) {
	if current, err := r.git(ctx, "symbolic-ref", "--quiet", "HEAD"); err == nil {
		current := strings.TrimSpace(string(current))
		out, err := r.git(ctx, "for-each-ref", "--format=%(upstream) %(upstream:remoteref)", "--", current)
		if upstream := strings.Fields(string(out)); err == nil && len(upstream) == 2 && upstream[1] != current {
			if c, err := r.Commit(ctx, upstream[0]); err == nil {
				return r.short(ctx, upstream[0]), c
			}
		}
	}
	if target, err := r.git(ctx, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"); err == nil {
		full := strings.TrimSpace(string(target))
		if c, err := r.Commit(ctx, full); err == nil {
			return r.short(ctx, full), c
		}
	}
	for _, name := range []string{"main", "master", "trunk"} {
		if full, c := r.branch(ctx, name); c != "" {
			return full, c
		}
	}
	return "", ""
}

// onTip is the base of a change on the tip of the branch that it would be compared with, or where there is none.
func (r *Repository) onTip(ctx context.Context, head string, guessed bool) (Base, error) {
	changes, err := r.Changes(ctx, head)
	if err != nil {
		return Base{}, err
	}
	if len(changes.Paths) > 0 {
		return Base{head, "HEAD, since there are changes that are not committed", guessed}, nil
	}
	// A shallow clone may have the commit before HEAD, and tell of none.
	text, err := r.git(ctx, "cat-file", "commit", head)
	if err != nil {
		return Base{}, err
	}
	header, _, _ := strings.Cut(string(text), "\n\n")
	_, parents, found := strings.Cut(header, "\nparent ")
	if !found {
		return Base{}, fmt.Errorf("%w: HEAD is the first commit", ErrNoBase)
	}
	before, _, _ := strings.Cut(parents, "\n")
	if before, err = r.resolve(ctx, before); err != nil {
		return Base{}, fmt.Errorf("%w: the commit before HEAD can't be read%s", ErrNoBase, r.advice(ctx))
	}
	why := "the commit before HEAD, since HEAD is on the branch that it would be compared with"
	if guessed {
		why = "the commit before HEAD, since no branch is known to compare it with"
	}
	return Base{before, why, guessed}, nil
}

// Shallow says whether the clone lacks commits.
func (r *Repository) Shallow(ctx context.Context) bool { return r.advice(ctx) != "" }

// Fork gives the commit at which HEAD left the history of a commit, and how many commits that has since then, at most 500. Where it is an
// ancestor of HEAD, or has no commit in common, began is empty.
func (r *Repository) Fork(ctx context.Context, commit string) (began string, ahead int, err error) {
	counted, err := r.git(ctx, "rev-list", "--count", "--max-count=500", "HEAD.."+commit, "--")
	if err != nil {
		return "", 0, err
	}
	ahead, err = strconv.Atoi(strings.TrimSpace(string(counted)))
	if err != nil || ahead == 0 {
		return "", 0, err
	}
	base, err := r.mergeBase(ctx, "HEAD", commit, commit, "")
	if err != nil {
		return "", 0, ctx.Err()
	}
	return base.Commit, ahead, nil
}

// FileAt reads a file of a revision, of at most limit bytes. name is its path from the top of the repository, with slashes. What is no regular
// file is fs.ErrNotExist. Errors: ErrRevision, ErrAmbiguous, ErrTooLarge, and those of git.
func (r *Repository) FileAt(ctx context.Context, revision, name string, limit int64) ([]byte, error) {
	commit, err := r.Commit(ctx, revision)
	if err != nil {
		return nil, err
	}
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	listed, err := r.git(ctx, "ls-tree", "-z", "--full-tree", commit, "--", name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w: run git fetch --refetch --no-filter", ErrIncomplete, err)
	}
	files, err := parse(listed, 2, nil)
	if err != nil {
		return nil, err
	}
	if f := files[name]; f.Mode != Regular && f.Mode != Executable {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	data, err := (&Tree{repository: r, files: files}).Read(ctx, name, limit+1)
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	return data, err
}

// Changes are the differences of the working tree from a commit in the opened folder.
type Changes struct {
	Before, Now *Tree
	// Paths are those at which regular files or submodules differ, from the top of the repository, sorted. Of files that git does not
	// track, only programs and tests count: they are compiled and run with the others.
	Paths []string
}

// Changes compares the working tree with a commit.
func (r *Repository) Changes(ctx context.Context, commit string) (c Changes, err error) {
	if c.Before, err = r.At(ctx, commit); err != nil {
		return c, err
	}
	if c.Now, err = r.Head(ctx); err != nil {
		return c, err
	}
	for _, name := range c.Now.Changed(c.Before) {
		old, now := c.Before.files[name], c.Now.files[name]
		programs := path.Ext(name) == ".go" || isOtherLanguage(name)
		switch {
		case !r.within(name), old.Blob == now.Blob && old.Mode != Symlink && now.Mode != Symlink:
		case old.Mode != Regular && old.Mode != Executable && now.Mode != Regular && now.Mode != Executable:
		case now.untracked && (!programs || sourcefile.KindOf(name) == abi.SourceOther || sourcefile.Installed(name)):
		default:
			c.Paths = append(c.Paths, name)
		}
	}
	for _, names := range []map[string]string{c.Before.modules, c.Now.modules} {
		for name := range names {
			if r.within(name) && c.Before.modules[name] != c.Now.modules[name] {
				c.Paths = append(c.Paths, name)
			}
		}
	}
	slices.Sort(c.Paths)
	c.Paths = slices.Compact(c.Paths)
	return c, nil
}

// within says whether a path lies in the opened folder.
func (r *Repository) within(name string) bool {
	return r.dir == "." || strings.HasPrefix(name, r.dir+"/")
}

// isOtherLanguage says whether a file is a program that no Go package embeds as its data.
func isOtherLanguage(name string) bool {
	switch path.Ext(name) {
	case ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".java", ".kt", ".scala", ".groovy", ".rb", ".rs", ".cs", ".php", ".swift", ".ex", ".exs":
		return true
	}
	return false
}
