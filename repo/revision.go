package repo

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Commit gives the whole id of the commit that a revision names. Errors: ErrRevision, and ErrAmbiguous with the names to choose from, where git
// would take a tag rather than a branch.
func (r *Repository) Commit(ctx context.Context, revision string) (string, error) {
	id, err := r.resolve(ctx, revision)
	if err != nil {
		return "", fmt.Errorf("%w %q%s", ErrRevision, revision, cmp.Or(r.advice(ctx), r.hint(ctx, revision)))
	}
	name := shortName.FindString(revision)
	meant, err := r.meant(ctx, name)
	if err != nil {
		return "", err
	}
	for _, other := range meant {
		if found, err := r.resolve(ctx, other+revision[len(name):]); err == nil && found != id {
			return "", fmt.Errorf("%w %q: use %s", ErrAmbiguous, revision, strings.Join(meant, " or "))
		}
	}
	return id, nil
}

func (r *Repository) resolve(ctx context.Context, revision string) (string, error) {
	id, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	return strings.TrimSpace(string(id)), err
}

var (
	shortName = regexp.MustCompile(`^(?:[^~^:@]|@[^{])*`) // before the steps of a revision
	hexName   = regexp.MustCompile(`^[0-9a-fA-F]{4,}$`)
)

// mostObjects is how many objects that begin with the same digits are looked at.
const mostObjects = 10

// meant are the tags, branches and commits that a short name may mean. A whole id, HEAD and the whole name of a reference have one meaning.
func (r *Repository) meant(ctx context.Context, name string) ([]string, error) {
	isHex := hexName.MatchString(name)
	if isHex && len(name) == 2*r.newHash().Size() || name == "" || name == "HEAD" || strings.HasPrefix(name, "refs/") || strings.ContainsAny(name, `*?[\`) {
		return nil, nil
	}
	places := []string{"refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD"}
	listed, err := r.git(ctx, append([]string{"for-each-ref", "--format=%(refname)", "--"}, places...)...)
	if err != nil {
		return nil, err
	}
	// A pattern matches what lies below it, too.
	found := slices.DeleteFunc(strings.Fields(string(listed)), func(ref string) bool { return !slices.Contains(places, ref) })
	if len(found) == 0 || !isHex {
		return found, nil
	}
	objects, err := r.git(ctx, "rev-parse", "--disambiguate="+name)
	ids := strings.Fields(string(objects))
	return append(found, ids[:min(len(ids), mostObjects)]...), err
}

// hint names the branch or tag that a revision most likely means: that of a remote, since a clone of a server often has no branch main but
// origin/main, or else one that is spelled much like it; where there is none, some that there are.
func (r *Repository) hint(ctx context.Context, revision string) string {
	listed, err := r.git(ctx, "for-each-ref", "--format=%(refname)", "--", "refs/heads/", "refs/tags/", "refs/remotes/")
	if err != nil {
		return ""
	}
	name := shortName.FindString(revision)
	var names []string
	best, least := "", max(2, min(len(name)/2, 4))+1
	for full := range strings.FieldsSeq(string(listed)) {
		rest, remote := strings.CutPrefix(full, "refs/remotes/")
		if _, branch, _ := strings.Cut(rest, "/"); remote && branch == name {
			best = rest
			break
		}
		short := strings.TrimPrefix(strings.TrimPrefix(rest, "refs/heads/"), "refs/tags/")
		names = append(names, short)
		if d := edits(name, short); d < least || d == least && short < best {
			best, least = short, d
		}
	}
	switch slices.Sort(names); {
	case best != "":
		return "; did you mean " + strconv.Quote(best+revision[len(name):]) + "?"
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
