package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Answered is an answer of the alibi with how long it took, and with the trial that a page tells below the answer; nil for none.
type Answered struct {
	alibi.Answer
	answers.Place

	Took  time.Duration
	Trial *trial.Trial
}

// AnswerWriter takes answers in the order in which they come.
type AnswerWriter = WriterOf[Answered]

// AnswerTrees are the trees that answers are about: the commits of the base and of head, by which name the base was asked for, or why it was
// taken.
type AnswerTrees struct {
	Base, Name, Why, Head string
	// Court names the court where it is not the shipped one, and MaxFalse is its price of a false alibi where it is not the usual one; else empty
	// and 0.
	Court    string
	MaxFalse float64
	// Link is the page of the CI run; empty for none.
	Link string
	// Time is when the run began; zero where that is not known.
	Time time.Time
	// Partial is filled before Close where failures have no answer. May be nil.
	Partial *PartialAnswers
}

// PartialAnswers says how many of the failures were answered. The zero value says that all were.
type PartialAnswers struct {
	Answered, Failures int
	Interrupted        bool
}

// lead is what stands before the conclusion of all answers.
func (p *PartialAnswers) lead() string {
	switch {
	case p == nil || p.Answered >= p.Failures:
		return ""
	case p.Interrupted:
		return fmt.Sprintf("Interrupted: %d of %d answered.", p.Answered, p.Failures)
	default:
		return fmt.Sprintf("%d of %d answered.", p.Answered, p.Failures)
	}
}

// courts are lines that name another court than the shipped one.
func (t *AnswerTrees) courts() (lines [][2]string) {
	if t.Court != "" {
		lines = append(lines, [2]string{"Court:", sanitize.Line(t.Court)})
	}
	if t.MaxFalse > 0 {
		lines = append(lines, [2]string{"Price:", "an alibi where the change is at most " + strconv.FormatFloat(100*t.MaxFalse, 'g', 3, 64) + "% probable (--max-false-alibi)"})
	}
	return lines
}

// lines are those that begin an output: the base, and the court.
func (t *AnswerTrees) lines(o TerminalOptions) string {
	list := []string{o.paint(bold, "Base:") + " " + t.base()}
	for _, line := range t.courts() {
		list = append(list, o.paint(bold, line[0])+" "+line[1])
	}
	return strings.Join(list, "\n")
}

// base names the base: "main at 3f2c1a9b0d1e (merge base of HEAD and origin/main)".
func (t *AnswerTrees) base() string {
	text := shortCommit(t.Base)
	if t.Name != "" {
		text = sanitize.Line(t.Name) + " at " + text
	}
	if t.Why != "" {
		text += " (" + sanitize.Line(t.Why) + ")"
	}
	return text
}

// NewAnswerJSONL writes one answer a line, each at once.
func NewAnswerJSONL(w io.Writer, trees AnswerTrees) AnswerWriter {
	type line struct {
		answers.Failure

		Base  string  `json:"base"`
		Head  string  `json:"head"`
		Court string  `json:"court,omitempty"`
		Price float64 `json:"max_false_alibi,omitempty"`
	}
	return jsonLines[Answered]{w, func(a *Answered) ([]byte, error) {
		text, err := json.Marshal(line{failureOf(a, newAnswerView(a)), trees.Base, trees.Head, trees.Court, trees.MaxFalse})
		return sanitize.JSON(text), err
	}}
}

// answerView is an answer as people see it. Every text in it is sanitized, and those beside the message and the hunk have one line.
type answerView struct {
	*Answered
	Alike  []string // other tests that fail in the same way
	key    string
	number int // on the page
}

func newAnswerView(a *Answered) *answerView {
	m := textMap{text: sanitize.Line, line: sanitize.Line, vocabulary: sanitize.Line}
	v := &answerView{Answered: &Answered{Took: a.Took, Trial: a.Trial}}
	m.copy(reflect.ValueOf(&v.Answer).Elem(), reflect.ValueOf(&a.Answer).Elem(), m.text)
	m.copy(reflect.ValueOf(&v.Place).Elem(), reflect.ValueOf(&a.Place).Elem(), m.text)
	v.Test, v.ID = sanitize.Log(v.Test), sanitize.Log(v.ID)
	v.Message = sanitize.Block(a.Message)
	if a.Culprit != nil && a.Culprit.Hunk != nil {
		v.Culprit.Hunk.Text = sanitize.Block(a.Culprit.Hunk.Text)
	}
	v.key = strings.Join([]string{string(v.Verdict), v.Label, v.Says(), v.Message, v.Held()}, "\x00")
	return v
}

// join takes another answer that says the same of the same failure.
func (v *answerView) join(other *answerView) bool {
	if other.key != v.key || v.Message == "" {
		return false
	}
	v.Alike, v.Took = append(v.Alike, other.Test), v.Took+other.Took
	return true
}

// name is the test, with how many others fail in the same way.
func (v *answerView) name() string {
	if n := len(v.Alike); n > 0 {
		return v.Test + " and " + strconv.Itoa(n) + " more"
	}
	return v.Test
}

// Says is what a row says behind the verdict.
func (v *answerView) Says() string {
	text := v.Why
	switch {
	case v.Culprit != nil && v.Part != "":
		text = since(v.Culprit) + ": " + string(v.Part) + "; " + text
	case v.Culprit != nil:
		text = since(v.Culprit) + "; " + text
	case v.Part != "":
		text = string(v.Part) + ": " + text
	case v.Verdict == alibi.NotYours:
		text = v.Label + ": " + text
	}
	if v.Verdict == alibi.IsOpen && v.Next != "" {
		text += "; " + v.Next
	}
	return text
}

// Sentence is the conclusion of one answer.
func (v *answerView) Sentence() string {
	lead := map[string]string{
		alibi.Caused: "This change makes the test fail", alibi.Conflict: "The merge with the target makes the test fail",
		alibi.Preexisting: "The test failed before this change", alibi.Flaky: "The test is flaky, with or without this change",
		alibi.Environment: "Something outside of the code makes the test fail", "": "Not decided",
	}[v.Label]
	return cmp.Or(lead, v.Label) + ": " + v.Why + "."
}

// Began names the commit that the failure began with, and how sure that is; empty where that was not searched for.
func (v *answerView) Began() string {
	c := v.Culprit
	switch {
	case c == nil:
		return ""
	case c.Verified:
		return "Began with " + commitName(c) + "; " + verified(c)
	default:
		return "Probably began with " + commitName(c) + ", at " + chance(c.Probability) + "."
	}
}

// verified says what the runs showed that verify a culprit.
func verified(c *alibi.Culprit) string {
	text := "verified: it fails there, and passes at the parent"
	if p := c.Pair; p != nil {
		text = "verified: " + p.Words(shortCommit(p.Parent))
	}
	return text + "."
}

// Conclusion is what the answer says in sentences.
func (v *answerView) Conclusion() string {
	var said []string
	for _, s := range []string{v.Sentence(), v.Began(), v.Blamed(), v.Held()} {
		if s != "" {
			said = append(said, s)
		}
	}
	return strings.Join(said, " ")
}

// Held says that the test is in quarantine; empty where it is not.
func (v *answerView) Held() string {
	q := v.Quarantined
	if q == nil {
		return ""
	}
	return "In quarantine until " + q.Expires + ", looked after by " + q.Owner + ": " + strings.TrimSuffix(q.Reason, ".") + "."
}

// Blamed is the part of the change that did it.
func (v *answerView) Blamed() string {
	if v.Part == "" {
		return ""
	}
	return "It was the change of the " + string(v.Part) + "."
}

// Seconds is how long the answer took.
func (v *answerView) Seconds() string { return fmt.Sprintf("%.0f s", max(v.Took.Seconds(), 1)) }

// Class names the verdict in style sheets.
func (v *answerView) Class() string {
	return map[alibi.Verdict]string{alibi.IsYours: "yours", alibi.IsOpen: "open", alibi.NotYours: "not"}[v.Verdict]
}

// commitName names the commit of a culprit with its author.
func commitName(c *alibi.Culprit) string {
	if c.Commit == "" {
		return notCommitted
	}
	text := shortCommit(c.Commit) + " \"" + c.Title + "\""
	if c.Author != "" {
		text += " (" + c.Author + ")"
	}
	return text
}

func since(c *alibi.Culprit) string {
	if !c.Verified {
		return "probably since " + commitName(c)
	}
	return "since " + commitName(c)
}

// chance is a probability as a percentage. Only what is certain is 0% or 100%.
func chance(p float64) string {
	switch percent := 100 * p; {
	case percent > 0 && percent < 1:
		return "<1%"
	case percent > 99 && percent < 100:
		return ">99%"
	default:
		return strconv.FormatFloat(percent, 'f', 0, 64) + "%"
	}
}

// shortCommit is the beginning of a commit's id; none are the changes that are not committed.
func shortCommit(id string) string {
	const digits = 12
	return id[:min(len(id), digits)]
}

// answerGroup are the answers of one verdict.
type answerGroup struct {
	Verdict  alibi.Verdict
	Answers  []*answerView
	Failures int

	byKey map[string]*answerView
}

// answerList keeps answers for a page, those first that need somebody.
type answerList struct{ groups [3]answerGroup }

func (l *answerList) group(v alibi.Verdict) *answerGroup {
	at := map[alibi.Verdict]int{alibi.IsYours: 0, alibi.IsOpen: 1, alibi.NotYours: 2}[v]
	l.groups[at].Verdict = v
	return &l.groups[at]
}

// add keeps an answer, with equal ones as one.
func (l *answerList) add(v *answerView) {
	g := l.group(v.Verdict)
	g.Failures++
	if other := g.byKey[v.key]; other != nil && other.join(v) {
		return
	}
	if g.byKey == nil {
		g.byKey = map[string]*answerView{}
	}
	g.byKey[v.key] = v
	g.Answers = append(g.Answers, v)
}

// namesakes are the names that tests of several packages or classes have, with the group that each was seen in first.
type namesakes map[string]*namesake

type namesake struct {
	group   string
	several bool
}

func (n namesakes) add(test, group string) {
	if first := n[test]; first == nil {
		n[test] = &namesake{group: group}
	} else if first.group != group {
		first.several = true
	}
}

// name is the whole name of a test whose name others have, too.
func (n namesakes) name(test, id string) string {
	if first := n[test]; first != nil && first.several {
		return id
	}
	return test
}

// tellApart gives tests of one name their whole names.
func (l *answerList) tellApart() {
	known := namesakes{}
	for _, g := range l.groups {
		for _, v := range g.Answers {
			known.add(v.Test, v.Group)
		}
	}
	for _, g := range l.groups {
		for _, v := range g.Answers {
			v.Test = known.name(v.Test, v.ID)
		}
	}
}

// sentence is the conclusion of all answers; some may be missing.
func (l *answerList) sentence(p *PartialAnswers) string {
	yours, open, not := l.groups[0].Failures, l.groups[1].Failures, l.groups[2].Failures
	lead := p.lead()
	switch {
	case lead == "":
		return AnswersInWords(yours, not, open)
	case yours+not+open == 0:
		return lead
	default:
		return lead + " " + AnswersInWords(yours, not, open)
	}
}

// AnswersInWords says how many failures are yours, not yours and open.
func AnswersInWords(yours, not, open int) string {
	if yours+not+open == 0 {
		return "Nothing failed."
	}
	text := plural(yours, "failure is yours", "failures are yours")
	if yours == 0 {
		text = "No failure is yours"
	}
	return text + ", " + strconv.Itoa(not) + " not yours, " + strconv.Itoa(open) + " open."
}
