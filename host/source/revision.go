package source

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

const (
	minHashDigits = 4
	maxSteps      = 10_000
)

// commit finds what a revision names: HEAD, @, a branch, a tag, a commit's hash or the beginning of one, and from there
// ~N (the Nth first parent) and ^N (the Nth parent).
func (r *repository) commit(revision string) (*object.Commit, error) {
	parts := revisionText.FindStringSubmatch(revision)
	if parts == nil {
		return nil, fmt.Errorf("%w %q", ErrRevision, revision)
	}
	c, err := r.named(parts[1])
	switch {
	case errors.Is(err, ErrAmbiguous):
		return nil, err
	case errors.Is(err, plumbing.ErrReferenceNotFound):
		return nil, fmt.Errorf("%w %q%s", ErrRevision, revision, r.hint(parts[1], parts[2]))
	}
	for _, step := range revisionStep.FindAllStringSubmatch(parts[2], -1) {
		n := 1
		if step[2] != "" && err == nil {
			n, err = strconv.Atoi(step[2])
		}
		if err == nil {
			c, err = move(c, step[1], n)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrRevision, revision, err)
	}
	return c, nil
}

// revisionText is a name and the steps from there.
var (
	revisionText = regexp.MustCompile(`^([^~^]*)((?:[~^]\d*)*)$`)
	revisionStep = regexp.MustCompile(`([~^])(\d*)`)
)

func move(c *object.Commit, sign string, n int) (*object.Commit, error) {
	if n > maxSteps {
		return nil, fmt.Errorf("more than %d steps", maxSteps)
	}
	if sign == "^" {
		if n == 0 {
			return c, nil
		}
		return c.Parent(n - 1)
	}
	var err error
	for ; n > 0 && err == nil; n-- {
		c, err = c.Parent(0)
	}
	return c, err
}

// named finds the commit of a name. A whole hash, HEAD and the whole name of a reference have one meaning; of others, each is looked for, since git
// would take a tag rather than the branch that is meant.
func (r *repository) named(name string) (*object.Commit, error) {
	switch {
	case name == "HEAD" || name == "@":
		return r.reference("HEAD")
	case strings.HasPrefix(name, "refs/"): // no other name with a place: those would be files of the repository
		return r.reference(name)
	case len(name) == hex.EncodedLen(len(plumbing.ZeroHash)) && plumbing.IsHash(name):
		return r.peel(plumbing.NewHash(name))
	}
	var found *object.Commit
	var meant []string
	different := false
	note := func(full string, c *object.Commit) {
		different = different || found != nil && found.Hash != c.Hash
		found = cmp.Or(found, c)
		meant = append(meant, full)
	}
	for _, prefix := range []string{"refs/", "refs/tags/", "refs/heads/", "refs/remotes/"} {
		switch c, err := r.reference(prefix + name); {
		case err == nil:
			note(prefix+name, c)
		case !errors.Is(err, plumbing.ErrReferenceNotFound):
			return nil, err
		}
	}
	switch c, err := r.abbreviated(name); {
	case err == nil:
		note(c.Hash.String(), c)
	case found == nil:
		return nil, err
	}
	if different {
		return nil, fmt.Errorf("%w %q: use %s", ErrAmbiguous, name, strings.Join(meant, " or "))
	}
	return found, nil
}

// reference finds the commit of a reference by its whole name.
func (r *repository) reference(name string) (*object.Commit, error) {
	ref, err := storer.ResolveReference(r, plumbing.ReferenceName(name))
	if err != nil {
		return nil, plumbing.ErrReferenceNotFound // also where it is no name of a reference at all
	}
	return r.peel(ref.Hash())
}

// hint names the branch or tag that a name most likely means: that of a remote, since a clone of a server often has no branch main but
// origin/main, or else one that is spelled much like it; where there is none, some that there are. steps are what follows the name.
func (r *repository) hint(name, steps string) string {
	refs, err := r.IterReferences()
	if err != nil {
		return ""
	}
	defer refs.Close()
	var names []string
	best, least := "", max(2, min(len(name)/2, 4))+1
	for ref, err := refs.Next(); err == nil; ref, err = refs.Next() {
		short := ref.Name().Short()
		if !ref.Name().IsBranch() && !ref.Name().IsTag() && !ref.Name().IsRemote() {
			continue
		}
		if _, branch, _ := strings.Cut(short, "/"); ref.Name().IsRemote() && branch == name {
			best = short
			break
		}
		names = append(names, short)
		if d := edits(name, short); d < least || d == least && short < best {
			best, least = short, d
		}
	}
	switch slices.Sort(names); {
	case best != "":
		return "; did you mean " + strconv.Quote(best+steps) + "?"
	case len(names) > 0:
		return "; the repository has " + strings.Join(names[:min(len(names), 5)], ", ")
	}
	return ""
}

// edits counts the characters to change, add or remove until one word is the other.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// abbreviated finds the one commit or tag whose hash begins so.
func (r *repository) abbreviated(name string) (*object.Commit, error) {
	name = strings.ToLower(name)
	even, err := hex.DecodeString(name[:len(name)-len(name)%2])
	if err != nil || len(name) < minHashDigits || strings.Trim(name, "0123456789abcdef") != "" {
		return nil, plumbing.ErrReferenceNotFound
	}
	hashes, err := r.HashesWithPrefix(even)
	if err != nil {
		return nil, err
	}
	found := map[plumbing.Hash]*object.Commit{}
	for _, hash := range hashes {
		if !strings.HasPrefix(hash.String(), name) {
			continue
		}
		if c, err := r.peel(hash); err == nil {
			found[c.Hash] = c
		}
	}
	if len(found) > 1 {
		return nil, errors.New("several commits begin so")
	}
	for _, c := range found {
		return c, nil
	}
	if _, err := r.Filesystem().Stat(filepath.Join("objects", "info", "alternates")); err == nil {
		return nil, fmt.Errorf("%w: the clone borrows objects: write the whole hash", plumbing.ErrReferenceNotFound)
	}
	return nil, plumbing.ErrReferenceNotFound
}

// peel follows tags to their commit.
func (r *repository) peel(hash plumbing.Hash) (*object.Commit, error) {
	for range 10 {
		tag, err := object.GetTag(r, hash)
		if err != nil {
			return object.GetCommit(r, hash)
		}
		hash = tag.Target
	}
	return nil, errors.New("tags of tags of tags")
}
