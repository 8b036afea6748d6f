package repo

import (
	"cmp"
	"context"
	"errors"
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

// Commit is a commit of a line of history.
type Commit struct {
	// ID is the whole id. Author and Title are as the commit has them but for a length of 200 bytes, valid UTF-8, and not safe for a terminal.
	ID, Author, Title string
	// Merge: it has more than one parent.
	Merge bool
	// Paths are the files in which it differs from its first parent, but for names that git quotes.
	Paths []string
}

// ErrLine: there is no line of commits from one revision to another.
var ErrLine = errors.New("no commits to search")

// Line lists the commits that head has and base has not, along first parents and from the oldest to head, so that a merge is one commit. The
// id that it returns first is that of the first parent of the oldest, which is base where base is on this line.
//
// Where head is nothing but the merge of a change into base, as CI platforms check out pull requests, the commits are those of the change, and the
// merge behind them, with no paths: what fails in it alone is due to both. Errors: ErrRevision, ErrLine where there is none or there are more than
// most, or they change too many files, and those of git.
func (r *Repository) Line(ctx context.Context, base, head string, most int) (string, []Commit, error) {
	first, list, err := r.line(ctx, base, head, most)
	if err != nil || len(list) != 1 || !list[0].Merge {
		return first, list, err
	}
	merge := list[0]
	before, change, err := r.line(ctx, first, merge.ID+"^2", most-1)
	if err != nil || len(change) == 0 {
		return first, list, ctx.Err() // the merge is all that can be searched
	}
	merge.Paths = nil
	return before, append(change, merge), nil
}

func (r *Repository) line(ctx context.Context, base, head string, most int) (string, []Commit, error) {
	from, err := r.Commit(ctx, base)
	if err != nil {
		return "", nil, err
	}
	to, err := r.Commit(ctx, head)
	if err != nil {
		return "", nil, err
	}
	// Names and titles have no zero bytes, so nobody can write a commit into the title of another one.
	out, err := r.git(ctx, "log", "--first-parent", "--diff-merges=first-parent", "--name-only", "--no-renames", "--no-show-signature", "--no-notes",
		"--no-color", "--no-ext-diff", "--encoding=UTF-8", "--max-count="+strconv.Itoa(most+1), "--format=%x00%H%x00%P%x00%an%x00%s%x00", from+".."+to, "--")
	switch {
	case errors.Is(err, errTooLong):
		return "", nil, fmt.Errorf("%w: the commits change too many files: name a later base", ErrLine)
	case err != nil:
		return "", nil, fmt.Errorf("%w: %w: run git fetch --refetch --no-filter", ErrIncomplete, err)
	}
	const fields = 5
	parts := strings.Split(string(out), "\x00")[1:]
	switch n := len(parts) / fields; {
	case n == 0:
		return "", nil, fmt.Errorf("%w: %s has no commit that %s has not", ErrLine, head, base)
	case len(parts)%fields != 0:
		return "", nil, fmt.Errorf("git log lists %d fields", len(parts))
	case n > most:
		return "", nil, fmt.Errorf("%w: more than %d from %s to %s: name a later base", ErrLine, most, base, head)
	}
	var list []Commit
	first := ""
	for at := len(parts) - fields; at >= 0; at -= fields {
		p := parts[at : at+fields]
		parents := strings.Fields(p[1])
		if len(parents) == 0 {
			return "", nil, fmt.Errorf("%w: the history of %s does not reach %s%s", ErrLine, head, base, r.advice(ctx))
		}
		if first == "" {
			first = parents[0]
		}
		c := Commit{ID: p[0], Author: shorten(p[2]), Title: shorten(p[3]), Merge: len(parents) > 1}
		for name := range strings.Lines(p[4]) {
			if name = strings.TrimSuffix(name, "\n"); name != "" && !strings.HasPrefix(name, `"`) {
				c.Paths = append(c.Paths, name)
			}
		}
		list = append(list, c)
	}
	return first, list, nil
}

// maxTitleBytes is how much of a title, and of an author, is kept.
const maxTitleBytes = 200

// shorten makes a text valid UTF-8 and cuts it between characters.
func shorten(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.ToValidUTF8(text[:min(len(text), maxTitleBytes)], "")
}
