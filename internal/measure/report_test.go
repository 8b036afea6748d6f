package measure

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// TestComparisonByHand: seven cases with a known truth in the band and three outside. The court, where it leaves a case
// open, counts as Light.
//
//	case  truth  Light  court  counts as  Light right  court right
//	1     a      a      a      a          yes          yes
//	2     b      a      b      b          no           yes
//	3     a      a      b      b          yes          no
//	4     c      a      b      b          no           no
//	5     c      b      a      a          no           no
//	7     a      a      -      a          yes          yes
//	8     b      a      a      a          no           no
//	9     c      a      c      c          no           yes
//	10    b      a      -      a          no           no
func TestAccept_ME5_ComparisonByHand(t *testing.T) {
	t.Parallel()
	r := Measure(flipTable(), nil)
	wantShare(t, "court in the band", r.Band.Court, 4, 9)
	wantShare(t, "Light in the band", r.Band.Light, 3, 9)
	wantShare(t, "coverage", r.Band.Coverage, 7, 9)
	// Outside: accepted a/a is right, accepted a/b wrong, rejected a/b counts as Light's answer: wrong.
	wantShare(t, "court overall", r.Overall.Court, 5, 12)
	wantShare(t, "Light overall", r.Overall.Light, 4, 12)
	// Of three differing cases two: P = 2 * (1+3)/8, at most 1.
	if b := &r.Band; b.CourtOnly != 2 || b.LightOnly != 1 || b.Test != ExactTest || b.P < 1-1e-12 || b.Finding != NotWorse {
		t.Errorf("difference to Light: %+v", b)
	}
	if r.Cases.Cases != 13 || r.Cases.Known != 12 || r.Cases.Tried != 10 {
		t.Errorf("cases %+v", r.Cases)
	}
}

// duel are n cases in the band: plus that only the court has right, minus that only Light has, the others both.
func duel(n, plus, minus int) []Observation {
	var list []Observation
	for i := range n {
		switch {
		case i < plus:
			list = append(list, tried("b", .6, "a", .8, "a"))
		case i < plus+minus:
			list = append(list, tried("a", .6, "b", .8, "a"))
		default:
			list = append(list, tried("a", .6, "a", .8, "a"))
		}
	}
	return list
}

func TestFindings(t *testing.T) {
	t.Parallel()
	oneGroup := duel(100, 12, 0)
	for i := range 12 {
		oneGroup[i].Group = "one"
	}
	for _, test := range []struct {
		name string
		list []Observation
		want Finding
	}{
		{"six ahead", duel(100, 6, 0), Better},
		{"five ahead: the test can't tell", duel(100, 5, 0), NotWorse},
		{"twelve ahead, all of one group", oneGroup, NotWorse},
		{"six behind", duel(100, 0, 6), Worse},
		{"all alike", duel(40, 0, 0), NotWorse},
		{"a little behind", duel(100, 3, 4), NotWorse},
	} {
		if r := Measure(test.list, nil); r.Band.Finding != test.want || r.Overall.Finding != test.want {
			t.Errorf("%s: %s, want %s (%+v)", test.name, r.Band.Finding, test.want, r.Band)
		}
	}
}

func TestGroupsWidenTheIntervals(t *testing.T) {
	t.Parallel()
	single := duel(200, 40, 10)
	grouped := slices.Clone(single)
	for i := range grouped {
		grouped[i].Group = strconv.Itoa(i / 10)
	}
	a, b := Measure(single, nil).Band, Measure(grouped, nil).Band
	width := func(s Share) float64 { return s.Interval.High - s.Interval.Low }
	if width(b.Court) <= width(a.Court) || b.P <= a.P {
		t.Errorf("the groups make no difference: %+v, %+v", a, b)
	}
}

// TestTheDocumentationHasEveryField: docs/measuring.md names each field of the JSON.
func TestTheDocumentationHasEveryField(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "measuring.md"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(Measure(duel(100, 40, 0), &BandOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range regexp.MustCompile(`"(\w+)":`).FindAllSubmatch(data, -1) {
		if !bytes.Contains(page, append(append([]byte("`"), field[1]...), '`')) {
			t.Errorf("the page does not name %s", field[1])
		}
	}
}
