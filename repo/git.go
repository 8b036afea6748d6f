// Package repo reads git repositories and the source in them: revisions and the base of a change, the trees of revisions and of the working
// tree, their mixtures and merges, what a commit changes, and the files that a failure's log points into.
//
// Everything is read through the git command, without the hooks, filters and programs of the repository's configuration. Trees are written into
// folders of their own; the checkout is never touched. Answers are bounded, and come in an order that depends on nothing but the files.
package repo

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // the name that git gives to contents
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Errors of Open and of trees. Their messages say what to do.
var (
	// ErrNoGit: git is not installed.
	ErrNoGit = errors.New("git is not installed; revisions are read with it")
	// ErrNoRepository: the folder is in no git repository.
	ErrNoRepository = errors.New("no git repository")
	// ErrRevision: the repository has no such revision.
	ErrRevision = errors.New("no such revision")
	// ErrAmbiguous: a revision is the short name of references to different commits.
	ErrAmbiguous = errors.New("ambiguous revision")
	// ErrIncomplete: the clone lacks objects that the revision needs.
	ErrIncomplete = errors.New("the clone is not complete")
)

// Repository reads a git repository through the git command, without its hooks, filters, pagers, lazy fetches and locks: nothing in
// the repository's configuration runs, and nothing is written. Objects are themselves, whatever git replace put in their place. Safe for
// concurrent use.
type Repository struct {
	top     string           // of the working tree, absolute
	dir     string           // the folder that was opened, relative to top, slash-separated, "." for top
	config  []string         // arguments of every git command
	newHash func() hash.Hash // by which git names contents
	// apart is the folder of a bare repository of our own, which has the objects of this one as alternates; empty for this one.
	apart string
	// index and work are a file in place of its index, and a folder in place of its working tree: what is checked out.
	index, work string
	filters     []string // that are configured
	endings     []string // configuration of how files are checked out
}

// Open opens the repository that a folder is part of, which may be a subfolder, a linked working tree or a submodule.
func Open(ctx context.Context, folder string) (*Repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, ErrNoGit
	}
	named := folder
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return nil, err
	}
	r := &Repository{top: folder, config: []string{
		"--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
		"-c", "core.checkStat=default", "-c", "core.trustctime=true", // else files of another content may seem unchanged
		"-c", "protocol.allow=never", "-c", "submodule.recurse=false", "-c", "core.quotePath=false",
	}}
	top, err := r.git(ctx, "rev-parse", "--show-toplevel")
	if failed, ok := errors.AsType[*gitError](err); ok && strings.Contains(failed.line, "not a git repository") {
		return nil, fmt.Errorf("source %s: %w", named, ErrNoRepository)
	}
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", named, err)
	}
	r.top = filepath.FromSlash(strings.TrimSuffix(string(top), "\n"))
	rel, err := filepath.Rel(r.top, folder)
	if err != nil {
		return nil, err
	}
	r.dir = filepath.ToSlash(rel)
	format, err := r.git(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return nil, err
	}
	if r.newHash = sha1.New; strings.TrimSpace(string(format)) == "sha256" {
		r.newHash = sha256.New
	}
	return r, r.readConfig(ctx)
}

// Top is the folder of the working tree.
func (r *Repository) Top() string { return r.top }

// Dir is the opened folder's place in every tree: relative to its top, slash-separated, "." for the top.
func (r *Repository) Dir() string { return r.dir }

// readConfig takes their commands from the filters that are configured, so that a comparison of files runs none of them, and notes how files
// are checked out.
func (r *Repository) readConfig(ctx context.Context) error {
	read, err := r.git(ctx, "config", "--null", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$|^core\.(autocrlf|eol|attributesfile)$`)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil // none is configured
	}
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(read), "\x00"), "\x00") {
		name, _, _ := strings.Cut(entry, "\n")
		filter, isFilter := strings.CutPrefix(name, "filter.")
		if !isFilter {
			r.endings = append(r.endings, "-c", strings.Replace(entry, "\n", "=", 1)) // without a value it is true
			continue
		}
		r.config = append(r.config, "-c", name+"=")
		r.filters = append(r.filters, filter[:strings.LastIndex(filter, ".")])
	}
	return nil
}

// maxOutput bounds what is read of one git command: others may have written the repository.
const maxOutput = 256 << 20

// errTooLong: a git command wrote more than is read.
var errTooLong = errors.New("too much output")

// git runs a git command at the top of the working tree and gives its output.
func (r *Repository) git(ctx context.Context, args ...string) ([]byte, error) {
	return r.bounded(ctx, nil, maxOutput, args...)
}

// fed runs a git command that reads paths.
func (r *Repository) fed(ctx context.Context, paths []string, args ...string) ([]byte, error) {
	return r.bounded(ctx, strings.NewReader(strings.Join(append(paths, ""), "\x00")), maxOutput, args...)
}

// bounded runs a git command and gives its output, of at most so many bytes.
func (r *Repository) bounded(ctx context.Context, in io.Reader, most int64, args ...string) ([]byte, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := r.command(ctx, args...)
	cmd.Stdin = in
	var problem beginning
	cmd.Stderr = &problem
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(pipe, most+1))
	if int64(len(out)) > most {
		stop()
		_ = cmd.Wait() // it was ended
		return nil, fmt.Errorf("git %s: %w: more than %d bytes", args[0], errTooLong, most)
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(problem)), "\n")
		return out, &gitError{args[0], line, err}
	}
	return out, nil
}

// beginning keeps the first 4 KiB of what is written.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), 4<<10-len(*b))]...)
	return len(p), nil
}

// gitError says that a git command failed, by the first line that it wrote.
type gitError struct {
	command, line string
	err           error
}

func (e *gitError) Error() string {
	return "git " + e.command + ": " + cmp.Or(e.line, e.err.Error())
}

func (e *gitError) Unwrap() error { return e.err }

func (r *Repository) command(ctx context.Context, args ...string) *exec.Cmd {
	if r.index != "" {
		args = slices.Concat(r.endings, args)
	}
	cmd := exec.CommandContext(ctx, "git", append(slices.Clip(r.config), args...)...) //nolint:gosec // revisions can't be flags
	cmd.Dir = r.top
	for _, v := range os.Environ() {
		// Variables such as GIT_DIR, which git sets for hooks, would point to another repository.
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ATTR_NOSYSTEM=1", "LC_ALL=C")
	if r.apart != "" {
		cmd.Dir = r.apart
		cmd.Env = append(cmd.Env, "GIT_DIR="+r.apart, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	}
	if r.index != "" { // what is checked out counts all attributes
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+r.index, "GIT_WORK_TREE="+r.work, "GIT_ATTR_NOSYSTEM=0")
	}
	return cmd
}
