package reading

import (
	"slices"
	"strings"
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
	// Differs is a figure that its item has otherwise; empty if there is none.
	Differs string
	// Unfound is a figure that no item has, and nothing to compare it with.
	Unfound string
	// Forged: it rests on an item that claims a document which doesn't have it,
	// and says no such thing of it.
	Forged bool
	// Beside: it says much beside a quotation that stands, of which no item has a word.
	Beside bool
	// Dangling is a line that it names and that is not there; empty if there is none.
	Dangling string
}

// Supports holds the claims of an opinion against the evidence, each once. Left out are
// those that tell of the proceedings and rest on nothing, and those that expose an item.
// labels are the names of what may be concluded.
func (f *File) Supports(statements []Statement, labels []string) []Support {
	t := tracing{file: f, lookedUp: LookedUp(statements), labels: make(map[string]bool), followed: make(map[Reference]bool)}
	for i := range f.Items {
		EachWord(f.Items[i].SourceRef, t.names)
	}
	for _, label := range labels {
		EachWord(label, t.names)
	}
	exposed := f.Exposed(statements)
	var list []Support
	var told []*Statement
	for i := range statements {
		s := &statements[i]
		if !s.claims() || slices.ContainsFunc(told, func(before *Statement) bool { return s.Repeats(before) }) {
			continue
		}
		told = append(told, s)
		support := t.support(s)
		if support.Item != nil && slices.Contains(exposed, support.Item) {
			continue
		}
		accused := len(support.MadeUp) > 0 || support.Differs != "" || support.Dangling != ""
		if !accused && (support.Item == nil && s.Procedural() || len(s.Quotations) == 0 && t.proceeds(s)) {
			continue
		}
		list = append(list, support)
	}
	return list
}

// names takes a word for one of a name: whole, and in its parts.
func (t *tracing) names(word string) {
	t.labels[word] = true
	for part := range strings.SplitSeq(word, "_") {
		t.labels[part] = true
	}
}

// tracing is the work of Supports.
type tracing struct {
	file     *File
	lookedUp map[string]bool
	labels   map[string]bool    // words of the names of items, and of what may be concluded
	followed map[Reference]bool // lines that were named so far
	clocks   []float64          // times of day in the evidence, in seconds; nil until they are asked for
}

func (t *tracing) support(s *Statement) Support {
	out := Support{Claim: s}
	rests := t.quoted(s, &out)
	quoting := len(rests) > 0 || len(out.MadeUp) > 0
	lines := s.References(t.file.Documents)
	named := t.named(s, lines, &out)
	if len(named) > 0 && !quoting {
		out.rest(t.file, named[0])
		if s.shares(named) == 0 {
			out.Weight /= 2 // it names the item, and says nothing that it says
		}
	}
	rests = append(rests, named...)
	byWords := t.byWords(s)
	if out.Item == nil && len(byWords) > 0 && !quoting {
		out.rest(t.file, byWords[0])
	}
	if out.Item != nil {
		t.compare(s, &out, rests, byWords)
		out.Forged = out.Item.Standing == Absent
		if out.Beside = t.beside(s, out.Item); out.Beside {
			out.Weight *= besideWeight
		}
	}
	if len(out.MadeUp) > 0 || out.Differs != "" || out.Forged {
		out.Weight = min(out.Weight, 0.5)
	}
	if out.Differs != "" || out.Forged {
		out.Weight = 0
	}
	return out
}

func (out *Support) rest(f *File, item *Item) { out.Item, out.Weight = item, f.Weight(item) }

// quoted looks each quotation up by itself. The claim weighs what they do on average.
func (t *tracing) quoted(s *Statement, out *Support) []*Item {
	var rests []*Item
	sum, all := 0.0, 0
	for i := range s.Quotations {
		q := &s.Quotations[i]
		if !t.lookedUp[q.Key()] {
			continue
		}
		best := t.heaviest(t.file.Quoted(q))
		switch {
		case best != nil:
			rests, sum, all = append(rests, best), sum+t.file.Weight(best), all+1
			if out.Item == nil || t.file.Weight(best) > t.file.Weight(out.Item) {
				out.Item = best
			}
		case !q.Name:
			out.MadeUp, all = append(out.MadeUp, q.Text), all+1
		}
	}
	if all > 0 {
		out.Weight = sum / float64(all)
	}
	return rests
}

func (t *tracing) heaviest(list []*Item) *Item {
	var best *Item
	for _, item := range list {
		if best == nil || t.file.Weight(item) > t.file.Weight(best) {
			best = item
		}
	}
	return best
}

// named are the items that a statement names; those first that have its words.
func (t *tracing) named(s *Statement, lines []Reference, out *Support) []*Item {
	var list []*Item
	found := make(map[Reference]bool)
	for i := range t.file.Items {
		item := &t.file.Items[i]
		if item.Named(s, lines) {
			list, found[item.place] = append(list, item), true
		}
	}
	for _, line := range lines {
		if t.followed[line] = true; !found[line] && len(t.followed) <= MaxLines {
			out.Dangling = line.Document + ":L" + itoa(line.Line)
		}
	}
	slices.SortStableFunc(list, func(a, b *Item) int {
		if wa, wb := t.file.Weight(a), t.file.Weight(b); wa != wb {
			if wa > wb {
				return -1
			}
			return 1
		}
		return b.shares(s) - a.shares(s)
	})
	return list
}

func (s *Statement) shares(list []*Item) int {
	most := 0
	for _, item := range list {
		most = max(most, item.shares(s))
		for _, f := range s.figures() {
			if f.among(item.figures) {
				most = max(most, 1)
			}
		}
	}
	return most
}

// byWords are the items that have enough of a statement's words, those first that
// have its figures, then those that count more, then those that have more words.
func (t *tracing) byWords(s *Statement) []*Item {
	var list []*Item
	for i := range t.file.Items {
		if item := &t.file.Items[i]; item.bears(s) {
			list = append(list, item)
		}
	}
	rank := func(item *Item) float64 {
		same := 0
		for _, f := range s.figures() {
			if f.among(item.figures) {
				same++
			}
		}
		return 1000*float64(same) + 100*t.file.Weight(item) + float64(item.shares(s))
	}
	slices.SortStableFunc(list, func(a, b *Item) int {
		switch ra, rb := rank(a), rank(b); {
		case ra > rb:
			return -1
		case ra < rb:
			return 1
		default:
			return 0
		}
	})
	return list
}

// Repeats says whether a statement says nothing that another doesn't: the same
// quotations or words, with no figure and hardly a word that the other has not.
func (s *Statement) Repeats(before *Statement) bool {
	if len(s.Quotations) != len(before.Quotations) {
		return false
	}
	for i := range s.Quotations {
		if s.Quotations[i].Key() != before.Quotations[i].Key() {
			return false
		}
	}
	most := 0
	if len(s.Quotations) > 0 {
		most = maxFresh
	}
	for _, word := range s.Words {
		if !slices.Contains(before.Words, word) && !telling[word] && !proceedings[word] {
			most--
		}
	}
	if most < 0 {
		return false
	}
	earlier := before.figures()
	return !slices.ContainsFunc(s.figures(), func(f figure) bool { return !f.among(earlier) })
}

// maxFresh words beside a quotation say nothing new.
const maxFresh = 1

// telling words say that something is said.
var telling = set("says said say saying states stated tells told reads writes wrote reports reported notes according repeats repeated sagt sagte steht dit indique dice")

// Procedural says whether a statement tells of the proceedings, what a party
// argues, how sure somebody is, what may be or what is not there: such a statement needs no
// evidence, and an opinion is no worse for one that rests on none.
func (s *Statement) Procedural() bool {
	return Says(s, procedural...) || Says(s, parties...) && Says(s, arguing...)
}

var (
	procedural = []string{
		"charge", "charges", "charged", "verdict", "classif*", "conced*", "estimate*", "confidence", "probabilit*", "likelihood", "missing", "misses", "lacks", "whether", "question is", "issue is",
		"sure", "surer", "unsure", "may", "might", "would", "perhaps", "possibly", "nobody has shown",
		"anklage", "urteil", "schluss", "zuversicht", "wahrscheinlichkeit", "würde", "könnte", "vielleicht",
		"accusation", "confiance", "probabilité", "pourrait", "acusación", "veredicto", "confianza", "probabilidad", "podría",
	}
	parties = []string{"prosecut*", "defense", "defence", "defendant*", "plaintiff*", "claimant*", "respondent*", "appellant*", "verteidigung", "défense", "defensa", "procureur", "fiscal", "kläger*", "beklagte*", "plaignant*", "demandante*"}
	arguing = []string{
		"argue*", "answer*", "contend*", "submit*", "object*", "maintain*", "repl*", "believe*", "claim*", "relies", "erwider*", "entgegn*", "meint", "wendet", "behauptet", "répond*", "soutient", "responde*", "sostiene",
	}
)

// proceeds says whether a statement has no word but those of proceedings and of the
// names of what may be concluded: it says nothing of the case.
func (t *tracing) proceeds(s *Statement) bool {
	left := 0
	if Says(s, "conclude*", "decide*", "verdict", "reject*", "hold", "holds", "find", "finds", "rule", "rules") {
		left = 1 // what is concluded
	}
	for _, word := range s.Words {
		if !t.labels[word] && !proceedings[word] && !proceedings[singular(word)] && strings.Trim(word, "0123456789") != "" {
			left--
		}
	}
	return left >= 0
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

// Exposed are the items that claim a document which doesn't have them, and of
// which the opinion says so: naming or quoting them, in a statement or the one behind it.
func (f *File) Exposed(statements []Statement) []*Item {
	var list []*Item
	for i := range f.Items {
		item := &f.Items[i]
		if item.Standing != Absent {
			continue
		}
		for k := range statements {
			s := &statements[k]
			if !item.quotedBy(s) && !Names(s.Text, item.SourceRef) {
				continue
			}
			if Says(s, exposing...) || k+1 < len(statements) && Says(&statements[k+1], exposing...) {
				list = append(list, item)
				break
			}
		}
	}
	return list
}

// exposing words say of an item that it is not what it claims to be.
var exposing = []string{
	"forged", "forgery", "fabricat*", "falsified", "made up", "invented", "tampered", "does not have", "do not have", "doesn't have", "has no such", "no such line",
	"stands in no", "stand in no", "does not stand", "do not stand", "doesn't stand", "don't stand", "stands nowhere", "is not there", "not in the document*", "not in the log",
	"does not contain", "doesn't contain", "is absent", "does not appear", "doesn't appear", "no document has", "gefälscht", "erfunden", "steht nicht", "falsifié", "inventé", "falsificado", "inventado",
}
