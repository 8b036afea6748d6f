package commits

import (
	"context"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/repo"
)

// maxHunkFile bounds the files that are compared for a hunk, in bytes.
const maxHunkFile = 4 << 20

// Hunk is the place where a commit changes code that is nearest to the failing test of a case, by the rules of [Line.Prior], and the path of
// the file. Files of the product come before those of tests. The path is empty where there is none, and for changes that are not committed.
// commit is an index into [Line.Commits]. Lines are as the files have them, and not safe for a terminal.
func (l *Line) Hunk(ctx context.Context, c *abi.Case, commit int) (path string, hunk repo.Edit, err error) {
	of := &l.commits[commit]
	near, best := nearOf(c, l.files), 0.0
	for _, p := range of.Paths {
		weight := near.weight(p)
		if sourcefile.IsTest(p) {
			weight /= weightNamed / weightTests * 2
		}
		if weight > best {
			path, best = p, weight
		}
	}
	if path == "" || of.ID == "" {
		return "", repo.Edit{}, nil
	}
	old, err := l.repository.At(ctx, of.ID+"^1")
	if err != nil {
		return "", repo.Edit{}, err
	}
	now, err := l.repository.At(ctx, of.ID)
	if err != nil {
		return "", repo.Edit{}, err
	}
	hunks, err := repo.Edits(ctx, old, now, path, maxHunkFile)
	if err != nil || len(hunks) == 0 {
		return "", repo.Edit{}, err
	}
	return path, hunks[max(slices.IndexFunc(hunks, code), 0)], nil
}

// code says whether one of the changed lines looks like more than a comment or an import.
func code(h repo.Edit) bool {
	return slices.ContainsFunc(slices.Concat(h.Removed, h.Added), func(line string) bool {
		line = strings.TrimSpace(line)
		comment := strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/*")
		return line != "" && !comment && !strings.HasPrefix(line, "import ") && !strings.HasPrefix(line, `"`)
	})
}
