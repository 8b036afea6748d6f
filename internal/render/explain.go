package render

import (
	"io"
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
	s.conclusion()
	s.rules()
	s.origin()
	s.light(0)
	for i := range s.trial.Passes {
		s.pass(i, &s.trial.Passes[i])
	}
	s.experiments()
	s.models()
	s.doubts()
	s.light(max(len(s.trial.Passes), 1)) // an answer that came to no trial, or failed
	s.ending()
	s.audit()
	_, err := io.WriteString(w, s.b.String())
	return err
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

// audit tells the audit of the verdict's opinion, if there is one.
func (s *story) audit() {
	a := s.trial.Result.Audit
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

// experiments tells what was run, who asked for it, and what it showed.
func (s *story) experiments() {
	list := s.trial.Result.Experiments
	if len(list) == 0 {
		return
	}
	var counted []string
	if n := len(s.trial.Passes); n > 0 && s.trial.Passes[n-1].Verdict != nil {
		_, counted = apart(s.trial.Passes[n-1].Verdict.Reasoning, list)
	}
	s.head(abi.Persona{}, "Experiments")
	for i := range list {
		e := &list[i]
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

// doubts tell which evidence counts less than it claims.
func (s *story) doubts() {
	if list := s.trial.Result.UnmeasuredSources; len(list) > 0 {
		s.note("The profile has no measurements of " + snip(strings.Join(list, ", "), nameColumns) + ": together they count little, and never decide a case.")
	}
	if list := s.trial.Result.ContradictoryEvidence; len(list) > 0 {
		s.note("The case cites the same passage for several labels: " + snip(strings.Join(list, ", "), nameColumns) +
			". Only the surest of these items counts; if they are equally sure, none does.")
	}
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
}

// conclusion tells what people read first: how the test failed, what the cause is, and whom to ask.
func (s *story) conclusion() {
	t := s.trial
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
}

// origin tells what Light said.
func (s *story) origin() {
	t := s.trial
	if l := t.Result.Light; l != nil {
		s.head(abi.Persona{Name: "Light"}, s.label(l.Classification)+" at "+number(l.Confidence))
	}
	if t.Case.Light != nil {
		s.say(2, plain, s.trial.Named(t.Case.Light.Reasoning))
	}
	if len(t.Passes) == 0 {
		s.grounds()
		s.note("There was no trial.")
	}
}

// grounds tells what Light had to go by where no prosecution says it. What the Light path gathered is told with it.
func (s *story) grounds() {
	items := s.trial.Grounds()
	for i := range items {
		s.evidence(&items[i])
	}
	if s.trial.Result.Light != nil && len(items) == 0 && !s.trial.Gathered() {
		s.note("No item of evidence that came with the case speaks for it.")
	}
}

func (s *story) evidence(e *abi.Evidence) {
	speaks := ""
	if e.Supports != "" {
		speaks = " for " + s.short(e.Supports)
	}
	s.note("• " + bar(e.RelevanceConfidence, 10) + " " + weight(e.RelevanceConfidence) + speaks + ", " + snip(e.SourceRef, 40))
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

// short is a label by its name.
func (s *story) short(label string) string { return snip(s.trial.LabelName(label), labelColumns) }

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

func (s *story) pass(i int, p *trial.Pass) {
	if i > 0 {
		s.light(i)
		s.head(abi.Persona{Name: "Light"}, "answers the remand: "+s.label(p.Light.Classification)+" at "+number(p.Light.Confidence))
		s.say(2, plain, s.trial.Named(p.Light.Reasoning))
	}
	s.charge(p)
	s.discovery(p)
	s.defense(p)
	s.hearing(p)
	s.verdict(p)
	s.moves(p)
}

func (s *story) charge(p *trial.Pass) {
	d := p.Indictment
	if d == nil {
		return
	}
	s.head(s.cast.Prosecution, "charges "+s.label(d.ChargedDefectType)+" at "+number(d.Confidence))
	s.say(2, plain, s.trial.Named(d.ProsecutionNarrative))
	for _, item := range p.Items() {
		s.item(&item)
	}
}

func (s *story) item(item *trial.Item) {
	speaks := "for no label"
	if item.Supports != "" {
		speaks = "for " + s.short(item.Supports)
	}
	title := "[" + strconv.Itoa(item.Index) + "] " + bar(item.Weight, 10) + " " + weight(item.Weight) + " " + speaks + ", " + snip(item.SourceRef, 40)
	if item.Quote == abi.QuoteAbsent {
		title += ", not in the document"
	}
	if item.Struck {
		title = s.paint(struck, title)
	}
	s.note(title)
	s.say(6, faint, shortText(item.Content))
	for _, c := range item.Challenges {
		s.challenge(6, &c)
	}
}

func (s *story) challenge(indent int, c *abi.Challenge) {
	by := s.trial.Persona(c.By)
	s.line(strings.Repeat(" ", indent) + "✗ " + sanitize.Line(string(c.Severity)) + " " + s.paint(personaPaint(by), snip(by.Name, 40)))
	s.say(indent+2, plain, s.trial.Named(c.Challenge))
}

func (s *story) discovery(p *trial.Pass) {
	if p.Discovery == nil {
		return
	}
	s.head(s.cast.Bench, "reads the documents: "+plural(len(p.Discovery.Findings), "finding", "findings"))
	for _, f := range p.Discovery.Findings {
		speaks := ""
		if f.Supports != "" {
			speaks = " for " + s.short(f.Supports)
		}
		s.note("• " + bar(f.Strength, 10) + " " + weight(f.Strength) + speaks + ", " + snip(f.Document, 40))
		s.say(4, plain, s.trial.Named(f.Observation))
		s.say(6, faint, shortText(f.Quote))
	}
	for _, m := range p.Discovery.Missing {
		s.say(2, yellow, "missing: "+sanitize.Line(m))
	}
}

func (s *story) defense(p *trial.Pass) {
	d := p.Brief
	if d == nil {
		return
	}
	what := "answers the charge"
	switch {
	case d.PleaDeal:
		what = "concedes the charge"
	case d.MotionToDismiss:
		what = "moves to dismiss"
	case d.AlternativeHypothesis != nil:
		what = "proposes " + s.label(d.AlternativeHypothesis.Label) + " in place of the charge"
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

func (s *story) hearing(p *trial.Pass) {
	if p.Hearing == nil {
		return
	}
	for _, r := range p.Hearing.Rounds {
		s.head(abi.Persona{}, "Hearing, round "+strconv.Itoa(r.Round)+" of at most "+strconv.Itoa(p.Hearing.MaxRounds))
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
	if p.Hearing.Converged {
		s.note("The last round brought nothing new.")
	}
}

func (s *story) verdict(p *trial.Pass) {
	v := p.Verdict
	if v == nil {
		return
	}
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

// moves lists the edges taken with the reasons of the clerk.
func (s *story) moves(p *trial.Pass) {
	if len(p.Steps) == 0 {
		return
	}
	s.head(abi.Persona{}, "The path")
	for _, step := range p.Steps {
		over := step.How()
		if step.Why != "" {
			over += ": " + step.Why
		}
		s.say(2, plain, sanitize.Line(step.Node)+" → "+sanitize.Line(step.To)+"  "+sanitize.Line(s.trial.Named(over)))
	}
}

// bar draws a number in [0, 1] in so many cells.
func bar(v float64, cells int) string {
	full := int(v*float64(cells) + 0.5)
	full = min(max(full, 0), cells)
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
