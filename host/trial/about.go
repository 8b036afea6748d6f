package trial

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Open says why a case has no answer, and what to do next.
type Open struct {
	Why string
	// Next are the first things to do, those needed most first; at most two.
	Next []string
}

// Open gives nil for a case with an answer, and for one without a gap brief.
func (r *Result) Open() *Open {
	if r.GapBrief == nil || r.Final.Classification != "" {
		return nil
	}
	most := 2
	if r.Error != nil {
		most = 1 // more evidence is no help where something is broken
	}
	o := &Open{Why: r.GapBrief.Summary}
	for i := range r.GapBrief.Gaps {
		if action := r.GapBrief.Gaps[i].SuggestedAction; action != "" && len(o.Next) < most {
			o.Next = append(o.Next, action)
		}
	}
	return o
}

// Told says whether a trial has more to show than one line for its result.
func (t *Trial) Told() bool {
	r, light := &t.Result, t.Case.Light
	return r.Activated || len(t.Light) > 0 || r.GapBrief != nil || r.Error != nil || light != nil && strings.TrimSpace(light.Reasoning) != "" ||
		len(t.Grounds()) > 0 || r.Rules != nil && (len(r.Rules.Matches) > 0 || r.Rules.Error != nil)
}

// About says what the case is about beside its id, on one line: its subject, or where that says hardly more than the id, what the
// failure says of itself.
func (t *Trial) About() string {
	if !repeats(t.Case.Subject, t.Result.ID) {
		return t.Case.Subject
	}
	if message := t.Message(); message != "" {
		return message
	}
	return t.Case.Subject
}

// ofRuns says whether a source is what package alibi says of the runs of a test; what a report has of them stands in a line.
func ofRuns(ref string) bool {
	_, line := placeIn(ref)
	return strings.HasPrefix(ref, "runs:") && line == 0
}

// enough is how much an item bears on its case that bears on it as much as not.
const enough = 0.5

// headline is the item that tells most of the failure, see [tells], of those that bear on the case at least as much as not and stand
// in the same document as the first. Of several that tell as much it is the first: what tells more about it, such as the frames behind
// a crash, comes after it. Where there is none, it is the one that bears on the case most.
func headline(items []abi.Evidence) *abi.Evidence {
	var best *abi.Evidence
	for i := range items {
		e := &items[i]
		switch {
		case ofRuns(e.SourceRef): // says what runs showed, not what the failure says of itself
		case best == nil:
			best = e
		case best.RelevanceConfidence < enough:
			if e.RelevanceConfidence > best.RelevanceConfidence {
				best = e
			}
		case e.RelevanceConfidence >= enough && tellsMore(e, best):
			best = e
		}
	}
	return best
}

// How much the content of an item tells of why a test failed.
const (
	tellsLittle = iota // what the environment or the product printed
	tellsPlaced        // what a test of Go wrote: a message of t.Log looks like one of t.Error
	tellsCrash
	tellsExpected // what was expected
)

var (
	placedText   = regexp.MustCompile(`^\s+\S+\.go:\d+: `)
	crashText    = regexp.MustCompile(`^\s*(panic: |fatal error: |unexpected fault address|WARNING: DATA RACE)`)
	expectedText = regexp.MustCompile(`(?im)\b(want(s|ed)?|expect(s|ed|ing)?|unexpected|should|mismatch|not equal|but was)\b|!=|==|^E\s|\bassert`)
)

func tells(content string) int {
	switch {
	case crashText.MatchString(content):
		return tellsCrash
	case expectedText.MatchString(content):
		return tellsExpected
	case placedText.MatchString(content):
		return tellsPlaced
	}
	return tellsLittle
}

// tellsMore says whether an item tells more of the failure than another of its document. A test of Go that stops does so with its last
// message, so the last one counts of those that name nothing expected.
func tellsMore(e, than *abi.Evidence) bool {
	documentA, lineA := placeIn(e.SourceRef)
	documentB, lineB := placeIn(than.SourceRef)
	if documentA != documentB {
		return false
	}
	a, b := tells(e.Content), tells(than.Content)
	switch {
	case a != b:
		return a > b
	case a == tellsPlaced:
		return lineA > lineB
	}
	return lineA < lineB
}

// placeIn splits a place as the readers of reports write it, "log:L12".
func placeIn(ref string) (document string, line int) {
	i := strings.LastIndex(ref, ":L")
	if i < 0 {
		return ref, 0
	}
	line, err := strconv.Atoi(ref[i+len(":L"):])
	if err != nil {
		return ref, 0
	}
	return ref[:i], line
}

// repeats says whether more than half of a subject's letters are words that stand in the id. That something fails says nothing.
func repeats(subject, id string) bool {
	known, all := 0, 0
	for word := range strings.FieldsSeq(subject) {
		if word == "fails" {
			continue
		}
		all += len(word)
		if strings.Contains(id, word) {
			known += len(word)
		}
	}
	return 2*known > all
}
