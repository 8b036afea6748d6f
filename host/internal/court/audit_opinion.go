package court

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Keys of the metadata of an opinion that a verdict wrote.
const (
	metaDecision       = "decision"
	metaClassification = "final_classification"
	metaConfidence     = "confidence"
	metaCharge         = "charge"
)

// OpinionOf writes the opinion of a trial's last verdict, from the verdict itself, the hearing and the evidence, for an audit. court is the
// name of the court. It is false where there is no verdict.
func OpinionOf(t *trial.Trial, court string) (audit.Subject, bool) {
	if t.Result.Verdict == nil || len(t.Passes) == 0 {
		return audit.Subject{}, false
	}
	v := t.Result.Verdict
	w := opinionWriter{trial: t, pass: &t.Passes[len(t.Passes)-1]}
	w.charge()
	w.evidence()
	w.discovery()
	w.defense()
	w.hearing()
	w.ruling(v)
	o := abi.JudicialOpinion{
		Text: w.text.String(), CaseID: t.Result.ID, CourtName: court,
		Metadata: map[string]string{metaDecision: string(v.Decision), metaConfidence: strconv.FormatFloat(v.Confidence, 'g', -1, 64)},
	}
	if v.FinalClassification != "" {
		o.Metadata[metaClassification] = v.FinalClassification
	}
	if w.pass.Indictment != nil {
		o.Metadata[metaCharge] = w.pass.Indictment.ChargedDefectType
	}
	return audit.Subject{Opinion: o, Evidence: t.Case.Evidence, Documents: t.Case.Documents}, true
}

// opinionWriter writes an opinion, a paragraph for each part.
type opinionWriter struct {
	trial *trial.Trial
	pass  *trial.Pass
	text  strings.Builder
}

// say writes a paragraph of sentences; empty ones are left out.
func (w *opinionWriter) say(sentences ...string) {
	var list []string
	for _, s := range sentences {
		if s = strings.TrimSpace(s); s != "" {
			list = append(list, s)
		}
	}
	if len(list) > 0 {
		w.text.WriteString(strings.Join(list, " ") + "\n")
	}
}

func (w *opinionWriter) charge() {
	light := w.pass.Light
	w.say("Light classifies the case as " + light.Classification + " with a confidence of " + trial.Number(light.Confidence) + ".")
	if in := w.pass.Indictment; in != nil {
		w.say("The prosecution charges "+in.ChargedDefectType+" with a confidence of "+trial.Number(in.Confidence)+".", in.ProsecutionNarrative)
	}
}

// evidence quotes each item, and names the challenges to it: of one that claims a document which doesn't have it first of all that.
func (w *opinionWriter) evidence() {
	items := w.pass.Items()
	for i := range items {
		item := &items[i]
		s := "Item " + strconv.Itoa(item.Index) + ", " + item.SourceRef
		if item.Supports != "" {
			s += ", speaks for " + item.Supports
		}
		if item.Quote == abi.QuoteAbsent {
			s += ", and does not stand in the document that it names"
		}
		if quote := quotation(item.Content); quote != "" {
			s += ": " + quote
		}
		sentences := []string{s + "."}
		for _, c := range item.Challenges {
			sentences = append(sentences, "Against it "+c.By+" objects, as "+string(c.Severity)+": "+sentence(c.Challenge))
		}
		w.say(sentences...)
	}
}

// maxQuotation is how much of a line an opinion quotes, in bytes.
const maxQuotation = 240

// quotation quotes the first line of a content that says something.
func quotation(content string) string {
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(line) > maxQuotation {
			line = strings.ToValidUTF8(line[:maxQuotation], "")
		}
		if !strings.Contains(line, `"`) {
			return `"` + line + `"`
		}
		return "“" + strings.ReplaceAll(line, "”", "'") + "”"
	}
	return ""
}

func (w *opinionWriter) discovery() {
	d := w.pass.Discovery
	if d == nil {
		return
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		w.say("The forensic expert finds in " + f.Document + " " + quotation(f.Quote) + ": " + sentence(f.Observation))
	}
	for _, missing := range d.Missing {
		w.say("The forensic expert misses: " + sentence(missing))
	}
}

func (w *opinionWriter) defense() {
	b := w.pass.Brief
	switch {
	case b == nil:
		return
	case b.PleaDeal:
		w.say("The defense concedes the charge.")
	case b.MotionToDismiss:
		w.say("The defense moves to dismiss the charge.")
	}
	if a := b.AlternativeHypothesis; a != nil {
		w.say("The defense argues against the charge for the alternative "+a.Label+".", a.Reasoning)
	}
}

func (w *opinionWriter) hearing() {
	h := w.pass.Hearing
	if h == nil {
		return
	}
	for i := range h.Rounds {
		r := &h.Rounds[i]
		for _, turn := range [...]struct{ who, words string }{
			{"the prosecution argues", r.ProsecutionArgument}, {"the defense answers", r.DefenseRebuttal}, {"the bench notes", r.JudgeNotes},
		} {
			if strings.TrimSpace(turn.words) != "" {
				w.say("In round " + strconv.Itoa(r.Round) + " " + turn.who + ": " + sentence(turn.words))
			}
		}
	}
}

func (w *opinionWriter) ruling(v *trial.Ruling) {
	s := "The verdict is to " + string(v.Decision)
	if v.FinalClassification != "" {
		s += ", and the classification " + v.FinalClassification
	}
	w.say(s+", with a confidence of "+trial.Number(v.Confidence)+", for these reasons.", sentence(v.Reasoning))
}

// sentence ends a sentence.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// AuditOf states an outcome as results and reports want it.
func AuditOf(o *audit.Outcome) *trial.Audit {
	a := &trial.Audit{
		CaseID: o.CaseID, CourtName: o.CourtName, Rubric: o.Rubric, GlobalScore: o.Report.GlobalScore, Summary: o.Report.Summary,
		Results: make([]trial.AuditResult, len(o.Findings)), Errors: make([]trial.AuditError, len(o.Errors)),
		CutDocuments: make([]trial.DocumentCut, len(o.Cut)), Degraded: len(o.Errors) > 0, Modules: o.Modules, Fuel: o.Fuel,
	}
	if len(o.State.Opinions) > 0 {
		a.Opinion = o.State.Opinions[0].Opinion.Text
	}
	a.Cited = cited(o)
	for i, c := range o.Cut {
		a.CutDocuments[i] = trial.DocumentCut{Name: c.Document, Bytes: c.Bytes, Kept: c.Kept}
	}
	for i := range o.Findings {
		a.Results[i] = auditResult(&o.Findings[i])
		a.SecurityViolationFound = a.SecurityViolationFound || a.Results[i].SecurityViolationFound
		a.Degraded = a.Degraded || a.Results[i].Degraded
	}
	for i := range o.Errors {
		e := &o.Errors[i]
		a.Errors[i] = trial.AuditError{
			Node: e.At.Node, Pass: e.At.Pass, Persona: e.Persona, Module: e.Digest, Cause: e.Cause, Detail: e.Detail,
		}
	}
	return a
}

// cited gives the items that judges cite, in the order of the evidence.
func cited(o *audit.Outcome) []trial.CitedItem {
	refs := make(map[string]bool)
	for i := range o.Findings {
		for _, v := range o.Findings[i].Voices {
			if v.Opinion != nil {
				for _, ref := range v.Opinion.CitedEvidence {
					refs[ref] = true
				}
			}
		}
	}
	var list []trial.CitedItem
	for _, channel := range slices.Sorted(maps.Keys(o.State.Evidences)) {
		for _, e := range o.State.Evidences[channel] {
			item := trial.CitedItem{SourceRef: e.SourceRef, Content: e.Content}
			if refs[e.SourceRef] && !slices.Contains(list, item) {
				list = append(list, item)
			}
		}
	}
	return list
}

func auditResult(f *audit.Finding) trial.AuditResult {
	r := trial.AuditResult{
		CriterionID: f.Result.CriterionID, Category: f.Result.Category, NumericScore: f.Result.NumericScore,
		Reasoning: f.Result.Reasoning, RelevanceConfidence: f.Result.RelevanceConfidence,
		SecurityViolationFound: f.Result.SecurityViolationFound, Degraded: f.Degraded,
		Description: f.Description, Weight: f.Weight, Share: f.Share,
		Judges: make([]trial.AuditJudge, len(f.Voices)),
	}
	if f.Dissent != "" {
		r.Dissent = &f.Dissent
	}
	for i := range f.Voices {
		r.Judges[i] = auditJudge(&f.Voices[i])
	}
	return r
}

func auditJudge(v *audit.Voice) trial.AuditJudge {
	j := trial.AuditJudge{Judge: v.Judge, Lead: v.Lead, Standing: string(v.Standing), CitedEvidence: []string{}}
	if v.Why != "" {
		j.Why = &v.Why
	}
	if o := v.Opinion; o != nil {
		j.NumericScore, j.Argument = &o.NumericScore, o.Argument
		j.CitedEvidence = append(j.CitedEvidence, o.CitedEvidence...)
		j.RelevanceConfidence, j.SecurityViolationFound = o.RelevanceConfidence, o.SecurityViolationFound
	}
	return j
}
