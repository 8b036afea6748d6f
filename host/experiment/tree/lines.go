package tree

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Hunk is a place where a file of one tree differs from that of another one.
type Hunk struct {
	// First and Count are the lines that were added or changed, from 1. Where lines were only removed Count is 0, and First the line
	// before them.
	First, Count   int
	Added, Removed []string
}

var (
	hunkFile  = regexp.MustCompile(`^\+\+\+ (?:b/)?now/(\d+)\s*$`)
	hunkLines = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)
)

// Lines compares files of two trees by lines. A file that only the later tree has is one hunk; files of more than limit bytes, and paths
// that it has not, are left out. The folder is for files in between; it has to be empty.
func Lines(ctx context.Context, old, now *Tree, paths []string, limit int64, folder string) (map[string][]Hunk, error) {
	for i, path := range paths {
		for side, t := range map[string]*Tree{"old": old, "now": now} {
			if err := t.put(ctx, path, limit, filepath.Join(folder, side), strconv.Itoa(i)); err != nil {
				return nil, err
			}
		}
	}
	for _, side := range []string{"old", "now"} {
		if err := os.MkdirAll(filepath.Join(folder, side), 0o700); err != nil {
			return nil, err
		}
	}
	apart := *now.repository
	apart.apart = folder // no repository: nobody's settings count
	out, err := apart.differences(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string][]Hunk{}
	path := ""
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, int(limit)+1)
	for lines.Scan() {
		line := lines.Text()
		hunks := found[path]
		switch m, h := hunkFile.FindStringSubmatch(line), hunkLines.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "diff "):
			path = ""
		case path == "" && m != nil:
			if i, err := strconv.Atoi(m[1]); err == nil && i < len(paths) {
				path = paths[i]
			}
		case path != "" && h != nil:
			first, _ := strconv.Atoi(h[1]) // git has counted
			count := 1
			if h[2] != "" {
				count, _ = strconv.Atoi(h[2])
			}
			found[path] = append(hunks, Hunk{First: first, Count: count})
		case len(hunks) > 0 && strings.HasPrefix(line, "-"):
			h := &hunks[len(hunks)-1]
			h.Removed = append(h.Removed, line[1:])
		case len(hunks) > 0 && strings.HasPrefix(line, "+"):
			h := &hunks[len(hunks)-1]
			h.Added = append(h.Added, line[1:])
		}
	}
	return found, lines.Err()
}

// put writes a file into a folder, where the tree has it.
func (t *Tree) put(ctx context.Context, path string, limit int64, folder, name string) error {
	if f, ok := t.files[path]; !ok || f.Mode == Symlink {
		return nil
	}
	text, err := t.Read(ctx, path, limit+1)
	if err != nil || int64(len(text)) > limit {
		return err
	}
	return errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, name), text, 0o600))
}

// differences are those of the folders old and now.
func (r *Repository) differences(ctx context.Context) ([]byte, error) {
	out, err := r.git(ctx, "diff", "--no-index", "--text", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--unified=0", "--", "old", "now")
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return out, nil
	}
	return nil, fmt.Errorf("comparing files: %w", err)
}
