package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Tree says how a tree is made, and which commit it becomes. The same recipe gives the same commit wherever it is made.
type Tree struct {
	// Start is the commit that it begins with.
	Start string `json:"start"`
	Steps []Step `json:"steps,omitempty"`
	// Commit is the id of the commit that has the tree: Start where nothing is changed.
	Commit string `json:"commit"`
}

// Step changes a tree in one way.
type Step struct {
	// Take is a commit from which Paths are taken; those that it lacks are removed.
	Take  string   `json:"take,omitempty"`
	Paths []string `json:"paths,omitempty"`
	// Pick is a commit whose change is made again, as by git cherry-pick: that of Paths alone, if there are any. It fails where there are
	// conflicts.
	Pick string `json:"pick,omitempty"`
	// Merge is a commit that is merged. It fails where there are conflicts.
	Merge string `json:"merge,omitempty"`
	// Plant is something that no history has.
	Plant *Plant `json:"plant,omitempty"`
}

// Plant is a fault of our own.
type Plant struct {
	// Name is the planter, and File and Place where it plants: what they mean, each planter says.
	Name  string `json:"name"`
	File  string `json:"file"`
	Place string `json:"place,omitempty"`
	Seed  uint64 `json:"seed,omitempty"`
}

// Planter gives the new text of a file, which is nil where the tree has no such file. It must be deterministic.
type Planter func(p *Plant, text []byte) ([]byte, error)

// Repository is a git repository in which trees are made. Its objects come from a snapshot, which is only read.
type Repository struct {
	snapshot string
	folder   string
	planters map[string]Planter
}

// OpenRepository makes a repository in a folder, unless it is there, over the snapshot of a repository: a git directory.
func OpenRepository(ctx context.Context, snapshot, folder string, planters map[string]Planter) (*Repository, error) {
	r := &Repository{snapshot, folder, planters}
	if _, err := os.Stat(filepath.Join(folder, ".git", "objects")); err == nil {
		return r, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	objects, err := filepath.Abs(filepath.Join(snapshot, "objects"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(objects); err != nil {
		return nil, fmt.Errorf("%s is no git directory: %w", snapshot, err)
	}
	if _, err := r.Git(ctx, "init", "-q", "."); err != nil {
		return nil, err
	}
	info := filepath.Join(folder, ".git", "objects", "info")
	return r, errors.Join(os.MkdirAll(info, 0o755), os.WriteFile(filepath.Join(info, "alternates"), []byte(objects+"\n"), 0o644))
}

// Folder is the working tree of the repository.
func (r *Repository) Folder() string { return r.folder }

// Git runs a git command and gives what it writes. No configuration but the repository's own is read.
func (r *Repository) Git(ctx context.Context, args ...string) (string, error) {
	return r.git(ctx, nil, nil, args...)
}

// Tip is the commit that HEAD of the snapshot is at.
func (r *Repository) Tip(ctx context.Context) (string, error) {
	out, err := r.Git(ctx, "--git-dir="+r.snapshot, "rev-parse", "--verify", "HEAD")
	return strings.TrimSpace(out), err
}

// maker makes all commits, at no time, so that equal trees become equal commits.
var maker = []string{
	"GIT_AUTHOR_NAME=histories", "GIT_AUTHOR_EMAIL=histories@localhost", "GIT_AUTHOR_DATE=@0 +0000",
	"GIT_COMMITTER_NAME=histories", "GIT_COMMITTER_EMAIL=histories@localhost", "GIT_COMMITTER_DATE=@0 +0000",
}

func (r *Repository) git(ctx context.Context, env []string, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--literal-pathspecs", "-c", "core.quotePath=false", "-c", "core.hooksPath=" + os.DevNull}, args...)...)
	cmd.Dir = r.folder
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	cmd.Env = append(append(cmd.Env, maker...), env...)
	cmd.Stdin = bytes.NewReader(input)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(problem.String()+"\n"+string(out)), "\n")
		return string(out), fmt.Errorf("git %s: %w: %s", args[0], err, line)
	}
	return string(out), nil
}

// Make makes a tree and gives the id of its commit. An error of a tree that has one already says if it is another.
func (r *Repository) Make(ctx context.Context, t *Tree) (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	commit := t.Start
	for i := range t.Steps {
		next, err := r.step(ctx, commit, &t.Steps[i])
		if err != nil {
			return "", fmt.Errorf("step %d: %w", i+1, err)
		}
		commit = next
	}
	if _, err := r.Git(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
		return "", fmt.Errorf("the snapshot has no commit %s", commit)
	}
	if t.Commit != "" && t.Commit != commit {
		return "", fmt.Errorf("the tree became commit %s, and was %s", commit, t.Commit)
	}
	return commit, nil
}

func (r *Repository) step(ctx context.Context, commit string, s *Step) (string, error) {
	switch {
	case s.Take != "":
		return r.take(ctx, commit, s)
	case s.Pick != "":
		return r.pick(ctx, commit, s)
	case s.Merge != "":
		return r.merge(ctx, commit, s.Merge)
	case s.Plant != nil:
		return r.plant(ctx, commit, s.Plant)
	}
	return commit, nil
}

// take takes files from another commit.
func (r *Repository) take(ctx context.Context, commit string, s *Step) (string, error) {
	listed, err := r.Git(ctx, append([]string{"ls-tree", "-z", "--full-tree", s.Take, "--"}, s.Paths...)...)
	if err != nil {
		return "", err
	}
	var entries strings.Builder
	for _, path := range s.Paths {
		fmt.Fprintf(&entries, "0 %040d\t%s\x00", 0, path)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		if meta, path, ok := strings.Cut(line, "\t"); ok {
			fields := strings.Fields(meta)
			fmt.Fprintf(&entries, "%s %s\t%s\x00", fields[0], fields[2], path)
		}
	}
	return r.edit(ctx, commit, entries.String())
}

// edit makes a commit on top of one with some entries of its tree otherwise.
func (r *Repository) edit(ctx context.Context, commit, entries string) (string, error) {
	folder, err := os.MkdirTemp("", "histories")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(folder, "index")}
	if _, err := r.git(ctx, index, nil, "read-tree", commit); err != nil {
		return "", err
	}
	if _, err := r.git(ctx, index, []byte(entries), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	tree, err := r.git(ctx, index, nil, "write-tree")
	if err != nil {
		return "", err
	}
	return r.commit(ctx, strings.TrimSpace(tree), commit)
}

func (r *Repository) commit(ctx context.Context, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree", "-m", "made from a history", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := r.Git(ctx, args...)
	return strings.TrimSpace(out), err
}

// pick makes the change of a commit again.
func (r *Repository) pick(ctx context.Context, commit string, s *Step) (string, error) {
	parent, err := r.Git(ctx, "rev-parse", "--verify", s.Pick+"^1")
	if err != nil {
		return "", err
	}
	picked := s.Pick
	if len(s.Paths) > 0 {
		if picked, err = r.take(ctx, strings.TrimSpace(parent), &Step{Take: s.Pick, Paths: s.Paths}); err != nil {
			return "", err
		}
	}
	// The base of the merge is the parent, and so has to be the history of a commit with our tree.
	ours, err := r.commit(ctx, commit+"^{tree}", strings.TrimSpace(parent))
	if err != nil {
		return "", err
	}
	tree, err := r.Git(ctx, "merge-tree", "--write-tree", "--no-messages", ours, picked)
	if err != nil {
		return "", err
	}
	return r.commit(ctx, strings.TrimSpace(tree), commit)
}

func (r *Repository) merge(ctx context.Context, commit, other string) (string, error) {
	tree, err := r.Git(ctx, "merge-tree", "--write-tree", "--no-messages", commit, other)
	if err != nil {
		return "", err
	}
	return r.commit(ctx, strings.TrimSpace(tree), commit, other)
}

// plant changes a file by a planter, or makes it.
func (r *Repository) plant(ctx context.Context, commit string, p *Plant) (string, error) {
	planter := r.planters[p.Name]
	if planter == nil {
		return "", fmt.Errorf("there is no planter %q", p.Name)
	}
	var text []byte
	if listed, err := r.Git(ctx, "ls-tree", "--full-tree", commit, "--", p.File); err != nil {
		return "", err
	} else if listed != "" {
		content, err := r.Git(ctx, "cat-file", "blob", commit+":"+p.File)
		if err != nil {
			return "", err
		}
		text = []byte(content)
	}
	text, err := planter(p, text)
	if err != nil {
		return "", err
	}
	blob, err := r.git(ctx, nil, text, "hash-object", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	return r.edit(ctx, commit, fmt.Sprintf("100644 %s\t%s\x00", strings.TrimSpace(blob), p.File))
}
