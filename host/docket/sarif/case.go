package sarif

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsontext"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// hold gives the result that was read, unless it or one before it needs what stands behind it.
func (p *parser) hold(read *result) error {
	a := p.run
	if p.leave(read) {
		return nil
	}
	r := new(*read) // the next one is read into the same place
	if len(a.held) == 0 && a.hasTool && (r.at.file != "" || r.at.index == 0 || a.hasFiles) {
		return p.giveCase(r)
	}
	a.held = append(a.held, r)
	if a.heldBytes += r.bytes(); a.heldBytes > cmp.Or(max(0, p.reader.HeldBytes), DefaultHeldBytes) {
		return p.give()
	}
	return nil
}

// give gives the results that waited.
func (p *parser) give() error {
	for _, r := range p.run.held {
		if err := p.giveCase(r); err != nil {
			return err
		}
	}
	p.run.held, p.run.heldBytes = nil, 0
	return nil
}

// leave says whether a result is no case, and counts it.
func (p *parser) leave(r *result) bool {
	switch {
	case slices.Contains([]string{"pass", "notApplicable", "informational"}, r.kind):
		p.left.Passed++
	case r.baseline == "absent":
		p.left.Absent++
	case r.decided() == FalsePositive && !p.reader.Truth:
		p.left.Suppressed++
	case r.baseline == "unchanged":
		p.left.Unchanged++
	default:
		return false
	}
	return true
}

func (p *parser) giveCase(r *result) error {
	if !p.yield(p.entry(r), nil) {
		return stream.ErrStopped
	}
	return nil
}

// finding is a result with its rule and its level.
type finding struct {
	*result

	of        *rule
	from      *component
	id        string // of the rule
	said      string // the message
	sure      string // precision, in lower case
	severity  string
	severe    string // its level
	file      string
	fileKinds []string
}

// finding looks up what the result names.
func (p *parser) finding(r *result) *finding {
	f := &finding{result: r}
	if f.of, f.from = p.run.find(r); f.of == nil {
		f.of = &rule{rank: -1}
	}
	p.run.name(&r.at)
	f.id = cmp.Or(r.ruleID, f.of.id)
	text := r.text
	if text == "" && r.messageID != "" {
		text = cmp.Or(f.of.messages[r.messageID], f.from.messages[r.messageID])
	}
	f.said = strings.TrimRight(cmp.Or(say(text, r.arguments), f.of.short, f.of.full, f.of.name, f.id, r.messageID), " \t\r\n")
	f.sure = strings.ToLower(cmp.Or(r.properties.precision, f.of.properties.precision))
	f.severity = cmp.Or(r.properties.securitySeverity, f.of.properties.securitySeverity)
	f.severe = f.levelOf()
	f.file = r.at.file
	if f.file != "" && sourcefile.KindOf(f.file) == abi.SourceTest {
		f.fileKinds = append(f.fileKinds, "a test file")
	}
	if f.file != "" && sourcefile.Installed(f.file) {
		f.fileKinds = append(f.fileKinds, "code of others")
	}
	return f
}

// levelOf is the level by the result, its rule, or its security severity.
func (f *finding) levelOf() string {
	if level := cmp.Or(f.level, f.of.level); slices.Contains([]string{"none", "note", "warning", "error"}, level) {
		return level
	}
	if score, err := strconv.ParseFloat(f.severity, 64); err == nil {
		switch {
		case score >= 7:
			return "error"
		case score < 4:
			return "note"
		}
	}
	return "warning"
}

// where is the place, as "cart/sum.py:13:5".
func (a place) where() string {
	text := cmp.Or(a.file, a.logical)
	if a.file != "" && a.line > 0 {
		text += ":" + strconv.Itoa(a.line)
		if a.column > 0 {
			text += ":" + strconv.Itoa(a.column)
		}
	}
	return text
}

// entry makes a case of a result.
func (p *parser) entry(r *result) docket.Entry {
	f := p.finding(r)
	light := f.light(p.run.driver.name)
	documents, evidence := p.documents(f)
	entry := docket.Entry{
		Case: abi.Case{
			ID: p.reader.ids.Unique(f.caseID()), Group: cmp.Or(f.id, p.run.driver.name), Subject: f.subject(), Labels: []string{Real, FalsePositive},
			Evidence: evidence, Documents: documents, Light: &light,
		},
		LabelNames: map[string]string{Real: "real finding", FalsePositive: "false positive"},
		Source:     p.name, Line: r.line,
	}
	if decided := r.decided(); p.reader.Truth && decided != "" {
		entry.Truth = &trial.Truth{Classification: decided}
	}
	return entry
}

// caseID is the place and the rule.
func (f *finding) caseID() string {
	at := f.at
	at.column = 0
	return strings.Join(slices.DeleteFunc([]string{at.where(), f.id}, func(part string) bool { return part == "" }), ":")
}

// subject is what a person reads of the case: the place and the first line of the message.
func (f *finding) subject() string {
	const longest = 200
	said := jsontext.Bounded(f.said)
	if len(said) > longest {
		said = strings.ToValidUTF8(said[:longest], "") + "…"
	}
	at := f.at
	at.column = 0
	if where := at.where(); where != "" {
		said = where + ": " + said
	}
	if f.id != "" && f.id != f.said {
		said += " (" + f.id + ")"
	}
	return cmp.Or(said, "a finding")
}

// document is a text that grows by lines.
type document struct{ text strings.Builder }

func (d *document) line(text string) { d.text.WriteString(text + "\n") }

// documents are those of a case, and the evidence that stands in them word for word.
func (p *parser) documents(f *finding) ([]abi.Document, []abi.Evidence) {
	cut := testlog.NewCutter()
	documents := []abi.Document{}
	add := func(name, text string) bool {
		if strings.TrimSpace(text) == "" {
			return false
		}
		documents = append(documents, abi.Document{Name: name, Text: text})
		cut.Open(name, text)
		return true
	}
	head := strings.TrimPrefix(f.at.where()+": "+f.severe, ": ")
	if f.id != "" {
		head += " " + f.id
	}
	if add("finding", head+": "+f.said+"\n") {
		cut.Add(0, min(len(cut.Lines), testlog.MaxExcerptLines), testlog.Rule{Supports: Real, Confidence: byLevel(f.severe), Element: abi.Fire})
	}
	add("rule", f.ruleText())
	if f.code == (code{}) && p.reader.Code != nil && f.file != "" && f.at.line > 0 && !p.reader.Truth {
		f.code.context, f.code.contextLine = p.reader.Code(f.file, f.at.line)
	}
	if text, first, end := f.snippet(); !p.reader.Truth && add("snippet", text) && first < len(cut.Lines) {
		cut.Add(first, min(end, len(cut.Lines)), testlog.Rule{Confidence: 0.5, Element: abi.Earth})
	}
	name, steps := "flow", f.flow
	if len(steps) == 0 {
		name, steps = "stack", f.stack
	}
	if add(name, p.stepsText(steps)) && len(steps) > 1 {
		cut.Add(0, min(len(cut.Lines), testlog.MaxExcerptLines), testlog.Rule{Supports: Real, Confidence: 0.7, Element: abi.Water})
	}
	add("related", p.stepsText(append(f.others, f.related...)))
	if add("about", f.about(&p.run.driver)) {
		f.cutAbout(cut)
	}
	return documents, cut.Items()
}

// ruleText is what the rule says of itself.
func (f *finding) ruleText() string {
	var d document
	if title := strings.TrimSpace(f.of.id + " " + f.of.name); title != "" && title != f.id {
		d.line(title)
	}
	last := ""
	for _, text := range []string{f.of.short, f.of.full, f.of.help} {
		if text = strings.TrimSpace(text); text != "" && text != last {
			d.line(text)
			last = text
		}
	}
	if f.of.helpURI != "" {
		d.line(f.of.helpURI)
	}
	return d.text.String()
}

// snippet is the code around the finding, and which of its lines the finding is about.
func (f *finding) snippet() (text string, first, end int) {
	region, around := strings.Trim(f.code.region, "\r\n"), strings.TrimRight(f.code.context, "\r\n")
	if around == "" {
		return region + "\n", 0, strings.Count(region, "\n") + 1
	}
	if f.code.contextLine > 0 {
		first = max(0, f.at.line-f.code.contextLine)
	}
	return around + "\n", first, first + 1 + strings.Count(region, "\n")
}

// stepsText is a line for each step.
func (p *parser) stepsText(steps []step) string {
	var d document
	for i, s := range steps {
		p.run.name(&s.at)
		text := strconv.Itoa(i+1) + ". " + cmp.Or(s.at.where(), "somewhere")
		if s.said != "" {
			text += ": " + s.said
		}
		d.line(text)
	}
	return d.text.String()
}

// about is what the tool says of a result, a fact a line.
func (f *finding) about(tool *component) string {
	var d document
	fact := func(name, value string) {
		if value != "" {
			d.line(name + ": " + value)
		}
	}
	fact("tool", strings.TrimSpace(tool.name+" "+tool.version))
	fact("rule", f.id)
	fact("level", f.severe)
	if f.kind != "" && f.kind != "fail" {
		fact("kind", f.kind)
	}
	fact("precision", f.sure)
	if rank := f.rankOf(); rank >= 0 {
		fact("rank", strconv.FormatFloat(rank, 'f', -1, 64)+" of 100")
	}
	fact("security-severity", f.severity)
	fact("tags", strings.Join(append(f.properties.tags, f.of.properties.tags...), ", "))
	fact("file", f.file)
	fact("the file is", strings.Join(f.fileKinds, ", "))
	if f.at.line > 0 {
		fact("line", strconv.Itoa(f.at.line))
	}
	fact("in", f.at.logical)
	fact("baseline", f.baseline)
	return d.text.String()
}

// cutAbout cuts what speaks for or against the finding: how sure the tool is, and code that does not ship.
func (f *finding) cutAbout(cut *testlog.Cutter) {
	for i, line := range cut.Lines {
		switch name, _, _ := strings.Cut(line, ": "); name {
		case "precision":
			if c := precisionOf(f.sure); c != nil && c.supports != "" {
				cut.Add(i, i+1, testlog.Rule{Supports: c.supports, Confidence: c.weight, Element: abi.Air})
			}
		case "the file is":
			cut.Add(i, i+1, testlog.Rule{Supports: FalsePositive, Confidence: 0.5, Element: abi.Earth})
		}
	}
}
