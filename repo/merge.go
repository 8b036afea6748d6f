package repo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrConflict: two revisions changed the same lines, so that their merge can't be made.
var ErrConflict = errors.New("they conflict")

// mergeTime is how long a merge may take: others may have written what is merged.
const mergeTime = 2 * time.Minute

// Merge merges a tree with changes that may not be committed, on top of a commit, into a target revision, as git merge would. It works in a
// bare repository of its own in the empty folder, which has to stay as long as the tree is used: nothing is written to this repository, and
// none of its merge drivers, attributes and hooks counts. The error is ErrRevision, ErrConflict with the files, or that of git.
func (r *Repository) Merge(ctx context.Context, folder, target, commit string, head *Tree) (*Tree, error) {
	ctx, cancel := context.WithTimeout(ctx, mergeTime)
	defer cancel()
	into, err := r.Commit(ctx, target)
	if err != nil {
		return nil, err
	}
	on, err := r.Commit(ctx, commit)
	if err != nil {
		return nil, err
	}
	committed, err := r.At(ctx, on)
	if err != nil {
		return nil, err
	}
	apart, err := r.besides(ctx, folder)
	if err != nil {
		return nil, err
	}
	if changed := head.Changed(committed); len(changed) > 0 {
		if on, err = apart.record(ctx, on, head, changed); err != nil {
			return nil, err
		}
	}
	merged, err := apart.merge(ctx, into, on)
	if err != nil {
		return nil, err
	}
	listed, err := apart.git(ctx, "ls-tree", "-r", "-z", "--full-tree", merged)
	if err != nil {
		return nil, err
	}
	t := &Tree{repository: apart, modules: map[string]string{}}
	if t.files, err = parse(listed, 2, t.modules); err != nil {
		return nil, err
	}
	for path, f := range t.files {
		f.commit = merged
		g, ok := head.files[path]
		f.work = ok && g.work && g.Mode == f.Mode && g.Blob == f.Blob
		t.files[path] = f
	}
	return t, t.addSubmodules(ctx, false, head.modules)
}

// besides makes a bare repository that has the objects of this one, and nothing of its configuration.
func (r *Repository) besides(ctx context.Context, folder string) (*Repository, error) {
	apart := *r
	apart.apart = folder
	format, err := r.git(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return nil, err
	}
	if _, err := apart.git(ctx, "init", "--quiet", "--bare", "--template=", "--object-format="+strings.TrimSpace(string(format))); err != nil {
		return nil, err
	}
	objects, err := r.gitPath(ctx, "objects")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(folder, "objects", "info"), 0o700),
		os.WriteFile(filepath.Join(folder, "objects", "info", "alternates"), []byte(quoted(objects)+"\n"), 0o600)); err != nil {
		return nil, err
	}
	return &apart, r.copyOwn(ctx, "shallow", folder)
}

// copyOwn copies a file of the repository, if there is one, to that of another one.
func (r *Repository) copyOwn(ctx context.Context, name, folder string) error {
	from, err := r.gitPath(ctx, name)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	to := filepath.Join(folder, filepath.FromSlash(name))
	return errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, text, 0o600)) //nolint:gosec // the folder is ours
}

// gitPath is where the repository has a file of its own.
func (r *Repository) gitPath(ctx context.Context, name string) (string, error) {
	found, err := r.git(ctx, "rev-parse", "--git-path", name)
	at := filepath.FromSlash(strings.TrimSuffix(string(found), "\n"))
	if !filepath.IsAbs(at) {
		at = filepath.Join(r.top, at)
	}
	return at, err
}

// quoted is a path as git reads it in a list or a stream.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// record makes a commit on top of another one, with the files of a tree at the paths at which they differ.
func (r *Repository) record(ctx context.Context, on string, head *Tree, changed []string) (string, error) {
	cmd := r.command(ctx, "fast-import", "--quiet", "--done", "--date-format=raw")
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	w := bufio.NewWriter(in)
	fmt.Fprintf(w, "commit refs/heads/head\ncommitter head <head> 0 +0000\ndata 0\nfrom %s\n", on)
	err = head.record(ctx, w, changed)
	if err == nil {
		_, err = w.WriteString("done\n")
	}
	if err = errors.Join(err, w.Flush(), in.Close(), cmd.Wait()); err != nil {
		return "", fmt.Errorf("changes that are not committed: git fast-import: %w", err)
	}
	return r.Commit(ctx, "refs/heads/head")
}

// record writes the commands of a commit that has the files of the tree at some paths.
func (t *Tree) record(ctx context.Context, w io.Writer, paths []string) error {
	for _, path := range paths { // first, because a file may have become a folder
		if _, ok := t.files[path]; !ok {
			fmt.Fprintf(w, "D %s\n", quoted(path))
		}
	}
	for _, path := range paths {
		f, ok := t.files[path]
		if !ok {
			continue
		}
		content, err := t.repository.workingContent(path, f.Mode)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(io.LimitReader(content, maxUncommitted+1))
		if err = errors.Join(err, content.Close(), ctx.Err()); err != nil {
			return err
		}
		if len(text) > maxUncommitted {
			return fmt.Errorf("%s has more than %d MiB", path, maxUncommitted>>20)
		}
		fmt.Fprintf(w, "M %s inline %s\ndata %d\n", f.Mode, quoted(path), len(text))
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// maxUncommitted is the most of a file that is not committed, in bytes.
const maxUncommitted = 256 << 20

// usageCode is how git ends where it does not know an option.
const usageCode = 129

// merge merges one commit into another and gives the id of the tree.
func (r *Repository) merge(ctx context.Context, into, commit string) (string, error) {
	cmd := r.command(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", into, commit)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	parts := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return parts[0], nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("the merge took longer than %v", mergeTime)
	case failed && exit.ExitCode() == 1 && len(parts) > 1:
		where := parts[1]
		if more := len(parts) - 2; more > 0 {
			where += fmt.Sprintf(" and %d more", more)
		}
		return "", fmt.Errorf("%w in %s", ErrConflict, where)
	case failed && exit.ExitCode() == usageCode:
		return "", errors.New("a merge needs git 2.38 or later")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
	return "", &gitError{"merge-tree", line + r.advice(ctx), err}
}
