package render

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// The forms of answers that are files for other programs, and those for people.
const (
	FormJSON   = "json"   // answers.Document
	FormSARIF  = "sarif"  // SARIF 2.1.0
	FormJUnit  = "junit"  // JUnit XML of the failures, with properties
	FormGitHub = "github" // annotations as commands of GitHub Actions
	FormGitLab = "gitlab" // a report of GitLab's code quality
	FormJSONL  = "jsonl"  // a line for each failure
	FormMD     = "md"
	FormHTML   = "html"
)

// AnswerForms are the names of all forms.
func AnswerForms() []string {
	return []string{FormHTML, FormMD, FormJSON, FormJSONL, FormSARIF, FormJUnit, FormGitHub, FormGitLab}
}

// FormOf tells the form of a file by the end of its name; empty for another end.
func FormOf(name string) string {
	return map[string]string{
		".html": FormHTML, ".md": FormMD, ".json": FormJSON, ".jsonl": FormJSONL, ".sarif": FormSARIF, ".xml": FormJUnit,
	}[strings.ToLower(filepath.Ext(name))]
}

// NewAnswerForm writes answers in a form, at Close; nil for an unknown one. All forms say the same in the same words.
func NewAnswerForm(form string, w io.Writer, trees AnswerTrees) AnswerWriter {
	switch form {
	case FormHTML:
		return NewAnswerHTML(w, trees)
	case FormMD:
		return NewAnswerMarkdown(w, trees)
	case FormJSONL:
		return NewAnswerJSONL(w, trees)
	}
	write := map[string]func(io.Writer, *answers.Document) error{
		FormJSON:  func(w io.Writer, d *answers.Document) error { return writeJSON(w, d) },
		FormSARIF: writeSARIF, FormJUnit: writeJUnit, FormGitHub: writeGitHub, FormGitLab: writeGitLab,
	}[form]
	if write == nil {
		return nil
	}
	return &answerDocument{trees: trees, end: func(d *answers.Document) error { return write(w, d) }}
}

// NewAnswerDocument gives the document of all answers at Close.
func NewAnswerDocument(trees AnswerTrees, end func(*answers.Document) error) AnswerWriter {
	return &answerDocument{trees: trees, end: end}
}

// WriteAnswers writes the answers of a document, and closes the writer.
func WriteAnswers(d *answers.Document, open func(AnswerTrees) AnswerWriter) error {
	trees := AnswerTrees{Base: d.Base.Commit, Name: d.Base.Name, Why: d.Base.Why, Head: d.Head, Court: d.Court, MaxFalse: d.MaxFalseAlibi, Link: d.Link, Time: d.Time}
	trees.Partial = &PartialAnswers{Answered: len(d.Failures), Failures: len(d.Failures) + d.Unanswered}
	w := open(trees)
	for i := range d.Failures {
		f := &d.Failures[i]
		if err := w.Write(&Answered{Answer: f.Answer, Place: f.Place, Took: time.Duration(f.Seconds * float64(time.Second))}); err != nil {
			return err
		}
	}
	return w.Close()
}

// answerDocument keeps answers for a document.
type answerDocument struct {
	trees    AnswerTrees
	list     answerList
	failures []answers.Failure
	end      func(*answers.Document) error
}

func (d *answerDocument) Write(a *Answered) error {
	v := newAnswerView(a)
	d.list.group(v.Verdict).Failures++
	d.failures = append(d.failures, failureOf(a, v))
	return nil
}

func (d *answerDocument) Close() error {
	t := &d.trees
	document := &answers.Document{
		Schema: answers.Version, Conclusion: d.list.sentence(t.Partial), Yours: d.list.groups[0].Failures, Open: d.list.groups[1].Failures, NotYours: d.list.groups[2].Failures,
		Base: answers.Base{Commit: t.Base, Name: t.Name, Why: t.Why}, Head: t.Head, Court: t.Court, MaxFalseAlibi: t.MaxFalse, Link: t.Link, Time: t.Time.UTC().Truncate(time.Second),
		Failures: append([]answers.Failure{}, d.failures...),
	}
	if p := t.Partial; p != nil {
		document.Unanswered = max(p.Failures-p.Answered, 0)
	}
	return d.end(document)
}

// failureOf is an answer as programs get it; v is the same for people.
func failureOf(a *Answered, v *answerView) answers.Failure {
	return answers.Failure{
		Answer: a.Answer, Place: a.Place, Conclusion: v.Conclusion(), Fingerprint: answers.FingerprintOf(a.ID, a.Message), Seconds: a.Took.Round(time.Millisecond).Seconds(),
	}
}

func writeJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(sanitize.JSON(text), '\n'))
	return err
}

// culpritOf is the commit that a failure began with, in the words of a table; empty where nobody looked for it.
func culpritOf(f *answers.Failure) (commit, title, author, probability string) {
	c := f.Culprit
	if c == nil {
		return "", "", "", ""
	}
	return cmp.Or(c.Commit, notCommitted), sanitize.Line(c.Title), sanitize.Line(c.Author), decimal(c.Probability)
}

func decimal(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

// writeJUnit writes the failures as JUnit XML: each with its message, and with the answer as properties.
func writeJUnit(w io.Writer, d *answers.Document) error {
	type property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class      string     `xml:"classname,attr"`
		Name       string     `xml:"name,attr"`
		File       string     `xml:"file,attr,omitempty"`
		Line       int        `xml:"line,attr,omitempty"`
		Time       string     `xml:"time,attr"`
		Properties []property `xml:"properties>property"`
		Failure    failure    `xml:"failure"`
	}
	type suite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	s := suite{Name: "failures that alibi answered", Tests: len(d.Failures), Failures: len(d.Failures)}
	for i := range d.Failures {
		f := &d.Failures[i]
		c := testcase{
			Class: sanitize.Line(f.Group), Name: sanitize.Line(f.Test), File: sanitize.Line(f.File), Line: f.Line, Time: decimal(f.Seconds),
			Failure: failure{Message: sanitize.Line(f.Conclusion), Text: sanitize.Block(f.Message)},
		}
		commit, title, author, probability := culpritOf(f)
		until := ""
		if f.Quarantined != nil {
			until = f.Quarantined.Expires
		}
		for _, p := range []property{
			{"verdict", string(f.Verdict)},
			{"attribution", f.Label},
			{"confidence", decimal(f.Confidence)},
			{"part", string(f.Part)},
			{"owner", strings.Join(f.Owners, " ")},
			{"culprit", commit},
			{"culprit title", title},
			{"culprit author", author},
			{"culprit probability", probability},
			{"quarantined until", until},
			{"fingerprint", f.Fingerprint},
			{"link", d.Link},
		} {
			if p.Value = sanitize.Line(p.Value); p.Value != "" {
				c.Properties = append(c.Properties, p)
			}
		}
		s.Cases = append(s.Cases, c)
	}
	text, err := xml.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

// level is how a platform shows a verdict.
func level(v alibi.Verdict, yours, open, not string) string {
	return cmp.Or(map[alibi.Verdict]string{alibi.IsYours: yours, alibi.IsOpen: open}[v], not)
}

// namesakesOf are those of a document.
func namesakesOf(d *answers.Document) namesakes {
	known := namesakes{}
	for i := range d.Failures {
		known.add(d.Failures[i].Test, d.Failures[i].Group)
	}
	return known
}

// writeGitHub writes annotations, those first that need somebody, since GitHub shows ten of a kind.
func writeGitHub(w io.Writer, d *answers.Document) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b strings.Builder
	known := namesakesOf(d)
	for _, verdict := range []alibi.Verdict{alibi.IsYours, alibi.IsOpen, alibi.NotYours} {
		for i := range d.Failures {
			f := &d.Failures[i]
			if f.Verdict != verdict {
				continue
			}
			b.WriteString("::" + level(f.Verdict, "error", "warning", "notice") + " ")
			if f.File != "" {
				b.WriteString("file=" + value.Replace(sanitize.Line(f.File)) + ",")
				if f.Line > 0 {
					b.WriteString("line=" + strconv.Itoa(f.Line) + ",")
				}
			}
			b.WriteString("title=" + value.Replace(snip(sanitize.Line(known.name(f.Test, f.ID)), maxAnnotationTitle)+": "+string(f.Verdict)))
			b.WriteString("::" + data.Replace(snip(sanitize.Line(f.Conclusion), maxAnnotation)))
			if f.Message != "" {
				b.WriteString("%0A" + data.Replace(snip(sanitize.Line(f.Message), maxAnnotation)))
			}
			b.WriteString("\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The most characters of an annotation.
const (
	maxAnnotationTitle = 200
	maxAnnotation      = 1000
)

// writeGitLab writes a report of code quality: a list, whose entries need a file and a line.
func writeGitLab(w io.Writer, d *answers.Document) error {
	type lines struct {
		Begin int `json:"begin"`
	}
	type location struct {
		Path  string `json:"path"`
		Lines lines  `json:"lines"`
	}
	type issue struct {
		Description string   `json:"description"`
		CheckName   string   `json:"check_name"`
		Fingerprint string   `json:"fingerprint"`
		Severity    string   `json:"severity"`
		Location    location `json:"location"`
	}
	issues, known := []issue{}, namesakesOf(d)
	for i := range d.Failures {
		f := &d.Failures[i]
		issues = append(issues, issue{
			sanitize.Line(known.name(f.Test, f.ID)) + ": " + string(f.Verdict) + ". " + snip(sanitize.Line(f.Conclusion), maxAnnotation), ruleOf(f), f.Fingerprint, level(f.Verdict, "critical", "minor", "info"),
			location{sanitize.Line(cmp.Or(f.File, ".")), lines{max(f.Line, 1)}},
		})
	}
	return writeJSON(w, issues)
}

// ruleOf names the attribution of a failure.
func ruleOf(f *answers.Failure) string { return cmp.Or(f.Label, "open") }

// The part of SARIF 2.1.0 that answers need.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string   `json:"name"`
		InformationURI string   `json:"informationUri"`
		Rules          []object `json:"rules"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		Level        string             `json:"level"`
		Message      object             `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Fingerprints object             `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Properties   object             `json:"properties"`
	}
	sarifLocation struct {
		Physical object   `json:"physicalLocation,omitempty"`
		Logical  []object `json:"logicalLocations"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	// object is one whose fields stand in the order of their names.
	object = map[string]any
)

// attributions are the rules, with what each means.
var attributions = [][2]string{
	{alibi.Caused, "The change makes the test fail."},
	{alibi.Conflict, "Head and the target pass apart, their merge fails."},
	{"open", "Nothing is decided yet."},
	{alibi.Preexisting, "The test failed before the change in the same way."},
	{alibi.Flaky, "The test passes and fails by chance, with or without the change."},
	{alibi.Environment, "Something outside of the code makes the test fail."},
}

// writeSARIF writes a result for each failure: an error where it is yours, a warning where it is open, a note where it is not yours.
func writeSARIF(w io.Writer, d *answers.Document) error {
	r := sarifRun{Results: []sarifResult{}, Tool: sarifTool{sarifDriver{Name: "shadowcourt alibi", InformationURI: "https://github.com/shadowcourt/shadowcourt"}}}
	for _, a := range attributions {
		r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, object{"id": a[0], "shortDescription": object{"text": a[1]}})
	}
	known := namesakesOf(d)
	for i := range d.Failures {
		f := &d.Failures[i]
		where := sarifLocation{Logical: []object{{"fullyQualifiedName": sanitize.Line(f.ID), "kind": "function"}}}
		if f.File != "" {
			where.Physical = object{"artifactLocation": object{"uri": (&url.URL{Path: f.File}).String()}}
			if f.Line > 0 {
				where.Physical["region"] = object{"startLine": f.Line}
			}
		}
		result := sarifResult{
			RuleID: ruleOf(f), Level: level(f.Verdict, "error", "warning", "note"), Locations: []sarifLocation{where},
			Message:      object{"text": sanitize.Line(known.name(f.Test, f.ID)) + ": " + string(f.Verdict) + ". " + sanitize.Line(f.Conclusion)},
			Fingerprints: object{"shadowcourt/v1": f.Fingerprint},
			Properties:   object{"verdict": f.Verdict, "confidence": f.Confidence, "failure": sanitize.Block(f.Message)},
		}
		if f.Part != "" {
			result.Properties["part"] = f.Part
		}
		if len(f.Owners) > 0 {
			result.Properties["owners"] = f.Owners
		}
		if commit, title, author, _ := culpritOf(f); commit != "" {
			result.Properties["culprit"] = object{"commit": commit, "title": title, "author": author, "probability": f.Culprit.Probability}
		}
		if d.Link != "" {
			result.Properties["link"] = d.Link
		}
		if q := f.Quarantined; q != nil {
			result.Suppressions = []sarifSuppression{{"external", "in quarantine until " + q.Expires + ": " + sanitize.Line(q.Reason)}}
		}
		r.Results = append(r.Results, result)
	}
	return writeJSON(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{r}})
}
