package mine

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// commit is a commit of the main line of a history.
type commit struct {
	id, parent string
	when       time.Time
	title      string
	body       string
	product    []string // paths that it changed, compared with its first parent
	tests      []string
	other      []string // documents, dependencies, build files
}

// says tells whether the message of a commit has one of some words, in lower case.
func (c *commit) says(words ...string) bool {
	text := strings.ToLower(c.title + "\n" + c.body)
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// readLog reads the main line of a history, the newest commit first, as far back as it may go.
func readLog(ctx context.Context, r *history.Repository, tip string, since time.Time) ([]commit, error) {
	out, err := r.Git(ctx, "log", "--first-parent", "-m", "--no-renames", "--name-only", "--since="+since.Format(time.RFC3339),
		"--format=%x01%H%x02%P%x02%ct%x02%s%x02%b%x03", tip)
	if err != nil {
		return nil, err
	}
	var list []commit
	for entry := range strings.SplitSeq(strings.TrimPrefix(out, "\x01"), "\x01") {
		meta, paths, ok := strings.Cut(entry, "\x03")
		fields := strings.Split(meta, "\x02")
		if !ok || len(fields) != 5 || fields[1] == "" {
			continue
		}
		parent, _, _ := strings.Cut(fields[1], " ")
		if !history.IsCommit(fields[0]) || !history.IsCommit(parent) {
			continue // a message may hold what separates fields
		}
		seconds, _ := strconv.ParseInt(fields[2], 10, 64)
		c := commit{id: fields[0], parent: parent, when: time.Unix(seconds, 0).UTC(), title: fields[3], body: fields[4]}
		for path := range strings.SplitSeq(paths, "\n") {
			switch {
			case path == "" || strings.HasPrefix(path, `"`):
			case sourcefile.IsTest(path), strings.Contains(path, "/__testfixtures__/"): // the last as jscodeshift has them
				c.tests = append(c.tests, path)
			case sourcefile.KindOf(path) == abi.SourceProduct:
				c.product = append(c.product, path)
			default:
				c.other = append(c.other, path)
			}
		}
		list = append(list, c)
	}
	return list, nil
}
