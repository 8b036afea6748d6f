package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
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

// AnswerTrees are the trees that answers are about: the commits of the base and of head, by which name the base was asked for, or why it was taken.
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
	if closes := v.Closes(); closes != "" {
		text += "; " + closes
	}
	return text
}

// Lead begins what would close an open answer; documents of before, and what a service keeps, have no lock.
func (v *answerView) Lead() string {
	if v.Lock == "" {
		return "What would decide it"
	}
	return "What would close the lock " + string(v.Lock)
}

// Closes is the lock that is open, and what would close it; empty for an answer.
func (v *answerView) Closes() string {
	switch {
	case v.Verdict != alibi.IsOpen || v.Next == "":
		return ""
	case v.Lock == "":
		return v.Next
	}
	return "lock " + string(v.Lock) + ": " + v.Next
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

// sentence is the conclusion of all answers; some may be missing.
func (l *answerList) sentence(p *PartialAnswers) string {
	yours, open, not := l.groups[0].Failures, l.groups[1].Failures, l.groups[2].Failures
	lead := p.lead()
	if lead != "" && yours+not+open == 0 {
		return lead
	}
	return strings.TrimPrefix(lead+" "+AnswersInWords(yours, not, open), " ")
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

// runMark is how a run ended.
type runMark int

const (
	markPassed runMark = iota
	markSame
	markOther
	markNotBuilt
	markNoTest
	markForeign
	markNotRun
)

// markSigns are the marks as text, as class of a style sheet, in words and in colour.
var markSigns = [...]struct {
	Sign, Class, Words string
	paint              paint
}{
	markPassed:   {"●", "passed", "passed", green},
	markSame:     {"✗", "same", "same failure", red},
	markOther:    {"▲", "other", "other failure", yellow},
	markNotBuilt: {"□", "unbuilt", "not built", magenta},
	markNoTest:   {"○", "absent", "no such test", faint},
	markForeign:  {"≠", "foreign", "ran code of another tree", magenta},
	markNotRun:   {"–", "unrun", "not run", faint},
}

func (m runMark) Sign() string  { return markSigns[m].Sign }
func (m runMark) Class() string { return markSigns[m].Class }
func (m runMark) Words() string { return markSigns[m].Words }

// runGrid has the runs of an answer, a row for each tree and a column for each environment.
type runGrid struct {
	Environments []string
	Rows         []gridRow
	Legend       []runMark // the marks that occur
}

type gridRow struct {
	Tree  string
	Cells []runCell
}

// runCell are the runs of a tree in an environment. The order of experiments is kept; of the runs of one the passed ones stand first.
type runCell struct {
	Environment string
	runs        []markCount
}

// markCount are runs that ended alike. Marks is how many marks are shown of them, and Count says the rest; empty where all are shown.
type markCount struct {
	Mark  runMark
	runs  int
	Marks int
	Count string
}

const (
	// mostMarks is how many runs of a cell are shown one by one, fewMarks how many of each kind where there are more.
	mostMarks = 20
	fewMarks  = 4
)

// Shown are the marks of a cell: at most so many one by one; of more, some of each kind with their count.
func (c *runCell) Shown(most int) []markCount {
	shown, all := []markCount(nil), 0
	for _, n := range c.runs {
		all += n.runs
		n.Marks = n.runs
		shown = append(shown, n)
	}
	if all <= most {
		return shown
	}
	shown = nil
	for _, n := range c.runs {
		i := slices.IndexFunc(shown, func(o markCount) bool { return o.Mark == n.Mark })
		if i < 0 {
			i, shown = len(shown), append(shown, markCount{Mark: n.Mark})
		}
		shown[i].runs += n.runs
	}
	for i := range shown {
		n := &shown[i]
		n.Marks = min(n.runs, fewMarks, most)
		n.Count = strconv.Itoa(n.runs) + " " + n.Mark.Words()
		if n.Marks < n.runs {
			n.Count = "… " + n.Count
		}
	}
	return shown
}

// Words say what a cell shows: "12 passed, 3 same failure".
func (c *runCell) Words() string {
	var words []string
	for _, n := range c.Shown(0) {
		words = append(words, strings.TrimPrefix(n.Count, "… "))
	}
	return strings.Join(words, ", ")
}

// newRunGrid lays the runs of an answer out.
func newRunGrid(runs []trial.Experiment) *runGrid {
	g := &runGrid{}
	environments, trees := map[string]int{}, map[string]int{}
	for i := range runs {
		e := &runs[i]
		at, name := environmentOf(e)
		environments[name] = at
		if tree, name := treeOf(e); trees[name] == 0 {
			trees[name] = tree + 1
		}
	}
	for name := range environments {
		g.Environments = append(g.Environments, name)
	}
	slices.SortFunc(g.Environments, func(a, b string) int { return cmp.Compare(environments[a], environments[b]) })
	for name := range trees {
		row := gridRow{Tree: name}
		for _, environment := range g.Environments {
			row.Cells = append(row.Cells, runCell{Environment: environment})
		}
		g.Rows = append(g.Rows, row)
	}
	slices.SortFunc(g.Rows, func(a, b gridRow) int {
		return cmp.Or(cmp.Compare(trees[a.Tree], trees[b.Tree]), cmp.Compare(a.Tree, b.Tree))
	})
	for i := range runs {
		_, environment := environmentOf(&runs[i])
		_, tree := treeOf(&runs[i])
		row := slices.IndexFunc(g.Rows, func(r gridRow) bool { return r.Tree == tree })
		c := &g.Rows[row].Cells[slices.Index(g.Environments, environment)]
		for _, n := range marksOf(&runs[i]) {
			if n.runs > 0 {
				c.runs, g.Legend = append(c.runs, n), append(g.Legend, n.Mark)
			}
		}
	}
	slices.Sort(g.Legend)
	g.Legend = slices.Compact(g.Legend)
	return g
}

// marksOf are the marks of one experiment.
func marksOf(e *trial.Experiment) []markCount {
	switch {
	case e.Loaded == abi.Contradicted:
		return []markCount{{Mark: markForeign, runs: max(e.Passed+e.Same+e.Other, 1)}}
	case e.Outcome == abi.OutcomeNotBuilt:
		return []markCount{{Mark: markNotBuilt, runs: 1}}
	case e.Outcome == abi.OutcomeNoTest:
		return []markCount{{Mark: markNoTest, runs: 1}}
	case e.Outcome == abi.OutcomeNotRun:
		return []markCount{{Mark: markNotRun, runs: 1}}
	}
	return []markCount{{Mark: markPassed, runs: e.Passed}, {Mark: markSame, runs: e.Same}, {Mark: markOther, runs: e.Other}}
}

// environmentOf names what is around the runs, with its place among the columns.
func environmentOf(e *trial.Experiment) (place int, name string) {
	names := []string{"alone", "clean environment", "busy machine", "coverage"}
	place = max(slices.Index([]abi.RunEnvironment{abi.OriginalEnvironment, abi.CleanEnvironment, abi.StarvedEnvironment, abi.CoverageEnvironment}, e.Environment), 0)
	name = names[place]
	if e.Order == abi.OriginalOrder {
		if place += len(names); e.Environment == abi.OriginalEnvironment {
			return place, "with the package"
		}
		name += ", with the package"
	}
	return place, name
}

// treeOf names what is run, with its place among the rows.
func treeOf(e *trial.Experiment) (place int, name string) {
	order := []abi.TreeRevision{abi.Base, abi.Head, abi.Target, abi.Merge}
	place = slices.Index(order, e.Product)
	if e.Product == e.Tests {
		return place, string(e.Product)
	}
	return place + len(order), string(e.Product) + ", tests of " + string(e.Tests)
}

// ribbonPart is a commit of the ribbon, or how many were left out at a place.
type ribbonPart struct {
	Commit, Title string
	Probability   float64
	Culprit       bool
	LeftOut       int
}

// Chance is its probability in words, Width the length of its bar as a percentage.
func (p *ribbonPart) Chance() string { return chance(p.Probability) }
func (p *ribbonPart) Width() int     { return width(p.Probability) }

// Name is what stands behind the bar.
func (p *ribbonPart) Name() string {
	if p.LeftOut > 0 {
		return "… " + plural(p.LeftOut, "commit", "commits")
	}
	return p.Title
}

// mostCommits is how many commits a ribbon has before improbable ones are left out: those below leastChance.
const (
	mostCommits = 12
	leastChance = 0.05
)

// ribbon is how probable each commit is, the oldest first. Of many commits it has the most probable.
func ribbon(c *alibi.Culprit) (parts []ribbonPart) {
	if c == nil {
		return nil
	}
	least := 0.0
	if len(c.Ribbon) > mostCommits {
		least = leastChance
	}
	for i := range c.Ribbon {
		s := &c.Ribbon[i]
		culprit := s.Commit == c.Commit
		switch n := len(parts); {
		case s.Probability >= least || culprit:
			parts = append(parts, ribbonPart{Commit: shortCommit(s.Commit), Title: s.Title, Probability: s.Probability, Culprit: culprit})
		case n > 0 && parts[n-1].LeftOut > 0:
			parts[n-1].LeftOut++
			parts[n-1].Probability += s.Probability
		default:
			parts = append(parts, ribbonPart{LeftOut: 1, Probability: s.Probability})
		}
	}
	return parts
}

// besides says which commits a search could not tell apart, and which could not be run.
func besides(c *alibi.Culprit) string {
	if c == nil {
		return ""
	}
	var said []string
	for _, id := range c.Beside {
		said = append(said, cmp.Or(shortCommit(id), notCommitted))
	}
	text := ""
	if len(said) > 0 {
		text = "It may as well be " + strings.Join(said, ", ") + ". "
	}
	return strings.TrimSpace(text + skipped(c))
}

// notCommitted stands for a commit without an id.
const notCommitted = "the changes that are not committed"

// skipped says which commits could not be run, and why: each reason once.
func skipped(c *alibi.Culprit) string {
	var said []string
	for i, s := range c.Skipped {
		same := func(other alibi.Skipped) bool { return other.Why == s.Why }
		if slices.ContainsFunc(c.Skipped[:i], same) {
			continue
		}
		var ids []string
		for _, other := range c.Skipped[i:] {
			if same(other) {
				ids = append(ids, cmp.Or(shortCommit(other.Commit), notCommitted))
			}
		}
		said = append(said, strings.Join(ids, ", ")+" ("+s.Why+")")
	}
	if len(said) == 0 {
		return ""
	}
	return "Skipped: " + strings.Join(said, "; ") + "."
}
