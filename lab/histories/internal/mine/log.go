package mine

import (
	"context"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// commit is a commit of the main line of a history.
type commit struct {
	id, parent string
	body       string
	product    []string // paths that it changed, compared with its first parent
	tests      []string
}

// readLog reads the main line of a history, the newest commit first, as far back as it may go.
func readLog(ctx context.Context, r *history.Repository, tip string, since time.Time) ([]commit, error) {
	out, err := r.Git(ctx, "log", "--first-parent", "-m", "--no-renames", "--name-only", "--since="+since.Format(time.RFC3339),
		"--format=%x01%H%x02%P%x02%b%x03", tip)
	if err != nil {
		return nil, err
	}
	var list []commit
	for entry := range strings.SplitSeq(strings.TrimPrefix(out, "\x01"), "\x01") {
		meta, paths, ok := strings.Cut(entry, "\x03")
		fields := strings.Split(meta, "\x02")
		if !ok || len(fields) != 3 || fields[1] == "" {
			continue
		}
		parent, _, _ := strings.Cut(fields[1], " ")
		if !history.IsCommit(fields[0]) || !history.IsCommit(parent) {
			continue // a message may hold what separates fields
		}
		c := commit{id: fields[0], parent: parent, body: fields[2]}
		for path := range strings.SplitSeq(paths, "\n") {
			switch {
			case path == "" || strings.HasPrefix(path, `"`):
			case sourcefile.IsTest(path), strings.Contains(path, "/__testfixtures__/"): // the last as jscodeshift has them
				c.tests = append(c.tests, path)
			case sourcefile.KindOf(path) == abi.SourceProduct:
				c.product = append(c.product, path)
			}
		}
		list = append(list, c)
	}
	return list, nil
}
