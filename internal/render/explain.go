package render

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Explain writes one trial step by step, redacted and sanitized. The redactor may be nil.
func Explain(w io.Writer, t *trial.Trial, redactor *Redactor, options TerminalOptions) error {
	s := newStory(options)
	s.trial = redactor.Trial(t)
	s.cast = s.trial.Cast()
	s.opening()
	s.light(0)
	for i := range s.trial.Passes {
		s.pass(i, &s.trial.Passes[i])
	}
	s.around()
	s.light(max(len(s.trial.Passes), 1)) // an answer that came to no trial, or failed
	s.ending()
	_, err := io.WriteString(w, s.b.String())
	return err
}

// opening tells what the case is, the conclusion, which people read first, the rules of the user that matched, and what Light said.
func (s *story) opening() {
	t := s.trial
	s.line(s.paint(bold, "Case "+snip(t.Result.ID, 100)))
	s.say(2, plain, sanitize.Line(t.Case.Subject))
	if n := len(t.Result.Members); n > 0 {
		s.say(2, plain, "stands for "+plural(n, "more case", "more cases")+" that failed in the same way: "+sanitize.Line(strings.Join(t.Result.Members, ", ")))
	}
	s.say(2, plain, "labels "+sanitize.Line(strings.Join(s.named(t.Case.Labels), ", ")))
	if t.Truth != nil && t.Truth.Classification != "" {
		s.note("truth  " + s.label(t.Truth.Classification))
	}
	c := t.Conclusion()
	s.line("")
	s.line(s.paint(bold, "Conclusion"))
	s.say(2, bold, c.Text)
	if about := t.About(); about != t.Case.Subject {
		s.say(2, plain, snip(about, openColumns))
	}
	if c.Next != "" && t.Result.Proposal == nil && t.Result.GapBrief == nil {
		s.say(2, plain, "next: "+c.Next)
	}
	if r := t.Result.Rules; r != nil && (len(r.Matches) > 0 || r.Error != nil) {
		s.head(abi.Persona{}, "Your rules") // what a person wrote, and nobody found
		for i := range r.Matches {
			m := &r.Matches[i]
			s.say(2, plain, "• "+r.Says(m))
			s.note("  " + bar(m.Confidence, 10) + " " + weight(m.Confidence) + " for " + s.short(m.Label) + ", " + snip(m.SourceRef, 40))
			s.say(6, faint, shortText(m.Content))
		}
		if f := r.Error; f != nil {
			s.say(2, red, "The rules of "+sanitize.Line(r.File)+" could not be evaluated, and the case was tried without them: "+failureText(f))
		}
	}
	if l := t.Result.Light; l != nil {
		s.head(abi.Persona{Name: "Light"}, s.label(l.Classification)+" at "+number(l.Confidence))
	}
	if t.Case.Light != nil {
		s.say(2, plain, s.trial.Named(t.Case.Light.Reasoning))
	}
	if len(t.Passes) > 0 {
		return
	}
	items := t.Grounds() // what the Light path gathered is told with it
	for i := range items {
		s.evidence(&items[i])
	}
	if t.Result.Light != nil && len(items) == 0 && !t.Gathered() {
		s.note("No item of evidence that came with the case speaks for it.")
	}
	s.note("There was no trial.")
}

// around tells what experiments and language models were asked, what that showed and took, and which evidence counts less than it claims.
func (s *story) around() {
	r := &s.trial.Result
	if len(r.Experiments) > 0 {
		var counted []string
		if n := len(s.trial.Passes); n > 0 && s.trial.Passes[n-1].Verdict != nil {
			_, counted = apart(s.trial.Passes[n-1].Verdict.Reasoning, r.Experiments)
		}
		s.head(abi.Persona{}, "Experiments")
		for i := range r.Experiments {
			e := &r.Experiments[i]
			by := "asked for by " + snip(s.trial.Persona(e.Persona).Name, nameColumns)
			if counted != nil {
				by = snip(counted[i], nameColumns) + ", " + by
			}
			s.note("• " + e.What() + ": " + s.paint(bold, e.Showed()) + " (" + by + ")")
			if e.Outcome != abi.OutcomeSame {
				s.say(6, faint, e.Detail)
			}
		}
	}
	if len(r.Completions)+len(r.Fallbacks) > 0 {
		s.head(abi.Persona{}, "Language models")
	}
	for i := range r.Completions {
		c := &r.Completions[i]
		s.note("• " + snip(s.trial.Persona(c.Persona).Name, nameColumns) + " asked " + snip(c.Model, nameColumns) + " at " + snip(c.Node, nameColumns) +
			": " + sanitize.Line(c.Took()))
		s.say(6, faint, c.Detail)
	}
	for i := range r.Fallbacks {
		f := &r.Fallbacks[i]
		s.note("• " + snip(f.Fallback, nameColumns) + " played " + snip(s.trial.Persona(f.Persona).Name, nameColumns) + " at " + snip(f.Node, nameColumns) +
			" in place of " + snip(f.Module, nameColumns) + ":")
		s.say(6, faint, f.Message)
	}
	if list := r.UnmeasuredSources; len(list) > 0 {
		s.note("The profile has no measurements of " + snip(strings.Join(list, ", "), nameColumns) + ": together they count little, and never decide a case.")
	}
	if list := r.ContradictoryEvidence; len(list) > 0 {
		s.note("The case cites the same passage for several labels: " + snip(strings.Join(list, ", "), nameColumns) +
			". Only the surest of these items counts; if they are equally sure, none does.")
	}
}

// ending tells what came of the case, what would settle it, and the audit of the verdict's opinion.
func (s *story) ending() {
	r := &s.trial.Result
	end := s.paint(bold, s.paint(statusPaint(r.Final.Status), sanitize.Line(string(r.Final.Status))))
	if r.Final.Classification != "" {
		end += ": " + s.label(r.Final.Classification) + " at " + number(r.Final.Confidence)
	}
	if r.Final.Cause != "" {
		end += ": " + sanitize.Line(string(r.Final.Cause))
	}
	s.line("")
	s.line(end)
	s.say(2, faint, r.Final.Status.Meaning())
	if f := r.Error; f != nil {
		s.say(2, red, failureText(f))
		for _, p := range f.Problems {
			s.say(4, plain, sanitize.Line(p.Path+": "+p.Detail+" ("+string(p.Code)+")"))
		}
	}
	s.gaps()
	a := r.Audit
	if a == nil {
		return
	}
	s.head(abi.Persona{}, "Audit of the opinion: "+a.Score()+" of 5")
	for i := range a.Results {
		r := &a.Results[i]
		title := snip(r.CriterionID, labelColumns) + " " + strconv.Itoa(r.NumericScore)
		if flags := r.Flags(); len(flags) > 0 {
			title += " (" + snip(strings.Join(flags, ", "), nameColumns) + ")"
		}
		s.say(2, bold, title)
		s.say(4, plain, r.Reasoning)
	}
	for i := range a.Errors {
		e := &a.Errors[i]
		s.say(2, red, sanitize.Line(e.Persona+" failed at "+e.Node+": "+e.Cause))
	}
}

// apart takes the sentence that lists all experiments out of an opinion, since they have a part of their own, and gives what it counts
// for each; nil where there is none.
func apart(opinion string, list []trial.Experiment) (rest string, counted []string) {
	const begin = "Experiments: "
	before, sentence, ok := strings.Cut(opinion, begin)
	if !ok {
		return opinion, nil
	}
	for i := range list {
		r := list[i].Result()
		told, ok := strings.CutPrefix(sentence, r.Experiment.Words()+": "+r.Words()+" (") // as modules word it
		if !ok {
			return opinion, nil
		}
		count, after, ok := strings.Cut(told, ")")
		if !ok {
			return opinion, nil
		}
		counted, sentence = append(counted, count), strings.TrimPrefix(after, "; ")
	}
	after, ok := strings.CutPrefix(sentence, ".")
	if !ok {
		return opinion, nil
	}
	return strings.TrimSpace(before + strings.TrimSpace(after)), counted
}

// story writes the parts of an explanation.
type story struct {
	TerminalOptions
	width int
	trial *trial.Trial
	cast  trial.Cast
	b     strings.Builder
}

func newStory(o TerminalOptions) story {
	width := o.Width
	if width <= 0 || width > 110 {
		width = 100
	}
	return story{TerminalOptions: o, width: max(width, 40)}
}

func (s *story) line(text string) { s.b.WriteString(strings.TrimRight(text, " ") + "\n") }

// head begins a part: who, and what it is.
func (s *story) head(p abi.Persona, what string) {
	s.line("")
	who := ""
	if p.Name != "" {
		who = s.paint(bold, s.paint(personaPaint(p), snip(p.Name, 40))) + "  "
	}
	s.line(who + s.paint(bold, what))
}

// say writes text of somebody else, wrapped and indented; empty text says nothing.
func (s *story) say(indent int, p paint, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	const most = 40 // lines: the whole text is in the JSON
	lines := quoted(text, s.width-indent)
	for i, l := range lines {
		if i == most {
			s.line(strings.Repeat(" ", indent) + s.paint(faint, "... "+plural(len(lines)-most, "more line", "more lines")))
			return
		}
		s.line(strings.Repeat(" ", indent) + s.paint(p, l))
	}
}

// note writes a line of ours, whose data is sanitized already.
func (s *story) note(text string) { s.line("  " + text) }

func (s *story) evidence(e *abi.Evidence) {
	s.note("• " + bar(e.RelevanceConfidence, 10) + " " + weight(e.RelevanceConfidence) + s.speaksFor(e.Supports) + ", " + snip(e.SourceRef, 40))
	s.say(6, faint, shortText(e.Content))
}

// named are labels with their names, where they have some. More than a few go without.
func (s *story) named(labels []string) []string {
	const most = 12
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = l
		if name := s.trial.LabelNames[l]; name != "" && len(labels) <= most {
			out[i] += " (" + name + ")"
		}
	}
	return out
}

func (s *story) short(label string) string { return snip(s.trial.LabelName(label), labelColumns) }

func (s *story) speaksFor(label string) string {
	if label == "" {
		return ""
	}
	return " for " + s.short(label)
}

// label is a label by its name, and behind it the label that modules and programs see.
func (s *story) label(label string) string {
	if s.trial.LabelName(label) == label {
		return sanitize.Line(label)
	}
	return s.short(label) + " (" + sanitize.Line(label) + ")"
}

// light tells the n-th pass over the Light path, if there was one. The first comes before any trial.
func (s *story) light(n int) {
	if n >= len(s.trial.Light) {
		return
	}
	p := &s.trial.Light[n]
	s.head(abi.Persona{}, "The Light path")
	s.say(2, faint, sanitize.Line(strings.Join(p.Path, " ")))
	for _, said := range Statements(p) {
		who := s.trial.Persona(said.Persona)
		s.line("  " + s.paint(personaPaint(who), snip(who.Name, 40)) + " " + sanitize.Line(s.trial.Named(said.What)))
		s.say(6, plain, s.trial.Named(said.Why))
	}
	for i := range p.Gathered {
		s.evidence(&p.Gathered[i])
	}
	if asked := CapabilityUse(p); asked != "" {
		s.note("asked the host: " + asked)
	}
}

// pass tells what each side said, what the judge decided, and the edges taken with the reasons of the clerk.
func (s *story) pass(i int, p *trial.Pass) {
	if i > 0 {
		s.light(i)
		s.head(abi.Persona{Name: "Light"}, "answers the remand: "+s.label(p.Light.Classification)+" at "+number(p.Light.Confidence))
		s.say(2, plain, s.trial.Named(p.Light.Reasoning))
	}
	if d := p.Indictment; d != nil {
		s.head(s.cast.Prosecution, "charges "+s.label(d.ChargedDefectType)+" at "+number(d.Confidence))
		s.say(2, plain, s.trial.Named(d.ProsecutionNarrative))
		for _, item := range p.Items() {
			s.item(&item)
		}
	}
	if d := p.Discovery; d != nil {
		s.head(s.cast.Bench, "reads the documents: "+plural(len(d.Findings), "finding", "findings"))
		for _, f := range d.Findings {
			s.note("• " + bar(f.Strength, 10) + " " + weight(f.Strength) + s.speaksFor(f.Supports) + ", " + snip(f.Document, 40))
			s.say(4, plain, s.trial.Named(f.Observation))
			s.say(6, faint, shortText(f.Quote))
		}
		for _, m := range d.Missing {
			s.say(2, yellow, "missing: "+sanitize.Line(m))
		}
	}
	if d := p.Brief; d != nil {
		what := briefWhat(d)
		if a := d.AlternativeHypothesis; a != nil && !d.PleaDeal && !d.MotionToDismiss {
			what = "proposes " + s.label(a.Label) + " in place of the charge"
		} else if d.MotionToDismiss && !d.PleaDeal {
			what = "moves to dismiss"
		}
		s.head(s.cast.Defense, what+", doubt "+number(d.Confidence))
		if d.AlternativeHypothesis != nil {
			s.say(2, plain, s.trial.Named(d.AlternativeHypothesis.Reasoning))
		}
		for _, c := range d.Challenges {
			s.note("against [" + strconv.Itoa(c.EvidenceIndex) + "], " + sanitize.Line(string(c.Severity)) + ":")
			s.say(4, plain, s.trial.Named(c.Challenge))
		}
	}
	if p.Hearing != nil {
		s.hearing(p.Hearing)
	}
	if v := p.Verdict; v != nil {
		what := sanitize.Line(string(v.Decision))
		if v.FinalClassification != "" {
			what += " " + s.label(v.FinalClassification)
		}
		s.head(s.cast.Judge, "decides: "+what+" at "+number(v.Confidence))
		reasoning, _ := apart(v.Reasoning, s.trial.Result.Experiments)
		s.say(2, plain, s.trial.Named(reasoning))
		if v.RemandFeedback != nil {
			for _, q := range v.RemandFeedback.Questions {
				s.say(2, plain, "asks: "+sanitize.Line(q.Question))
			}
		}
	}
	if len(p.Steps) > 0 {
		s.head(abi.Persona{}, "The path")
	}
	for _, step := range p.Steps {
		over := step.How()
		if step.Why != "" {
			over += ": " + step.Why
		}
		s.say(2, plain, sanitize.Line(step.Node)+" → "+sanitize.Line(step.To)+"  "+sanitize.Line(s.trial.Named(over)))
	}
}

func (s *story) hearing(h *abi.HearingRecord) {
	for _, r := range h.Rounds {
		s.head(abi.Persona{}, "Hearing, round "+strconv.Itoa(r.Round)+" of at most "+strconv.Itoa(h.MaxRounds))
		for _, turn := range [...]struct{ who, text string }{
			{r.By.Prosecution, r.ProsecutionArgument}, {r.By.Defense, r.DefenseRebuttal}, {r.By.Bench, r.JudgeNotes},
		} {
			if turn.text != "" {
				who := s.trial.Persona(turn.who)
				s.line("  " + s.paint(personaPaint(who), snip(who.Name, 40)))
				s.say(4, plain, s.trial.Named(turn.text))
			}
		}
		for _, item := range r.NewItems {
			s.note("new item: " + weight(item.Weight) + ", " + snip(item.SourceRef, 40))
			s.say(6, faint, shortText(item.Content))
		}
	}
	if h.Converged {
		s.note("The last round brought nothing new.")
	}
}

func (s *story) item(item *trial.Item) {
	speaks := cmp.Or(s.speaksFor(item.Supports), " for no label")
	title := "[" + strconv.Itoa(item.Index) + "] " + bar(item.Weight, 10) + " " + weight(item.Weight) + speaks + ", " + snip(item.SourceRef, 40)
	if item.Quote == abi.QuoteAbsent {
		title += ", not in the document"
	}
	if item.Struck {
		title = s.paint(struck, title)
	}
	s.note(title)
	s.say(6, faint, shortText(item.Content))
	for _, c := range item.Challenges {
		by := s.trial.Persona(c.By)
		s.line("      ✗ " + sanitize.Line(string(c.Severity)) + " " + s.paint(personaPaint(by), snip(by.Name, 40)))
		s.say(8, plain, s.trial.Named(c.Challenge))
	}
}

// bar draws a number in [0, 1] in so many cells.
func bar(v float64, cells int) string {
	full := min(max(int(v*float64(cells)+0.5), 0), cells)
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full)
}

// shortText keeps the beginning of a long text.
func shortText(s string) string {
	const most = 400 // bytes
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " ..."
}

func (s *story) gaps() {
	r := &s.trial.Result
	if r.GapBrief == nil && r.Proposal == nil {
		return
	}
	s.line("")
	s.line(s.paint(bold, "What would settle it"))
	if b := r.GapBrief; b != nil {
		s.say(2, plain, s.trial.Named(b.Summary))
		for _, g := range b.Gaps {
			s.say(2, plain, "• ["+string(g.Severity)+"] "+sanitize.Line(s.trial.Named(g.Description)))
			s.say(4, faint, g.SuggestedAction)
		}
	} else {
		s.say(2, plain, "• "+sanitize.Line(r.Proposal.Reason()))
		s.say(4, faint, r.Proposal.Action())
	}
	if p := r.Proposal; p != nil && p.Command != "" {
		s.note("Run the experiment:")
		s.line("    " + sanitize.Line(p.Command)) // in one line, to be copied
	}
}

// failureText names who failed, where and how.
func failureText(f *trial.Failure) string {
	var at []string
	for _, part := range [...]struct{ name, value string }{{"persona", f.Persona}, {"node", f.Node}, {"module", f.Module}} {
		if part.value != "" {
			at = append(at, part.name+" "+part.value)
		}
	}
	text := f.Message
	if len(at) > 0 {
		text += " (" + strings.Join(at, ", ") + ")"
	}
	return text
}

// Statement is what a node of the Light path said: who, where, what in a few words, and why in the persona's own.
type Statement struct {
	Persona, Node string
	What, Why     string
	// Times is how often the node said this in one pass, from 1.
	Times int
}

// Statements summarizes the artifacts of a pass in their order, repeated ones once. Sanitize the texts for display.
func Statements(p *trial.LightPass) []Statement {
	list := make([]Statement, 0, len(p.Artifacts))
	for i := range p.Artifacts {
		entry := &p.Artifacts[i]
		what, why := statementOf(&entry.Artifact)
		said := Statement{Persona: entry.Persona, Node: entry.At.Node, What: what, Why: why}
		again := slices.IndexFunc(list, func(s Statement) bool { s.Times = 0; return s == said })
		if again < 0 {
			again, list = len(list), append(list, said)
		}
		list[again].Times++
	}
	for i := range list {
		if list[i].Times > 1 {
			list[i].What += ", " + strconv.Itoa(list[i].Times) + " times the same"
		}
	}
	return list
}

func statementOf(a *abi.Artifact) (what, why string) {
	switch {
	case a.Recall != nil && !a.Recall.Match:
		return "recalls no earlier case", a.Recall.Reasoning
	case a.Recall != nil:
		v := a.Recall
		what = "recalls " + v.PriorCase
		if v.Classification != "" {
			what += ", which was " + v.Classification
		}
		if v.IsRegression {
			what += ", a regression"
		}
		return what + ", at " + number(v.Confidence), v.Reasoning
	case a.Triage != nil:
		v := a.Triage
		what = "takes the symptom for " + string(v.SymptomCategory)
		if v.ClassificationHypothesis != "" {
			what += ", hypothesis " + v.ClassificationHypothesis
		}
		if n := len(v.Candidates); n > 0 {
			what += ", " + plural(n, "candidate", "candidates")
		}
		return what, ""
	case a.Resolve != nil:
		return resolveStatement(a.Resolve), ""
	case a.Investigate != nil:
		v := a.Investigate
		what = "finds " + plural(len(v.Evidence), "item", "items") + ", convergence " + number(v.ConvergenceScore)
		if v.Classification != "" {
			what += ", for " + v.Classification
		}
		return what, v.Summary
	case a.Correlate != nil:
		v := a.Correlate
		switch {
		case v.IsDuplicate:
			what = "takes it for a duplicate of " + v.LinkedCase + " at " + number(v.Confidence)
		case v.LinkedCase != "":
			what = "links it to " + v.LinkedCase + " at " + number(v.Confidence)
		default:
			what = "links it to no earlier case"
		}
		return what, v.Reasoning
	case a.Review != nil:
		return "decides: " + string(a.Review.Decision) + " at " + number(a.Review.Confidence), ""
	case a.Report != nil:
		return "reports " + a.Report.Classification + " at " + number(a.Report.Confidence), a.Report.Summary
	}
	return "", ""
}

func resolveStatement(v *abi.ResolveResult) string {
	names := make([]string, 0, 3)
	for i := range v.Selected {
		if i == cap(names) {
			break
		}
		names = append(names, v.Selected[i].Name)
	}
	switch left := len(v.Selected) - len(names); {
	case len(names) == 0:
		return "selects nothing to look at"
	case left > 0:
		return "selects " + strings.Join(names, ", ") + " and " + strconv.Itoa(left) + " more"
	}
	return "selects " + strings.Join(names, ", ")
}

// CapabilityUse counts the uses of capabilities in a pass, in the order of their first use.
func CapabilityUse(p *trial.LightPass) string {
	var names []abi.Capability
	times := map[abi.Capability]int{}
	for i := range p.Calls {
		for _, use := range p.Calls[i].Uses {
			if times[use.Capability]++; times[use.Capability] == 1 {
				names = append(names, use.Capability)
			}
		}
	}
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = string(name) + " " + plural(times[name], "time", "times")
	}
	return strings.Join(parts, ", ")
}
