package trial

import (
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
	r := &t.Result
	return r.Activated || len(t.Light) > 0 || r.GapBrief != nil || r.Error != nil || t.reasoned() || len(t.Grounds()) > 0
}

// reasoned says whether Light's answer came with a reason.
func (t *Trial) reasoned() bool {
	l := t.Case.Light
	return l != nil && strings.TrimSpace(l.Reasoning) != ""
}

// About says what the case is about beside its id: its subject, or where that says hardly more than the id, the
// beginning of the first item of evidence that bears on it, in one line.
func (t *Trial) About() string {
	if !repeats(t.Case.Subject, t.Result.ID) {
		return t.Case.Subject
	}
	if message := t.Message(); message != "" {
		return message
	}
	return t.Case.Subject
}

// Message is the evidence that tells most of the failure, such as its message, on one line; empty where there is none.
func (t *Trial) Message() string {
	best := headline(t.Case.Evidence)
	if best == nil {
		return ""
	}
	const most = 400 // bytes, more than anybody shows
	said := strings.Join(strings.Fields(message(best.Content)), " ")
	if len(said) > most {
		said = strings.ToValidUTF8(said[:most], "")
	}
	return said
}

// headline is the item that stands first in the documents of those that bear on the case at least as much as not: what
// tells more about it, such as the frames behind a crash, comes after it. Where there is none, it is the one that bears on
// the case most.
func headline(items []abi.Evidence) *abi.Evidence {
	const enough = 0.5
	var best *abi.Evidence
	for i := range items {
		e := &items[i]
		switch {
		case best == nil:
			best = e
		case best.RelevanceConfidence < enough:
			if e.RelevanceConfidence > best.RelevanceConfidence {
				best = e
			}
		case e.RelevanceConfidence >= enough && standsBefore(e.SourceRef, best.SourceRef):
			best = e
		}
	}
	return best
}

// standsBefore compares two places as the readers of this package write them, "log:L12"; in two documents none is first.
func standsBefore(a, b string) bool {
	documentA, lineA := placeIn(a)
	documentB, lineB := placeIn(b)
	return documentA == documentB && lineA < lineB
}

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
