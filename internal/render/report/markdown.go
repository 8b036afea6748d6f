package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// NewMarkdown writes the report as GitHub-flavoured Markdown: the summary, a table of all cases, and the transcript of
// every trial.
func NewMarkdown(w io.Writer, options Options) render.Writer {
	return &markdownWriter{w: w, options: options, summary: render.NewSummary()}
}

type markdownWriter struct {
	w       io.Writer
	options Options
	summary *render.Summary
	rows    strings.Builder
	trials  strings.Builder
}

func (m *markdownWriter) Summary() *render.Summary { return m.summary }

func (m *markdownWriter) Write(t *trial.Trial) error {
	m.summary.Add(t)
	v := newCaseView(render.Sanitize(t), m.summary.Cases, caseOptions{})
	m.row(&v)
	if t.Told() {
		story := markdownStory{caseView: v, b: &m.trials}
		story.write()
	}
	return nil
}

func (m *markdownWriter) Close() error {
	var b strings.Builder
	b.WriteString("# " + sanitize.Markdown(m.options.title()) + "\n\n")
	for _, line := range [...]string{m.options.Subtitle, m.options.when()} {
		if line != "" {
			b.WriteString(sanitize.Markdown(line) + "\n\n")
		}
	}
	source := m.options.source()
	for _, line := range source.Lines {
		b.WriteString("- " + sanitize.Markdown(line.Name) + ": " + sanitize.Markdown(line.Text) + "\n")
	}
	if len(source.Lines) > 0 {
		b.WriteString("\n")
	}
	for _, line := range m.summary.Lines() {
		b.WriteString("- **" + line.Name + "** " + sanitize.Markdown(line.Text) + "\n")
	}
	b.WriteString("\n## Cases\n\n")
	if m.summary.Cases == 0 {
		b.WriteString("There is no case in this docket.\n")
	} else {
		b.WriteString("| Case | Status | Light | Final | Truth | About |\n| --- | --- | --- | --- | --- | --- |\n")
		b.WriteString(m.rows.String())
	}
	b.WriteString(m.trials.String())
	for _, a := range source.Apart {
		b.WriteString("\n## " + sanitize.Markdown(a.ID) + "\n\n" + sanitize.Markdown(a.Why) + "\n\n" + sanitize.MarkdownBlock(a.Text) + "\n")
	}
	_, err := io.WriteString(m.w, b.String())
	return err
}

func (m *markdownWriter) row(v *caseView) {
	r := &v.Result
	light, final, truth := "–", "–", ""
	if r.Light != nil {
		light = v.answer(r.Light.Classification, r.Light.Confidence)
	}
	if l := r.Remanded(); l != nil {
		light += " → " + v.answer(l.Classification, l.Confidence)
	}
	switch {
	case r.Final.Classification != "":
		final = v.answer(r.Final.Classification, r.Final.Confidence)
	case r.Final.Cause != "":
		final = sanitize.MarkdownCode(string(r.Final.Cause))
	}
	if v.Known {
		truth = v.label(v.Truth.Classification)
		switch {
		case v.CourtRight:
			truth += " ✓"
		case r.Final.Classification != "":
			truth += " ✗"
		}
	}
	cells := []string{
		sanitize.MarkdownCode(clipLine(r.ID)), "**" + sanitize.Markdown(string(r.Final.Status)) + "**", light, final, truth,
		about(v),
	}
	for i := range cells {
		cells[i] = sanitize.MarkdownCell(cells[i])
	}
	m.rows.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// about is how a case failed, and what experiments found.
func about(v *caseView) string {
	said := sanitize.Markdown(clipLine(v.About()))
	if len(v.Result.Experiments) > 0 {
		said += " **" + sanitize.Markdown(v.Verdict().Text) + "**"
	}
	return said
}

// label names a label for people.
func (v *caseView) label(label string) string { return sanitize.Markdown(clipLine(v.LabelName(label))) }

func (v *caseView) answer(label string, confidence float64) string {
	return v.label(label) + " " + number(confidence)
}

// clipLine keeps what fits into a cell.
func clipLine(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// markdownStory writes one trial.
type markdownStory struct {
	caseView
	b *strings.Builder
}

func (s *markdownStory) par(text string) { s.b.WriteString(text + "\n\n") }

func (s *markdownStory) head(text string) { s.par("### " + text) }

// fold begins a part that GitHub shows when somebody asks for it; close it by unfold.
func (s *markdownStory) fold(text string) {
	s.par("<details><summary>" + text + "</summary>")
}

func (s *markdownStory) unfold() { s.par("</details>") }

// conclusion tells what people read first.
func (s *markdownStory) conclusion() {
	v := s.Verdict()
	s.par("**" + sanitize.Markdown(v.Text) + "**")
	s.say("", v.Said)
	if v.Suspect != "" {
		s.say("Suspect:", v.Suspect)
	}
	if v.Next != "" {
		s.say("Next:", v.Next)
	}
}

// say writes prose of somebody else; without any it writes nothing.
func (s *markdownStory) say(prefix, text string) {
	if strings.TrimSpace(text) == "" {
		if prefix != "" {
			s.par(prefix)
		}
		return
	}
	if prefix != "" {
		prefix += " "
	}
	s.par(prefix + sanitize.Markdown(clip(s.Named(text))))
}

func (s *markdownStory) write() {
	r := &s.Result
	s.par("\n## " + sanitize.MarkdownCode(clipLine(r.ID)))
	s.say("", s.Case.Subject)
	s.conclusion()
	end := "**" + sanitize.Markdown(string(r.Final.Status)) + "**"
	if r.Final.Classification != "" {
		end += " " + s.answer(r.Final.Classification, r.Final.Confidence)
	}
	if r.Final.Cause != "" {
		end += " " + sanitize.MarkdownCode(string(r.Final.Cause))
	}
	if r.Light != nil {
		light := s.answer(r.Light.Classification, r.Light.Confidence)
		if l := r.Remanded(); l != nil {
			light += ", after a remand " + s.answer(l.Classification, l.Confidence)
		}
		end = "Light said " + light + " → " + end
	}
	s.par(end)
	if meaning := r.Final.Status.Meaning(); meaning != "" {
		s.par("*" + meaning + "*")
	}
	s.failure()
	s.experiments()
	s.gaps()
	if l := s.Case.Light; l != nil && len(s.Reviews) == 0 {
		s.say("**Light**", l.Reasoning)
	}
	for i := range s.Reviews {
		s.pass(&s.Reviews[i])
	}
	for i := range s.Untried {
		s.lightPath(&s.Untried[i])
	}
	s.grounds()
	s.models()
	if r.Audit != nil {
		s.head("Audit of the opinion")
		markdownAudit(s.b, r.Audit)
	}
}

// grounds lists what Light had to go by.
func (s *markdownStory) grounds() {
	if s.Groundless {
		s.par("No item of evidence speaks for what Light says.")
	}
	if len(s.Grounds) == 0 {
		return
	}
	s.head("What Light had to go by")
	for _, e := range s.Grounds {
		s.par(weight(e.RelevanceConfidence) + " for " + s.label(e.Supports) + ", " + sanitize.MarkdownCode(clipLine(e.SourceRef)) +
			":\n\n" + sanitize.MarkdownBlock(clip(e.Content)))
	}
}

// lightPath tells a pass over the Light path.
func (s *markdownStory) lightPath(p *trial.LightPass) {
	s.fold("Light path")
	defer s.unfold()
	s.par(sanitize.MarkdownCode(strings.Join(p.Path, " ")))
	for _, said := range render.Statements(p) {
		s.say(s.who(said.Persona)+" "+sanitize.Markdown(s.Named(said.What))+".", said.Why)
	}
	if asked := render.CapabilityUse(p); asked != "" {
		s.par("Asked the host: " + sanitize.Markdown(asked) + ".")
	}
}

func (s *markdownStory) failure() {
	f := s.Result.Error
	if f == nil {
		return
	}
	s.say("**What failed**", f.Message)
	for _, part := range [...]struct{ name, value string }{{"code", string(f.Code)}, {"persona", f.Persona}, {"node", f.Node}, {"module", f.Module}} {
		if part.value != "" {
			s.b.WriteString("- " + part.name + " " + sanitize.MarkdownCode(part.value) + "\n")
		}
	}
	for _, p := range f.Problems {
		s.b.WriteString("- " + sanitize.MarkdownCode(p.Path) + ": " + sanitize.Markdown(p.Detail) + "\n")
	}
	s.b.WriteByte('\n')
}

func (s *markdownStory) pass(w *passView) {
	if w.Remand > 0 {
		s.head("After remand " + strconv.Itoa(w.Remand) + ": Light says " + s.answer(w.Light.Classification, w.Light.Confidence))
	}
	s.evidence(w)
	if w.OfLight != nil {
		s.lightPath(w.OfLight)
	}
	s.fold("Transcript")
	s.say("**Light**", w.Light.Reasoning)
	if d := w.Indictment; d != nil {
		s.say(s.who(s.Cast.Prosecution.Name)+" charges "+s.answer(d.ChargedDefectType, d.Confidence)+".", d.ProsecutionNarrative)
	}
	s.discovery(w.Discovery)
	for _, c := range w.Contested {
		s.challenge(c)
	}
	s.brief(w.Pass)
	s.hearing(w.Hearing)
	if v := w.Verdict; v != nil {
		decision := s.who(s.Cast.Judge.Name) + " decides: **" + sanitize.Markdown(string(v.Decision)) + "** "
		if v.FinalClassification != "" {
			decision += s.label(v.FinalClassification) + " "
		}
		s.say(decision+number(v.Confidence)+".", v.Reasoning)
	}
	s.unfold()
	s.steps(w.Steps)
}

// who names a persona, given by id or name.
func (s *markdownStory) who(name string) string {
	return "**" + sanitize.Markdown(s.Persona(name).Name) + "**"
}

// evidence draws the weights as bars of blocks; what a fatal challenge struck is struck through.
func (s *markdownStory) evidence(w *passView) {
	if len(w.Items) == 0 {
		return
	}
	s.head("Weight of the evidence")
	s.b.WriteString("| Item | Weight | For | Source | Challenged |\n| --- | --- | --- | --- | --- |\n")
	for _, item := range w.Items {
		weight := strings.Repeat("█", width(item.Weight)/10) + " " + weight(item.Weight)
		if item.Struck {
			weight = "~~" + weight + "~~"
		}
		label := "–"
		if item.Supports != "" {
			label = s.label(item.Supports)
		}
		challenges := make([]string, 0, len(item.Challenges))
		for _, c := range item.Challenges {
			challenges = append(challenges, sanitize.Markdown(string(c.Severity))+" by "+sanitize.Markdown(s.Persona(c.By).Name))
		}
		s.b.WriteString("| " + strconv.Itoa(item.Index) + " | " + weight + " | " + sanitize.MarkdownCell(label) + " | " +
			sanitize.MarkdownCell(sanitize.MarkdownCode(clipLine(item.SourceRef))) + " | " + sanitize.MarkdownCell(strings.Join(challenges, ", ")) + " |\n")
	}
	s.b.WriteByte('\n')
	for _, item := range w.Items {
		s.par("Item " + strconv.Itoa(item.Index) + ":\n\n" + sanitize.MarkdownBlock(clip(item.Content)))
	}
}

func (s *markdownStory) discovery(d *abi.Discovery) {
	if d == nil {
		return
	}
	s.par(s.who(s.Cast.Bench.Name) + " reads the documents, " + plural(len(d.Findings), "finding", "findings") + ".")
	for _, f := range d.Findings {
		s.say("", f.Observation)
		speaks := ""
		if f.Supports != "" {
			speaks = " for " + s.label(f.Supports)
		}
		s.par(sanitize.MarkdownCode(f.Document) + speaks + " " + weight(f.Strength) + "\n\n" + sanitize.MarkdownBlock(clip(f.Quote)))
	}
	for _, missing := range d.Missing {
		s.say("Missing:", missing)
	}
}

func (s *markdownStory) challenge(c abi.Challenge) {
	s.say(s.who(c.By)+" contests item "+strconv.Itoa(c.EvidenceIndex)+" ("+sanitize.Markdown(string(c.Severity))+"):", c.Challenge)
}

func (s *markdownStory) brief(p *trial.Pass) {
	d := p.Brief
	if d == nil {
		return
	}
	s.par(s.who(s.Cast.Defense.Name) + " " + briefWhat(d) + ", doubt " + number(d.Confidence) + ".")
	if a := d.AlternativeHypothesis; a != nil {
		s.say(s.label(a.Label)+":", a.Reasoning)
	}
	for _, c := range p.BriefChallenges() {
		s.challenge(c)
	}
}

func (s *markdownStory) hearing(h *abi.HearingRecord) {
	if h == nil {
		return
	}
	for _, r := range h.Rounds {
		s.par("#### Hearing, round " + strconv.Itoa(r.Round) + " of at most " + strconv.Itoa(h.MaxRounds))
		for _, turn := range [...]struct{ who, text string }{
			{r.By.Prosecution, r.ProsecutionArgument}, {r.By.Defense, r.DefenseRebuttal}, {r.By.Bench, r.JudgeNotes},
		} {
			if turn.text != "" {
				s.say(s.who(turn.who)+":", turn.text)
			}
		}
		for _, c := range r.NewChallenges {
			s.challenge(c)
		}
		for _, item := range r.NewItems {
			s.par("New item, " + weight(item.Weight) + ", " + sanitize.MarkdownCode(item.SourceRef) + ":\n\n" + sanitize.MarkdownBlock(clip(item.Content)))
		}
	}
	if h.Converged {
		s.par("The last round brought nothing new.")
	}
}

func (s *markdownStory) steps(steps []trial.Step) {
	if len(steps) == 0 {
		return
	}
	s.fold("Why this path")
	for i, step := range steps {
		over := sanitize.Markdown(step.How())
		if step.Edge != "" {
			over = "**" + over + "** " + sanitize.Markdown(clip(s.Named(step.Why)))
		}
		s.b.WriteString(strconv.Itoa(i+1) + ". " + sanitize.MarkdownCode(step.Node) + " → " + sanitize.MarkdownCode(step.To) + " " + over + "\n")
	}
	s.b.WriteByte('\n')
	s.unfold()
}

// experiments tells what was run, and what it showed.
func (s *markdownStory) experiments() {
	if len(s.Result.Experiments) == 0 {
		return
	}
	s.head("Experiments")
	for i := range s.Result.Experiments {
		e := &s.Result.Experiments[i]
		s.b.WriteString("- " + sanitize.Markdown(e.What()) + ": **" + sanitize.Markdown(e.Showed()) + "**, asked for by " +
			sanitize.Markdown(clip(s.Persona(e.Persona).Name)) + "\n")
	}
	s.b.WriteByte('\n')
}

func (s *markdownStory) gaps() {
	brief, proposal := s.Result.GapBrief, s.Result.Proposal
	if brief == nil && proposal == nil {
		return
	}
	s.head("What would settle it")
	if brief != nil {
		s.say("", brief.Summary)
		for _, g := range brief.Gaps {
			s.b.WriteString("- **" + sanitize.Markdown(string(g.Severity)) + "** " + sanitize.Markdown(clip(s.Named(g.Description))) + " " + sanitize.Markdown(clip(g.SuggestedAction)) + "\n")
		}
	} else {
		s.b.WriteString("- " + sanitize.Markdown(clip(proposal.Reason())) + " " + sanitize.Markdown(proposal.Action()) + "\n")
	}
	if proposal != nil && proposal.Command != "" {
		s.b.WriteString("\nRun the experiment: " + sanitize.MarkdownCode(proposal.Command) + "\n")
	}
	s.b.WriteByte('\n')
}
