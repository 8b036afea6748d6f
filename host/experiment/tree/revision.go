package tree

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Commit gives the whole id of the commit that a revision names. Errors: ErrRevision, and ErrAmbiguous with the names to choose from, where git
// would take a tag rather than a branch.
func (r *Repository) Commit(ctx context.Context, revision string) (string, error) {
	id, err := r.resolve(ctx, revision)
	if err != nil {
		return "", fmt.Errorf("%w %q%s", ErrRevision, revision, r.advice(ctx))
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
