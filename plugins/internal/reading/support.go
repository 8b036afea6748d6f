package reading

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Support is what a claim rests on.
type Support struct {
	Claim *Statement
	// Item that it rests on most; nil if there is none.
	Item *Item
	// Weight is how much of the claim the evidence bears out, from 0 to 1.
	Weight float64
	// MadeUp are its quotations that stand nowhere.
	MadeUp []string
	// Differs is a figure that its item has otherwise, Unfound one that no item has, and Dangling a line that it names and that is not
	// there; empty if there is none.
	Differs, Unfound, Dangling string
	// Forged: it rests on an item that claims a document which doesn't have it.
	Forged bool
}

// Supports holds the claims of an opinion against the evidence, each once. Left out are those that tell of the proceedings and rest on
// nothing, and those that expose an item.
func (f *File) Supports(o *abi.JudicialOpinion, statements []Statement) []Support {
	t := tracing{file: f, lookedUp: LookedUp(statements), names: make(map[string]bool), followed: make(map[Reference]bool)}
	for i := range f.Items {
		EachWord(f.Items[i].SourceRef, t.name)
	}
	for _, label := range f.labels(o) {
		EachWord(label, t.name)
	}
	exposed := f.Exposed(statements)
	var list []Support
	var told []*Statement
	for i := range statements {
		s := &statements[i]
		if !s.claims() || slices.ContainsFunc(told, s.Repeats) {
			continue
		}
		told = append(told, s)
		support := t.support(s)
		if slices.Contains(exposed, support.Item) {
			continue
		}
		accused := len(support.MadeUp) > 0 || support.Differs != "" || support.Dangling != ""
		if !accused && (support.Item == nil && s.procedural() || len(s.Quotations) == 0 && t.proceeds(s)) {
			continue
		}
		list = append(list, support)
	}
	return list
}

// tracing is the work of Supports.
type tracing struct {
	file     *File
	lookedUp map[string]bool
	names    map[string]bool    // words of the names of items, and of what may be concluded
	followed map[Reference]bool // lines that were named so far
}

// name takes a word for one of a name: whole, and in its parts.
func (t *tracing) name(word string) {
	t.names[word] = true
	for part := range strings.SplitSeq(word, "_") {
		t.names[part] = true
	}
}

// unfoundShare is what is left of a claim with a figure that no item has.
const unfoundShare = 0.75

func (t *tracing) support(s *Statement) Support {
	out := Support{Claim: s}
	rests := t.quoted(s, &out)
	quoting := len(rests) > 0 || len(out.MadeUp) > 0
	named := t.file.Named(s, t.lines(s, &out))
	rests = append(rests, named...)
	byWords := where(t.file.Items, func(item *Item) bool { return item.bears(s) })
	switch best := t.file.heaviest(named); {
	case quoting:
	case best != nil:
		out.Item, out.Weight = best, t.file.Weight(best)
		if !slices.ContainsFunc(named, func(item *Item) bool { return item.shares(s) > 0 || slices.ContainsFunc(s.figures(), item.has) }) {
			out.Weight /= 2 // it names the item, and says nothing that it says
		}
	case len(byWords) > 0:
		out.Item = slices.MaxFunc(byWords, func(a, b *Item) int { return cmp.Compare(a.shares(s), b.shares(s)) })
		out.Weight = t.file.Weight(out.Item)
	}
	if out.Item == nil {
		return out
	}
	t.compare(s, &out, append(rests, byWords...))
	out.Forged = out.Item.Standing == Absent
	if out.Unfound != "" {
		out.Weight *= unfoundShare
	}
	if out.Differs != "" || out.Forged {
		out.Weight = 0
	}
	return out
}

// quoted looks each quotation up by itself. The claim weighs what they do on average.
func (t *tracing) quoted(s *Statement, out *Support) (rests []*Item) {
	sum, all := 0.0, 0
	for i := range s.Quotations {
		q := &s.Quotations[i]
		if !t.lookedUp[q.Key] {
			continue
		}
		if best := t.file.heaviest(t.file.Quoted(q)); best != nil {
			rests, sum, all = append(rests, best), sum+t.file.Weight(best), all+1
		} else if !q.Name {
			out.MadeUp, all = append(out.MadeUp, q.Text), all+1
		}
	}
	out.Item, out.Weight = t.file.heaviest(rests), sum/float64(max(1, all))
	return rests
}

// lines are those that a statement names, and notes one that is not there.
func (t *tracing) lines(s *Statement, out *Support) []Reference {
	lines := s.References(t.file.Documents)
	for _, line := range lines {
		t.followed[line] = true
		there := t.file.some(func(item *Item) bool { return item.place == line })
		if !there && len(t.followed) <= MaxLines {
			out.Dangling = line.Document + ":L" + strconv.Itoa(line.Line)
		}
	}
	return lines
}

// has says whether an item has a figure, hasAlike whether it has one of the same.
func (item *Item) has(f figure) bool      { return f.among(item.figures) }
func (item *Item) hasAlike(f figure) bool { return slices.ContainsFunc(item.figures, f.alike) }

// compare checks the figures of a claim. One that none of the items has differs where one of those that bear on the claim has another of
// the same.
func (t *tracing) compare(s *Statement, out *Support, bearing []*Item) {
	for _, f := range s.figures() {
		if t.file.some(func(item *Item) bool { return item.has(f) }) ||
			slices.ContainsFunc(bearing, func(item *Item) bool { return Names(item.folded, f.text) }) {
			continue
		}
		if slices.ContainsFunc(bearing, func(item *Item) bool { return item.hasAlike(f) }) {
			out.Differs = f.text
			return
		}
		out.Unfound = cmp.Or(out.Unfound, f.text)
	}
}

// Repeats says whether a statement says nothing that another doesn't: the same quotations or words, with no figure and hardly a word that
// the other has not.
func (s *Statement) Repeats(before *Statement) bool {
	if !slices.EqualFunc(s.Quotations, before.Quotations, func(a, b Quotation) bool { return a.Key == b.Key }) {
		return false
	}
	fresh := 0
	for _, word := range s.Words {
		if !slices.Contains(before.Words, word) && !telling[word] && !proceedings[word] {
			fresh++
		}
	}
	if fresh > min(1, len(s.Quotations)) { // a word beside a quotation says nothing new
		return false
	}
	earlier := before.figures()
	return !slices.ContainsFunc(s.figures(), func(f figure) bool { return !f.among(earlier) })
}

// telling words say that something is said.
var telling = set("says said say saying states stated tells told reads writes wrote reports reported notes according repeats repeated")

// procedural says whether a statement tells of the proceedings, what a party argues, how sure somebody is, what may be or what is not
// there: such a statement needs no evidence, and an opinion is no worse for one that rests on none.
func (s *Statement) procedural() bool {
	return Says(s, procedural...) || Says(s, parties...) && Says(s, arguing...)
}

var (
	procedural = []string{
		"charge", "charges", "charged", "verdict", "classif*", "conced*", "estimate*", "confidence", "probabilit*", "likelihood", "missing", "misses", "lacks", "whether", "question is", "issue is",
		"sure", "surer", "unsure", "may", "might", "would", "perhaps", "possibly", "nobody has shown",
	}
	parties = []string{"prosecut*", "defense", "defence", "defendant*", "plaintiff*", "claimant*", "respondent*", "appellant*"}
	arguing = []string{"argue*", "answer*", "contend*", "submit*", "object*", "maintain*", "repl*", "believe*", "claim*", "relies"}
)

// proceeds says whether a statement has no word but those of proceedings and of the names of what may be concluded: it says nothing of
// the case.
func (t *tracing) proceeds(s *Statement) bool {
	return !slices.ContainsFunc(s.Words, func(word string) bool {
		return !t.names[word] && !proceedings[word] && !proceedings[singular(word)] && strings.Trim(word, "0123456789") != ""
	})
}

// proceedings are words of any procedure before any court.
var proceedings = set("charge charged prosecution prosecutor defense defence defendant court bench judge judges arbiter forensic expert party parties " +
	"round item evidence exhibit document line source quote quoted quotation label case side opinion hearing brief verdict ruling decision claim " +
	"argument argue argued argues answer answered note noted object objection challenge challenged plea motion discovery narrative reason light " +
	"stand standing support supported speak say find found hold held add added bring brought miss missing leave left remain remained begin end ended " +
	"concede conceded affirm amend acquit acquitted acquittal dismiss dismissed remand remanded reject rejected accept accepted strike struck " +
	"nothing none nobody everything new fatal weakening minor confidence probability sure classification classified classify classifies charges " +
	"quoting stating saying holding speaking supporting standing alternative against favour favor first second last again once respect weighed weigh " +
	"weight nats own estimate put name named beside word concludes conclude far case's fall finding findings relied rely relies however although therefore thus hence but nevertheless accordingly nowhere without next apart tell tells nearest round's")

// Exposed are the items that claim a document which doesn't have them, and of which the opinion says so: naming or quoting them, in a
// statement or the one behind it.
func (f *File) Exposed(statements []Statement) []*Item {
	return where(f.Items, func(item *Item) bool {
		for k := range statements {
			s := &statements[k]
			if item.Standing == Absent && (item.quotedBy(s) || Names(s.Text, item.SourceRef)) &&
				(Says(s, exposing...) || k+1 < len(statements) && Says(&statements[k+1], exposing...)) {
				return true
			}
		}
		return false
	})
}

func (item *Item) quotedBy(s *Statement) bool {
	return slices.ContainsFunc(s.Quotations, func(q Quotation) bool {
		_, _, ok := q.StandsIn(item.folded)
		return ok
	})
}

// exposing words say of an item that it is not what it claims to be.
var exposing = []string{
	"forged", "forgery", "fabricat*", "falsified", "made up", "invented", "tampered", "does not have", "do not have", "doesn't have", "has no such", "no such line",
	"stands in no", "stand in no", "does not stand", "do not stand", "doesn't stand", "don't stand", "stands nowhere", "is not there", "not in the document*", "not in the log",
	"does not contain", "doesn't contain", "is absent", "does not appear", "doesn't appear", "no document has",
}
