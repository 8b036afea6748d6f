package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/repo"
)

// TestAccept_AL7_RightOnSavedOutcomes: on the saved lines, the search is right as often as its posterior says, with at most half of the runs
// of git bisect with five, and every culprit that it verifies is right.
func TestAccept_AL7_RightOnSavedOutcomes(t *testing.T) {
	t.Parallel()
	lines, err := load(filepath.Join("saved", "lines.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	known, err := readFaults(filepath.Join("..", "histories", "saved"))
	if err != nil {
		t.Fatal(err)
	}
	planted := map[string]bool{}
	for i := range known {
		planted[known[i].ID] = known[i].Planted
	}
	lines = slices.DeleteFunc(lines, func(l line) bool { return planted[l.ID] })
	list, err := searchAll(t.Context(), lines, known)
	if err != nil {
		t.Fatal(err)
	}
	names := arms()
	right, runs, noisy := make([]int, len(names)), make([]int, len(names)), 0
	for i := range list {
		if list[i].noisy {
			noisy++
		}
		for k, a := range list[i].answers {
			runs[k] += a.runs
			if a.right {
				right[k]++
			} else if a.verified {
				t.Errorf("%s: %s verified a wrong culprit", list[i].line.ID, names[k].name)
			}
		}
	}
	if len(list) < 150 || noisy < len(list)/2 {
		t.Errorf("%d cases, %d noisy", len(list), noisy)
	}
	if right[2]*100 < 95*len(list) || 2*runs[2] > runs[1] {
		t.Errorf("right in %d of %d with %d runs; git bisect with five in %d with %d", right[2], len(list), runs[2], right[1], runs[1])
	}
}

// TestOutcomesAreTheSameForAllArms: the runs of a commit come out in one order, whoever asks, and the flips of noise only add failures.
func TestOutcomesAreTheSameForAllArms(t *testing.T) {
	t.Parallel()
	l := &line{ID: "x", Culprit: 5, Commits: make([]commit, 9)}
	f := &fault{ID: "x", Before: "PPPPS", After: "SSSSP"}
	draw := func(r *replay, commits ...int) string {
		outcomes := make([]string, len(r.drawn))
		for _, c := range commits {
			outcomes[c] += map[bool]string{true: "F", false: "P"}[r.failed(c)]
		}
		return strings.Join(outcomes, " ")
	}
	quiet, noisy := newReplay(l, f, false), newReplay(l, f, true)
	quiet.begin(perSecond(quiet))
	noisy.begin(perSecond(noisy))
	first := draw(quiet, 1, 1, 1, 1, 1, 7, 7, 7, 7, 7)
	quiet.begin(perSecond(quiet))
	if again := draw(quiet, 7, 1, 7, 1, 7, 1, 7, 1, 7, 1); again != first {
		t.Errorf("first %s, then %s", first, again)
	}
	flipped := draw(noisy, 1, 1, 1, 1, 1, 7, 7, 7, 7, 7)
	for i := range first {
		if first[i] == 'F' && flipped[i] != 'F' {
			t.Errorf("%s became %s", first, flipped)
		}
	}
}

// TestBisectFollowsGit: a commit is good if any run passes, and the middle comes first.
func TestBisectFollowsGit(t *testing.T) {
	t.Parallel()
	for culprit := 1; culprit <= 16; culprit++ {
		r := newReplay(&line{ID: "x", Culprit: culprit, Commits: make([]commit, 16)}, &fault{ID: "x", Before: "P", After: "S"}, false)
		one, err := bisect(1)(t.Context(), r)
		five, err5 := bisect(5)(t.Context(), r)
		if err != nil || err5 != nil || !one.right || !five.right || one.runs != 4 || five.runs < 4 || five.runs > 20 || five.builds != 4 {
			t.Errorf("culprit %d: %+v and %+v, %v, %v", culprit, one, five, err, err5)
		}
	}
}

// TestLinesHaveTheCulprit among the commits around it, at whichever end these are few.
func TestLinesHaveTheCulprit(t *testing.T) {
	t.Parallel()
	var list []repo.Commit
	for i := range 40 {
		list = append(list, repo.Commit{ID: fmt.Sprint("c", i)})
	}
	for seed := range 60 {
		random := seeded(strconv.Itoa(seed))
		for _, at := range []int{0, 1, 20, 39} {
			var l line
			if !l.around(list, fmt.Sprint("c", at), 12, random) || len(l.Commits) != 12 || l.Commits[l.Culprit-1].ID != fmt.Sprint("c", at) {
				t.Errorf("c%d: culprit %d of %v", at, l.Culprit, l.Commits)
			}
		}
		var l line
		if !l.replay(list, []string{"a.go"}, 100, random) || len(l.Commits) != 41 || l.Commits[l.Culprit-1].Paths[0] != "a.go" || l.Commits[40].ID == "" && l.Culprit != 41 {
			t.Errorf("culprit %d of %d", l.Culprit, len(l.Commits))
		}
	}
	var l line
	if l.around(list, "elsewhere", 12, seeded("")) || l.around(list[:5], "c1", 12, seeded("")) || l.replay(list[:5], nil, 12, seeded("")) {
		t.Error("too few commits make no line")
	}
}

// TestSavedLinesAreChecked: what was saved is read as it was, and what is not valid is an error.
func TestSavedLinesAreChecked(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lines")
	for _, c := range []struct {
		culprit, commits int
		ok               bool
	}{{1, 8, true}, {8, 8, true}, {0, 8, false}, {9, 8, false}, {1, 7, false}, {1, 257, false}} {
		if err := save(file, []line{{ID: "x", Culprit: c.culprit, Commits: make([]commit, c.commits)}}); err != nil {
			t.Fatal(err)
		}
		if got, err := load(file); (err == nil) != c.ok || c.ok && (len(got) != 1 || got[0].Culprit != c.culprit) {
			t.Errorf("culprit %d of %d: %v, %v", c.culprit, c.commits, got, err)
		}
	}
	for _, args := range [][]string{{"word"}, {"-reverts"}, {"-lines", file + "none"}} {
		var out bytes.Buffer
		if err := run(t.Context(), args, &out); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
