package cases

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// saved is a case with its outcomes, without what the module proxy has. The cases of a module are the lines of one file, which is
// compressed as a whole.
type saved struct {
	Case Case `json:"case"`
	// Head is the commit of head; that of green is in the case. Both are the same wherever they are made.
	Head string `json:"head"`
	// Removed files are neither in green nor in head.
	Removed []string `json:"removed,omitempty"`
	// Patch turns the newer release into head.
	Patch string `json:"patch,omitempty"`
	// Log of the run that failed, with casePlace for the folder of the case.
	Log      string          `json:"log"`
	Outcomes json.RawMessage `json:"outcomes"`
}

// casePlace stands for the folder of a case, which differs from machine to machine.
const casePlace = "{case}"

const savedEnding = ".jsonl.zst"

// Save adds the cases of the work folder that have outcomes to those in a folder of saved ones.
func Save(ctx context.Context, work, folder string) error {
	list, err := Read(work)
	if err != nil {
		return err
	}
	byFile := map[string][]*Case{}
	for _, c := range list {
		if _, err := os.Stat(c.Outcomes()); err == nil {
			name := filepath.Join(folder, slug(c.Pair.Module)+savedEnding)
			byFile[name] = append(byFile[name], c)
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, list := range byFile {
		if err := saveModule(ctx, name, list); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func saveModule(ctx context.Context, name string, list []*Case) error {
	lines, err := readSaved(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n := len(lines)
	for _, c := range list {
		if slices.ContainsFunc(lines, func(s saved) bool { return s.Case.ID == c.ID }) {
			continue
		}
		s, err := c.pack(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		lines = append(lines, *s)
	}
	if len(lines) == n {
		return nil
	}
	var text bytes.Buffer
	for i := range lines {
		if err := json.NewEncoder(&text).Encode(&lines[i]); err != nil {
			return err
		}
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	return os.WriteFile(name, w.EncodeAll(text.Bytes(), nil), 0o644)
}

func readSaved(name string) ([]saved, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var lines []saved
	for decoder := json.NewDecoder(r); ; {
		var s saved
		switch err := decoder.Decode(&s); {
		case errors.Is(err, io.EOF):
			return lines, nil
		case err != nil:
			return nil, fmt.Errorf("%s, case %d: %w", name, len(lines)+1, err)
		}
		lines = append(lines, s)
	}
}

// pack takes from a case what it takes to make it again.
func (c *Case) pack(ctx context.Context) (*saved, error) {
	log, err := os.ReadFile(filepath.Join(c.folder, logFile))
	if err != nil {
		return nil, err
	}
	s := &saved{Case: *c, Log: strings.ReplaceAll(string(log), c.folder, casePlace)}
	if s.Outcomes, err = os.ReadFile(c.Outcomes()); err != nil {
		return nil, err
	}
	release, err := download(ctx, c.Pair.Module, c.Pair.Newer)
	if err != nil {
		return nil, err
	}
	git := repository(c.Repository())
	if s.Head, err = git.run(ctx, "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	index, err := os.MkdirTemp("", "shadowcourt-index-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(index) }()
	original := repository(release).with("GIT_INDEX_FILE=" + filepath.Join(index, "index")).
		with("GIT_DIR=" + filepath.Join(c.Repository(), ".git")).with("GIT_WORK_TREE=" + release)
	if _, err := original.run(ctx, "add", "--all", "--force"); err != nil {
		return nil, err
	}
	newer, err := original.run(ctx, "write-tree")
	if err != nil {
		return nil, err
	}
	removed, err := git.run(ctx, "diff", "--no-renames", "--diff-filter=D", "--name-only", "-z", newer, "HEAD")
	if err != nil {
		return nil, err
	}
	s.Removed = strings.FieldsFunc(removed, func(r rune) bool { return r == 0 })
	s.Patch, err = git.text(ctx, "diff", "--no-renames", "--diff-filter=d", "--binary", "-U0", newer, "HEAD")
	return s, err
}

// Restore makes the saved cases that the work folder does not have, and checks that they are as they were.
func Restore(ctx context.Context, work, folder string, log io.Writer) error {
	files, err := filepath.Glob(filepath.Join(folder, "*"+savedEnding))
	if err != nil {
		return err
	}
	for _, name := range files {
		lines, err := readSaved(name)
		if err != nil {
			return err
		}
		n := 0
		for i := range lines {
			made, err := lines[i].restore(ctx, work)
			if err != nil {
				return fmt.Errorf("%s: %w", lines[i].Case.ID, err)
			}
			if made {
				n++
			}
		}
		if n > 0 {
			fmt.Fprintf(log, "%s: %d cases\n", filepath.Base(name), n)
		}
	}
	return nil
}

func (s *saved) restore(ctx context.Context, work string) (bool, error) {
	c := s.Case
	c.folder = filepath.Join(work, "cases", c.ID)
	if _, err := os.Stat(filepath.Join(c.folder, caseFile)); err == nil {
		return false, nil
	}
	var trees []*tree
	for _, version := range []string{c.Pair.Older, c.Pair.Newer} {
		origin, err := download(ctx, c.Pair.Module, version)
		if err != nil {
			return false, err
		}
		trees = append(trees, &tree{origin: origin})
	}
	green, err := commit(ctx, c.Repository(), c.Pair, func(i int, folder string) error {
		if err := trees[i].writeTo(folder, nil); err != nil {
			return err
		}
		for _, name := range s.Removed {
			if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if i == 0 || s.Patch == "" {
			return nil
		}
		_, err := repository(folder).feed(s.Patch).run(ctx, "apply", "--unidiff-zero", "--whitespace=nowarn", "-")
		return err
	})
	if err != nil {
		return false, err
	}
	head, err := repository(c.Repository()).run(ctx, "rev-parse", "HEAD")
	if err != nil {
		return false, err
	}
	if green != c.Green || head != s.Head {
		return false, fmt.Errorf("the trees are others than they were: green is %s instead of %s, head %s instead of %s", green, c.Green, head, s.Head)
	}
	return true, errors.Join(os.WriteFile(c.Outcomes(), s.Outcomes, 0o644), c.write([]byte(strings.ReplaceAll(s.Log, casePlace, c.folder))))
}

// git runs git in a repository, without anybody's settings.
type git struct {
	folder string
	env    []string
	stdin  string
}

func repository(folder string) git { return git{folder: folder} }

func (g git) with(variable string) git {
	g.env = append(slices.Clip(g.env), variable)
	return g
}

func (g git) feed(text string) git {
	g.stdin = text
	return g
}

// text is what git prints.
func (g git) text(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.autocrlf=false", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir, cmd.Stdin = g.folder, strings.NewReader(g.stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=Release", "GIT_AUTHOR_EMAIL=release@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=Release", "GIT_COMMITTER_EMAIL=release@example.com", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	cmd.Env = append(cmd.Env, g.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, errs.Bytes())
	}
	return out.String(), nil
}

// run is text without the space around it.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	out, err := g.text(ctx, args...)
	return strings.TrimSpace(out), err
}
