// Command warden is the security judge of an audit: it looks for what addresses the reader in the opinion and in the evidence.
package main

import (
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/steering"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

func init() { judge.Handle(score) }

func main() {}

func score(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
	return reading.Judge("the warden", r, func(r *abi.JudgeRequest) func(string) (abi.CriterionOpinion, bool) {
		found := inspect(&r.Opinion, r.Evidence)
		return func(criterion string) (abi.CriterionOpinion, bool) { return found, criterion == "security" }
	})
}

const (
	// maxShown is how many breaches the argument tells of, maxCited how many items are cited.
	maxShown, maxCited = 5, 32
	// maxBytes of all texts are read: some seconds of fuel.
	maxBytes = 4 << 20
	// tampered is about the probability that an item was tampered with which claims a document that does not have it. It is no breach alone: a
	// source that quotes from memory does it too.
	tampered = 0.3
)

// inspect reads the opinion and all evidence for breaches. What the opinion
// quotes from the evidence it reports: a breach in it is the evidence's own.
func inspect(opinion *abi.JudicialOpinion, evidence []abi.Evidence) abi.CriterionOpinion {
	in := inspection{file: reading.Open(evidence), left: maxBytes}
	in.o.CitedEvidence = []string{}
	in.opinion(opinion.Text)
	var absent []string
	for i := range evidence {
		e := &evidence[i]
		switch name, ref, _ := strings.Cut(e.SourceRef, ":"); {
		case name == reading.OpinionName || name == reading.DissentName: // it was read before, or is another judge's
		case name != reading.ForensicsName:
			in.item(e)
		case strings.HasPrefix(e.Content, "absent") && !slices.Contains(absent, ref):
			absent = append(absent, ref)
		}
	}
	exposed := in.file.Exposed(reading.Statements(opinion.Text))
	forged := slices.DeleteFunc(absent, func(ref string) bool {
		return slices.ContainsFunc(exposed, func(item *reading.Item) bool { return item.SourceRef == ref })
	})
	if len(forged) > 0 {
		in.worst = max(in.worst, tampered)
	}
	in.forged(len(forged), ", and the opinion doesn't say so")
	in.forged(len(exposed), ", as the opinion says itself")
	return in.conclude()
}

// inspection is the work of inspect.
type inspection struct {
	file     *reading.File
	o        abi.CriterionOpinion
	told     []string
	worst    float64
	culprit  bool // a breach that the opinion does not report
	reported []string
	items    int
	left     int // bytes that are read still
}

func (in *inspection) look(content string) steering.Finding {
	content = content[:min(len(content), in.left)]
	in.left -= len(content)
	return steering.Detect(content)
}

func (in *inspection) tell(where string, found *steering.Finding) {
	if len(in.told) < maxShown {
		in.told = append(in.told, reading.Snippet(where)+": "+strings.Join(found.Kinds, ", ")+quoted(found.Passage))
	}
}

// opinion reads the text but for what it quotes from the evidence.
func (in *inspection) opinion(content string) {
	found := in.look(reading.Unquoted(content, func(q *reading.Quotation) bool {
		if !steering.Steers(q.Text) {
			return true
		}
		items := in.file.Quoted(q)
		for _, item := range items {
			in.reported = append(in.reported, item.SourceRef)
		}
		return len(items) == 0
	}))
	in.worst = max(in.worst, found.Probability)
	if found.Probability >= steering.Breach {
		in.culprit, in.o.SecurityViolationFound = true, true
		in.o.CitedEvidence = append(in.o.CitedEvidence, "opinion")
		in.tell("the opinion", &found)
	}
}

// item reads an item of the evidence. A breach in it is a violation in any case, since whoever reads the evidence is addressed.
func (in *inspection) item(e *abi.Evidence) {
	in.items++
	found := in.look(e.Content)
	reported := slices.Contains(in.reported, e.SourceRef)
	if !reported {
		in.worst = max(in.worst, found.Probability)
	}
	if found.Probability < steering.Breach {
		return
	}
	in.o.SecurityViolationFound = true
	if slices.Contains(in.o.CitedEvidence, e.SourceRef) || len(in.o.CitedEvidence) == maxCited {
		return
	}
	in.o.CitedEvidence = append(in.o.CitedEvidence, e.SourceRef)
	where := e.SourceRef
	if reported {
		where += ", which the opinion only quotes"
	} else {
		in.culprit = true
	}
	in.tell(where, &found)
}

// forged tells of items that claim a document which does not have them. They are the case's. An opinion that says so has done its part:
// nothing is left to suspect.
func (in *inspection) forged(n int, said string) {
	if n > 0 {
		in.told = append(in.told, text.Count(n, "item")+" of the case"+text.Agree(n, " claims a document that does not have it", " claim documents that do not have them")+said)
	}
}

// Scores: of a breach that nobody reports, and of one that the opinion reports.
const culprit, reporter = 1, 3

func (in *inspection) conclude() abi.CriterionOpinion {
	o := &in.o
	// Sure of what it finds, less so of what it does not.
	o.RelevanceConfidence = max(in.worst, 0.6)
	o.NumericScore = 5 - int(math.Ceil(4*in.worst))
	switch {
	case in.culprit:
		o.NumericScore = culprit
	case o.SecurityViolationFound:
		o.NumericScore = min(o.NumericScore, reporter)
	}
	known := "No known pattern of steering stands in the opinion"
	if in.items > 0 {
		known += " or in " + text.Count(in.items, "item")
	}
	switch {
	case len(in.told) == 0:
		o.Argument = known + "."
	case o.SecurityViolationFound:
		o.Argument = strings.Join(in.told, "; ") + "."
	default:
		o.Argument = known + "; " + strings.Join(in.told, "; ") + "."
	}
	return *o
}

func quoted(passage string) string {
	if passage == "" {
		return ""
	}
	return " (\"" + reading.Snippet(passage) + "\")"
}
