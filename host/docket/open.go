package docket

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Open says of a case without an answer why it has none, and what to do next.
type Open struct {
	Why string
	// Next are the first things to do, those needed most first; at most two.
	Next []string
}

// Open gives nil for a case that has an answer, or of which nothing is told.
func (r *Result) Open() *Open {
	if r.GapBrief == nil || r.Final.Classification != "" {
		return nil
	}
	const most = 2
	o := &Open{Why: r.GapBrief.Summary}
	for i := range r.GapBrief.Gaps {
		if action := r.GapBrief.Gaps[i].SuggestedAction; action != "" && len(o.Next) < most {
			o.Next = append(o.Next, action)
		}
	}
	return o
}

// Told says whether there is more to tell of the trial than its result in a line.
func (t *Trial) Told() bool {
	r := &t.Result
	return r.Activated || len(t.Light) > 0 || r.GapBrief != nil || r.Error != nil
}

// About says what the case is about beside its id: its subject, or where that says hardly more than the id, the
// beginning of the item of evidence that bears on it most, in one line.
func (t *Trial) About() string {
	if !repeats(t.Case.Subject, t.Result.ID) {
		return t.Case.Subject
	}
	var best *abi.Evidence
	for i := range t.Case.Evidence {
		if e := &t.Case.Evidence[i]; best == nil || e.RelevanceConfidence > best.RelevanceConfidence {
			best = e
		}
	}
	if best == nil {
		return t.Case.Subject
	}
	const most = 400 // bytes, more than anybody shows
	content := best.Content
	if len(content) > most {
		content = strings.ToValidUTF8(content[:most], "")
	}
	if words := strings.Fields(content); len(words) > 0 {
		return strings.Join(words, " ")
	}
	return t.Case.Subject
}

// repeats says whether more than half of a subject's letters are words that stand in the id.
func repeats(subject, id string) bool {
	known, all := 0, 0
	for word := range strings.FieldsSeq(subject) {
		all += len(word)
		if strings.Contains(id, word) {
			known += len(word)
		}
	}
	return 2*known > all
}
