package repo

import (
	"context"
	"path"
)

// maxEdits bounds the work on two files: what differs in more lines is given as one hunk.
const maxEdits = 1000

// Hunk is a place where lines changed. Numbers count from 1; where there are no old (new) lines, the number is that of the
// line before which they were removed from (added).
type Hunk struct {
	OldFirst, NewFirst int
	OldLines, NewLines int
	// Code: it changes more than comments and formatting.
	Code bool
}

// touches says whether the hunk adds or changes lines of a range, or removes some from within it.
func (h *Hunk) touches(first, last int) bool {
	if h.NewLines == 0 { // the removed lines stood before NewFirst
		return first < h.NewFirst && h.NewFirst <= last
	}
	return h.NewFirst <= last && first < h.NewFirst+h.NewLines
}

// diffLines gives the hunks between two texts by Myers' greedy algorithm (Myers 1986).
func diffLines(old, now []string) []Hunk {
	head := 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		head++
	}
	oldEnd, nowEnd := len(old), len(now)
	for oldEnd > head && nowEnd > head && old[oldEnd-1] == now[nowEnd-1] {
		oldEnd--
		nowEnd--
	}
	if oldEnd == head && nowEnd == head {
		return nil
	}
	a, b := old[head:oldEnd], now[head:nowEnd]
	kept, ok := commonLines(a, b)
	if !ok {
		kept = nil
	}
	var hunks []Hunk
	x, y := 0, 0
	for _, pair := range append(kept, [2]int{len(a), len(b)}) {
		if x < pair[0] || y < pair[1] {
			hunks = append(hunks, Hunk{
				OldFirst: head + x + 1, NewFirst: head + y + 1, OldLines: pair[0] - x, NewLines: pair[1] - y,
			})
		}
		x, y = pair[0]+1, pair[1]+1
	}
	return hunks
}

// commonLines are the indexes of the lines that a shortest edit keeps; not ok if it is longer than maxEdits.
func commonLines(a, b []string) (pairs [][2]int, ok bool) {
	limit := min(len(a)+len(b), maxEdits)
	furthest := make([]int, 2*limit+3) // by diagonal, shifted by limit+1
	var trace [][]int
	for edits := 0; edits <= limit; edits++ {
		// Only diagonals -edits..edits matter when going back.
		trace = append(trace, append([]int(nil), furthest[limit+1-edits:limit+2+edits]...))
		for k := -edits; k <= edits; k += 2 {
			x := step(furthest, limit+1+k, k, edits)
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x++
				y++
			}
			furthest[limit+1+k] = x
			if x >= len(a) && y >= len(b) {
				return walkBack(trace, a, b, edits), true
			}
		}
	}
	return nil, false
}

// step is where diagonal k begins with one more edit: from the diagonal above or below, whichever got further.
func step(furthest []int, at, k, edits int) int {
	if k == -edits || k != edits && furthest[at-1] < furthest[at+1] {
		return furthest[at+1]
	}
	return furthest[at-1] + 1
}

func walkBack(trace [][]int, a, b []string, edits int) [][2]int {
	var pairs [][2]int
	x, y := len(a), len(b)
	for ; edits >= 0; edits-- {
		before := trace[edits] // diagonals -edits..edits, as they were before this edit
		k := x - y
		previous := k - 1
		if k == -edits || k != edits && before[k-1+edits] < before[k+1+edits] {
			previous = k + 1
		}
		fromX, fromY := 0, 0
		if edits > 0 {
			fromX = before[previous+edits]
			fromY = fromX - previous
		}
		for x > fromX && y > fromY && a[x-1] == b[y-1] {
			x--
			y--
			pairs = append(pairs, [2]int{x, y})
		}
		x, y = fromX, fromY
	}
	for i, j := 0, len(pairs)-1; i < j; i, j = i+1, j-1 {
		pairs[i], pairs[j] = pairs[j], pairs[i]
	}
	return pairs
}

// Edit is a hunk with its lines.
type Edit struct {
	Hunk
	Removed, Added []string
}

// Edits compares a file of two trees by lines. A file of more than limit bytes, and one that the later tree has not, gives none.
func Edits(ctx context.Context, old, now *Tree, path string, limit int64) ([]Edit, error) {
	var lines [2][]string
	for i, t := range []*Tree{old, now} {
		f, ok := t.File(path)
		switch {
		case (!ok || f.Mode == Symlink) && t == now:
			return nil, nil
		case !ok || f.Mode == Symlink:
			continue
		}
		text, err := t.Read(ctx, path, limit+1)
		if err != nil || int64(len(text)) > limit {
			return nil, err
		}
		lines[i] = splitLines(string(text))
	}
	return edited(lines[0], lines[1]), nil
}

func edited(old, now []string) (edits []Edit) {
	for _, h := range diffLines(old, now) {
		edits = append(edits, Edit{h, old[h.OldFirst-1:][:h.OldLines], now[h.NewFirst-1:][:h.NewLines]})
	}
	return edits
}

// mostNames is how many files are looked at for one that was renamed.
const mostNames = 100

// Renamed finds the file of the later tree that a file has become which that tree does not have: the one that has most of its lines, at least half of
// them, among those that the earlier tree has not. It gives also what was edited. The name is empty if there is none. Links, and files of more than limit
// bytes, are none.
func Renamed(ctx context.Context, old, now *Tree, name string, limit int64) (to string, changed []Edit, err error) {
	text, err := old.Read(ctx, name, limit+1)
	lines := splitLines(string(text))
	if f, _ := old.File(name); err != nil || int64(len(text)) > limit || len(lines) == 0 || f.Mode == Symlink {
		return "", nil, err
	}
	least, looked := len(lines)-len(lines)/2, 0
	for _, candidate := range now.Paths() {
		if _, ok := old.File(candidate); ok || path.Ext(candidate) != path.Ext(name) {
			continue
		}
		if looked++; looked > mostNames {
			break
		}
		text, err := now.Read(ctx, candidate, limit+1)
		if err != nil {
			return "", nil, err
		}
		if f, _ := now.File(candidate); int64(len(text)) > limit || f.Mode == Symlink {
			continue
		}
		list, kept := edited(lines, splitLines(string(text))), len(lines)
		for i := range list {
			kept -= list[i].OldLines
		}
		if kept >= least {
			to, changed, least = candidate, list, kept+1
		}
	}
	return to, changed, nil
}
