package source

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

const (
	// maxCommits bounds the commits since the revision that are looked at, the latest first; maxAncestors those before it.
	maxCommits      = 500
	maxAncestors    = 5000
	maxMessageBytes = 4 << 10
	hashDigits      = 12
)

// Commit is a commit since the revision.
type Commit struct {
	Hash    string // the first 12 digits
	Author  string
	Message string
}

// history is the commits between the revision and HEAD. Its methods may be called concurrently.
type history struct {
	repo    *repository
	commits []*object.Commit // the latest first
	files   memo[[]fileCommit]
	began   string // the commit at which HEAD left the history of the revision, if it did
	ahead   int    // commits of the revision since then
}

// fileCommit is what a commit did to a file.
type fileCommit struct {
	commit         *object.Commit
	removed, added map[string]bool // lines that are not blank
}

// newHistory lists the commits that HEAD has and since has not. Where the clone ends, so does the list.
func newHistory(repo *repository, since *object.Commit) *history {
	h := &history{repo: repo}
	head, err := repo.named("HEAD")
	if err != nil {
		return h // a repository without commits on its branch
	}
	known := map[plumbing.Hash]bool{}
	for _, c := range ancestors(since, nil, maxAncestors) {
		known[c.Hash] = true
	}
	h.commits = ancestors(head, known, maxCommits)
	h.fork(head, since, known)
	return h
}

// fork finds where HEAD left the history of since, if since is none of its ancestors. Where that is not certain, there is none.
func (h *history) fork(head, since *object.Commit, known map[plumbing.Hash]bool) {
	if head.Hash == since.Hash || len(h.commits) == maxCommits {
		return
	}
	var at *object.Commit // the latest that both have
	if known[head.Hash] {
		at = head
	}
	for _, c := range h.commits {
		for i, hash := range c.ParentHashes {
			if hash == since.Hash {
				return
			}
			if parent, err := c.Parent(i); known[hash] && err == nil && (at == nil || parent.Committer.When.After(at.Committer.When)) {
				at = parent
			}
		}
	}
	if at == nil {
		return
	}
	both := map[plumbing.Hash]bool{}
	for _, c := range ancestors(at, nil, maxAncestors) {
		both[c.Hash] = true
	}
	h.began, h.ahead = at.Hash.String()[:hashDigits], len(ancestors(since, both, maxCommits))
}

// ancestors are a commit and those before it, by the time of the commit, the latest first; without what is in not.
func ancestors(from *object.Commit, not map[plumbing.Hash]bool, most int) []*object.Commit {
	later := func(a, b *object.Commit) int {
		if n := b.Committer.When.Compare(a.Committer.When); n != 0 {
			return n
		}
		return strings.Compare(a.Hash.String(), b.Hash.String())
	}
	var list []*object.Commit
	seen := map[plumbing.Hash]bool{from.Hash: true}
	queue := []*object.Commit{from}
	for len(queue) > 0 && len(list) < most {
		c := queue[0]
		queue = queue[1:]
		if not[c.Hash] {
			continue
		}
		list = append(list, c)
		for i := range c.ParentHashes {
			if seen[c.ParentHashes[i]] {
				continue
			}
			seen[c.ParentHashes[i]] = true
			if parent, err := c.Parent(i); err == nil {
				at, _ := slices.BinarySearchFunc(queue, parent, later)
				queue = slices.Insert(queue, at, parent)
			}
		}
	}
	return list
}

// of is the latest commit that removed or added a line of a hunk; nil where it is not committed, or not known.
func (h *history) of(file string, hunk *Hunk) *Commit {
	if h == nil {
		return nil
	}
	for _, c := range h.files.of(file, func() []fileCommit { return h.commitsOf(file) }) {
		has := func(lines map[string]bool) func(string) bool { return func(line string) bool { return lines[line] } }
		if slices.ContainsFunc(hunk.Added, has(c.added)) || slices.ContainsFunc(hunk.Removed, has(c.removed)) {
			message := c.commit.Message[:min(len(c.commit.Message), maxMessageBytes)]
			return &Commit{c.commit.Hash.String()[:hashDigits], tidy(c.commit.Author.Name), strings.ToValidUTF8(message, "\uFFFD")}
		}
	}
	return nil
}

func (h *history) commitsOf(file string) []fileCommit {
	if h.repo.prefix != "" {
		file = h.repo.prefix + "/" + file
	}
	var list []fileCommit
	for _, c := range h.commits {
		now, err := entryOf(c, file)
		changed := err == nil
		var before plumbing.Hash
		for i := range c.ParentHashes {
			parent, err := c.Parent(i)
			if err != nil {
				changed = false
				break
			}
			if before, err = entryOf(parent, file); err != nil || before == now {
				changed = false // a merge that took the file from a parent changed nothing of it
				break
			}
		}
		if !changed {
			continue
		}
		old, _, err := h.repo.blob(before)
		if before.IsZero() {
			old, err = nil, nil
		}
		text, _, also := h.repo.blob(now)
		if now.IsZero() {
			text, also = nil, nil
		}
		if err != nil || also != nil {
			continue // the clone does not have them
		}
		f := fileCommit{commit: c, removed: map[string]bool{}, added: map[string]bool{}}
		for _, hunk := range diffLines(splitLines(string(old)), splitLines(string(text))) {
			note(f.removed, hunk.Removed)
			note(f.added, hunk.Added)
		}
		list = append(list, f)
	}
	return list
}

// note keeps lines that say something, as hunks have them.
func note(set map[string]bool, lines []string) {
	for _, line := range lines {
		if len(strings.TrimSpace(line)) > 1 {
			set[tidy(line)] = true
		}
	}
}

// entryOf is the name of a file's content in a commit, zero where it has no such file.
func entryOf(c *object.Commit, file string) (plumbing.Hash, error) {
	tree, err := c.Tree()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	entry, err := tree.FindEntry(file)
	if errors.Is(err, object.ErrEntryNotFound) || errors.Is(err, object.ErrDirectoryNotFound) {
		return plumbing.ZeroHash, nil
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return entry.Hash, nil
}
