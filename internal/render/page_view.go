package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// caseView is a trial as the page lays it out. Every text in it is sanitized.
type caseView struct {
	*trial.Trial
	Anchor string
	Cast   trial.Cast
	trial.Comparison
	Reviews []passView
	// Untried are the passes over the Light path that came to no pass of the court.
	Untried []trial.LightPass
	// Grounds are what Light had to go by where no prosecution says it.
	Grounds []groundView
	// Groundless: there was no trial, and Light had nothing to go by.
	Groundless bool
	// link gives the address of a place in the documents, on a page of another program; nil for none.
	link func(source, quote string) string
}

// Verdict is what people read first.
func (v caseView) Verdict() verdictView {
	c := v.Conclusion()
	view := verdictView{Conclusion: c}
	if said := v.About(); said != v.Case.Subject {
		view.Said = said
	}
	if v.Result.Proposal != nil || v.Result.GapBrief != nil { // which have a part of their own
		view.Next = ""
	}
	return view
}

// verdictView is the conclusion of a case with the failure's message.
type verdictView struct {
	trial.Conclusion
	Said string
}

// Ref is a place that an item names, and what it quotes from there.
func (v caseView) Ref(source, quote string) refView {
	if v.link == nil {
		return refView{Name: source}
	}
	return refView{source, v.link(source, quote)}
}

// groundView is an item that speaks for Light's answer.
type groundView struct {
	*abi.Evidence
	Label labelView
	Ref   refView
}

// passView is one pass with its items, those with the most weight first.
type passView struct {
	*trial.Pass
	// Remand counts the remands before this pass.
	Remand int
	// OfLight is the pass over the Light path that this one reviews; nil where there was none.
	OfLight *trial.LightPass
	Items   []trial.Item
}

func newCaseView(t *trial.Trial, number int, link func(source, quote string) string) caseView {
	v := caseView{Trial: t, Anchor: "case-" + strconv.Itoa(number), Cast: t.Cast(), Comparison: t.Compare(), link: link}
	for i := range t.Passes {
		items := t.Passes[i].Items()
		slices.SortStableFunc(items, func(a, b trial.Item) int { return cmp.Compare(b.Weight, a.Weight) })
		pass := passView{Pass: &t.Passes[i], Remand: i, Items: items}
		if i < len(t.Light) {
			pass.OfLight = &t.Light[i]
		}
		v.Reviews = append(v.Reviews, pass)
	}
	if n := len(v.Reviews); n < len(t.Light) {
		v.Untried = t.Light[n:]
	}
	v.grounds()
	return v
}

// grounds gathers what no pass of the court tells of.
func (v *caseView) grounds() {
	var items []abi.Evidence
	if len(v.Reviews) == 0 {
		items = v.Trial.Grounds()
	}
	for i := range v.Untried {
		items = append(items, v.Untried[i].Grounds()...)
	}
	for i := range items {
		v.Grounds = append(v.Grounds, groundView{&items[i], newLabelView(v, items[i].Supports), v.Ref(items[i].SourceRef, items[i].Content)})
	}
	v.Groundless = len(v.Reviews) == 0 && len(items) == 0 && v.Result.Light != nil
}

// labelClass gives each label of a case a colour class by its place among the labels; what is none of them has none.
func (v *caseView) labelClass(label string) string {
	const colours = 8
	if i := slices.Index(v.Case.Labels, label); i >= 0 && i < colours {
		return "l" + strconv.Itoa(i+1)
	}
	return "l0"
}

// personaClass colours a persona by the colour that its pipeline names, else by its element.
func personaClass(p abi.Persona) string {
	switch c := strings.ToLower(p.Colour); c {
	case "scarlet", "sapphire", "iron", "obsidian", "crimson", "cobalt", "cerulean", "amber":
		return "p-" + c
	}
	return cmp.Or(map[abi.Element]string{
		abi.Fire: "p-scarlet", abi.Water: "p-sapphire", abi.Earth: "p-cobalt", abi.Air: "p-amber", abi.Diamond: "p-iron", abi.Lightning: "p-obsidian",
	}[p.Element], "p-none")
}

// initial is the letter of a persona's badge.
func initial(name string) string {
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(name))
	if r == utf8.RuneError {
		return "?"
	}
	return string(r)
}

// width is a number in [0, 1] as a whole percentage; NaN and what lies outside are clamped to it.
func width(v float64) int {
	if !(v > 0) { // NaN too
		return 0
	}
	return int(min(v, 1)*100 + 0.5)
}

// shortDigest shows enough of a digest to tell modules apart.
func shortDigest(s string) string {
	const shown = len("sha256:") + 12
	if strings.HasPrefix(s, "sha256:") && len(s) > shown {
		return s[:shown]
	}
	return s
}

// briefWhat says what the defense does, in a few words.
func briefWhat(b *abi.DefenseBrief) string {
	switch {
	case b.PleaDeal:
		return "concedes the charge"
	case b.MotionToDismiss && b.AlternativeHypothesis != nil:
		return "moves to dismiss, and proposes an alternative"
	case b.MotionToDismiss:
		return "moves to dismiss"
	case b.AlternativeHypothesis != nil:
		return "proposes an alternative to the charge"
	}
	return "answers the charge"
}

// labelView is a label with its colour, speech one turn of a hearing, passIn a pass with the case around it.
type (
	labelView struct{ Name, Class, Meaning string }
	speech    struct {
		Persona    abi.Persona
		Text, Role string
	}
	passIn struct {
		Case caseView
		Pass passView
	}
	// lightIn is a pass over the Light path with the case around it.
	lightIn struct {
		Case caseView
		Pass *trial.LightPass
	}
	// statementView is what a node of the Light path said.
	statementView struct {
		Persona   abi.Persona
		What, Why string
	}
	// challengeView has the persona in place of its name.
	challengeView struct {
		EvidenceIndex int
		Severity      abi.Severity
		Text          string
		By            abi.Persona
	}
	itemView struct {
		trial.Item
		Label labelView
		Ref   refView
		By    []challengeView
	}
	// refView is a place in the documents, with an address where the page has one for it.
	refView struct{ Name, Href string }
)

func newLabelView(v *caseView, label string) labelView {
	l := labelView{Name: v.LabelName(label), Class: v.labelClass(label)}
	if name := v.LabelNames[label]; name != "" {
		l.Meaning = label + ": " + name
	}
	return l
}

func newChallengeView(v caseView, c abi.Challenge) challengeView {
	return challengeView{c.EvidenceIndex, c.Severity, clip(v.Named(c.Challenge)), v.Persona(c.By)}
}

func newItemView(v caseView, item trial.Item) itemView {
	out := itemView{Item: item, Label: newLabelView(&v, item.Supports), Ref: v.Ref(item.SourceRef, item.Content)}
	for _, c := range item.Challenges {
		out.By = append(out.By, newChallengeView(v, c))
	}
	return out
}
