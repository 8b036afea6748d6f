package mine

import (
	"bufio"
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

// facts adds what one run of the test in each tree tells beside its outcome: whether the test runs lines that the change touched, and whose
// code each tree runs. Where that can't be told nothing is added.
func (m *Miner) facts(ctx context.Context, c *history.Case, unit string) error {
	c.Loaded = map[history.Role]history.Loaded{}
	for _, role := range []history.Role{history.Base, history.Head} {
		t := c.Trees[role]
		folder, err := m.checkout(ctx, &t)
		if err != nil {
			return err
		}
		ran, err := m.suite.trace(ctx, folder, unit, &c.Failure, role == history.Head)
		if err != nil {
			return err
		}
		if ran == nil {
			continue
		}
		c.Loaded[role] = ran.loaded
		if role != history.Head || len(ran.lines) == 0 {
			continue
		}
		changed, err := m.changed(ctx, c.Trees[history.Base].Commit, c.Trees[history.Head].Commit)
		if err != nil {
			return err
		}
		executed := overlap(ran.lines, changed)
		c.Executed = &executed
	}
	return nil
}

// traced is what a run of one test had run.
type traced struct {
	lines  map[string][]mutate.LineRange // by files, relative to the tree
	loaded history.Loaded
}

var hunkLines = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// changed are the lines of head that a change made or stands beside, by file.
func (m *Miner) changed(ctx context.Context, base, head string) (map[string][]mutate.LineRange, error) {
	diff, err := m.repository.Git(ctx, "diff", "--no-renames", "-U0", base, head)
	if err != nil {
		return nil, err
	}
	lines, file := map[string][]mutate.LineRange{}, ""
	for scanner := bufio.NewScanner(strings.NewReader(diff)); scanner.Scan(); {
		line := scanner.Text()
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			file = strings.TrimPrefix(name, "b/")
			continue
		}
		found := hunkLines.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		from, _ := strconv.Atoi(found[1])
		count := 1
		if found[2] != "" {
			count, _ = strconv.Atoi(found[2])
		}
		piece := mutate.LineRange{From: from, To: from + count - 1}
		if count == 0 { // lines were taken away between two
			piece = mutate.LineRange{From: from, To: from + 1}
		}
		lines[file] = append(lines[file], piece)
	}
	return lines, nil
}

// overlap says whether two sets of lines have some in common.
func overlap(a, b map[string][]mutate.LineRange) bool {
	for file, ranges := range a {
		for _, x := range ranges {
			for _, y := range b[file] {
				if x.From <= y.To && y.From <= x.To {
					return true
				}
			}
		}
	}
	return false
}
