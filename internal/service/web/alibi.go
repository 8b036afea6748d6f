package web

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// attribution is an answer of the alibi in a row.
type attribution struct {
	Verdict alibi.Verdict
	Class   string
	Says    string
}

// attributionOf is nil for nil.
func attributionOf(a *store.Alibi) *attribution {
	if a == nil {
		return nil
	}
	return &attribution{a.Verdict, map[alibi.Verdict]string{alibi.IsYours: "yours", alibi.NotYours: "not", alibi.IsOpen: "open"}[a.Verdict], render.AnswerSays(answerOf(a))}
}

// answerOf is an answer without its runs.
func answerOf(a *store.Alibi) *alibi.Answer {
	return &alibi.Answer{Verdict: a.Verdict, Label: a.Label, Part: a.Part, Why: a.Why, Next: a.Next, Culprit: a.Culprit}
}

// proofView is the proof at a glance on the page of a trial.
type proofView struct {
	*attribution
	render.AnswerParts
	Facts []proofFact
}

type proofFact struct{ Name, Text, Href string }

// proofOf is nil where the entry is none of the alibi.
func proofOf(c *caseView) (*proofView, error) {
	a := c.Alibi
	if a == nil || c.Trial == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	shown := answerOf(a)
	shown.Runs = c.Trial.Result.Experiments
	parts, err := render.NewAnswerParts(&render.Answered{Answer: *shown, Trial: c.Trial})
	if err != nil {
		return nil, err
	}
	v := &proofView{attribution: c.Attribution, AnswerParts: parts}
	base, head := shortCommit(a.Change.Base), shortCommit(a.Change.Head)
	if a.Change.Why != "" {
		base += " (" + a.Change.Why + ")"
	}
	if a.Change.Uncommitted {
		head += ", with changes that are not committed"
	}
	v.Facts = append(v.Facts, proofFact{Name: "Base", Text: base}, proofFact{Name: "Head", Text: head})
	if a.Change.Target != "" {
		v.Facts = append(v.Facts, proofFact{Name: "Target", Text: shortCommit(a.Change.Target)})
	}
	code := map[abi.LoadedCode]string{
		abi.Certified: "certified: its runs loaded its own code", abi.NotCertified: "not certified: nobody knows what its runs loaded",
		abi.Contradicted: "contradicted: its runs loaded the code of another tree",
	}[alibi.Of(c.Trial).Base]
	if code == "" {
		code = "not run"
	}
	signed := proofFact{Name: "Signature", Text: "not signed"}
	if a.Key != "" {
		signed = proofFact{Name: "Signature", Text: "the record is signed by the key " + a.Key, Href: api.Prefix + "/dockets/" + strconv.FormatInt(c.Docket, 10) + "/records"}
	}
	v.Facts = append(v.Facts, proofFact{Name: "Code of the base", Text: code}, signed)
	return v, nil
}

func shortCommit(id string) string {
	const digits = 12
	return id[:min(len(id), digits)]
}

// decided counts the answers of the alibi.
type decided struct {
	Cases, Open int
	// Reviewed have a label that a person set, which in the Agreed ones is the answer.
	Reviewed, Agreed int
	counts           map[string]int
}

func (d *decided) count(t *store.Tally) {
	d.Cases += t.Results
	if t.Label == "" {
		d.Open += t.Results
	} else {
		if d.counts == nil {
			d.counts = map[string]int{}
		}
		d.counts[t.Label] += t.Results
	}
	if t.Corrected {
		d.Reviewed += t.Results
		d.Agreed += one(t.Label == t.Truth) * t.Results
	}
}

// decidedAnswer is how often there was one answer.
type decidedAnswer struct {
	Name    string
	Verdict alibi.Verdict
	Count   int
}

// Answers are those that there were, in the order of the labels.
func (d *decided) Answers() (list []decidedAnswer) {
	for _, l := range alibi.Labels() {
		if n := d.counts[l]; n > 0 {
			a := decidedAnswer{l, alibi.NotYours, n}
			if alibi.Yours(l) {
				a.Verdict = alibi.IsYours
			}
			list = append(list, a)
		}
	}
	return list
}

// Sentence says what the answers are.
func (d *decided) Sentence() string {
	yours := 0
	for _, a := range d.Answers() {
		if a.Verdict == alibi.IsYours {
			yours += a.Count
		}
	}
	said := render.AnswersInWords(yours, d.Cases-d.Open-yours, d.Open)
	if d.Reviewed == 0 {
		return said + " Nobody has confirmed or corrected one yet."
	}
	return said + " People agree with " + thousands(d.Agreed) + " of the " + plural(d.Reviewed, "answer", "answers") + " that they looked at."
}
