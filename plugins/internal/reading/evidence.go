package reading

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/steering"
)

// Names by which the host speaks in the evidence of an audit.
const (
	OpinionName   = "opinion"   // what the opinion itself says
	ForensicsName = "forensics" // what the host found when it looked an item up
	DissentName   = "dissent"   // what another judge said
)

// Standing is what the host found when it looked an item up in the documents.
type Standing int

// The standings.
const (
	Unclaimed Standing = iota // it claims to stand in no document
	Stands
	Absent // it claims to, and doesn't
)

// Item is an item of evidence that a claim can be traced to.
type Item struct {
	abi.Evidence
	Standing Standing
	words    map[string]bool
	folded   string
	figures  []figure
	place    Reference
}

// File is the evidence of an audit, read once.
type File struct {
	Items []Item
	// silent are items that only address the reader: they can be quoted, and bear nothing out.
	silent []Item
	// Documents that items are lines of, by name.
	Documents []string
	// checked: there were documents to look items up in.
	checked bool
}

// maxItems of evidence are read: some seconds of fuel.
const maxItems = 2000

// Open reads the evidence of a request: the items of the case and of those who read its documents, with what the host found. What the
// opinion itself says does not count, and what only addresses the reader says nothing.
func Open(evidence []abi.Evidence) *File {
	f := &File{}
	standing := make(map[string]Standing)
	for i := range evidence {
		if ref, ok := strings.CutPrefix(evidence[i].SourceRef, ForensicsName+":"); ok {
			f.checked = true
			if strings.HasPrefix(evidence[i].Content, "stands") {
				standing[ref] = Stands
			} else if standing[ref] != Stands {
				standing[ref] = Absent
			}
		}
	}
	for i := range evidence {
		e := &evidence[i]
		name, _, _ := strings.Cut(e.SourceRef, ":")
		if name == ForensicsName || name == DissentName || name == OpinionName || len(f.Items)+len(f.silent) == maxItems {
			continue
		}
		item := Item{Evidence: *e, Standing: standing[e.SourceRef], words: make(map[string]bool), folded: Fold(e.Content)}
		if steering.Steers(e.Content) && !says(e.Content) {
			f.silent = append(f.silent, item)
			continue
		}
		item.figures = figures(e.Content)
		EachWord(e.Content, func(word string) { item.words[word] = true })
		if place, ok := placeOf(e.SourceRef); ok {
			item.place = place
			if !slices.Contains(f.Documents, place.Document) {
				f.Documents = append(f.Documents, place.Document)
			}
		}
		f.Items = append(f.Items, item)
	}
	return f
}

// says tells whether a content says something beside what addresses the reader, in a line of its own.
func says(content string) bool {
	for line := range strings.Lines(content) {
		if len(Claims(Statements(line))) > 0 {
			return true
		}
	}
	return false
}

// labels are the names of what may be concluded: those of the opinion's metadata and those that items speak for.
func (f *File) labels(o *abi.JudicialOpinion) []string {
	labels := []string{o.Metadata[KeyClassification], o.Metadata[keyCharge]}
	for i := range f.Items {
		labels = append(labels, f.Items[i].Supports)
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}

// AcquitsForWant says whether an opinion acquits, and there is no evidence that it could cite.
func (f *File) AcquitsForWant(o *abi.JudicialOpinion) bool {
	return len(f.Items) == 0 && o.Metadata[keyDecision] == "acquit"
}

// Weight is what an item counts that a claim is traced to: what stands in the documents wholly, what claims to and doesn't nothing, and
// what claims no document half, unless there was none to claim.
func (f *File) Weight(item *Item) float64 {
	switch {
	case item.Standing == Stands || item.Standing == Unclaimed && !f.checked:
		return 1
	case item.Standing == Absent:
		return 0
	default:
		return 0.5
	}
}

// Quoted are the items in which a quotation stands.
func (f *File) Quoted(q *Quotation) []*Item {
	stands := func(item *Item) bool {
		_, _, ok := q.StandsIn(item.folded)
		return ok
	}
	return append(where(f.Items, stands), where(f.silent, stands)...)
}

// Named are the items that a statement names, by their source_ref or as one of the lines that it names.
func (f *File) Named(s *Statement, lines []Reference) []*Item {
	return where(f.Items, func(item *Item) bool { return slices.Contains(lines, item.place) || Names(s.Text, item.SourceRef) })
}

func where(items []Item, such func(*Item) bool) []*Item {
	var list []*Item
	for i := range items {
		if such(&items[i]) {
			list = append(list, &items[i])
		}
	}
	return list
}

func (f *File) some(such func(*Item) bool) bool {
	for i := range f.Items {
		if such(&f.Items[i]) {
			return true
		}
	}
	return false
}

// heaviest is the first of the items that count most; nil of none.
func (f *File) heaviest(list []*Item) *Item {
	var best *Item
	for _, item := range list {
		if best == nil || f.Weight(item) > f.Weight(best) {
			best = item
		}
	}
	return best
}

// shares is how many words of a statement stand in the item.
func (item *Item) shares(s *Statement) int {
	shared := 0
	for _, word := range s.Words {
		if item.words[word] {
			shared++
		}
	}
	return shared
}

// leastShare of a statement's words must stand in an item that it rests on without naming or quoting it.
const leastShare = 0.5

// bears says whether enough of a statement's words stand in the item, or one and a figure of what the item has one of.
func (item *Item) bears(s *Statement) bool {
	shared := item.shares(s)
	return shared >= minWords && float64(shared) >= leastShare*float64(len(s.Words)) || shared > 0 && slices.ContainsFunc(s.figures(), item.hasAlike)
}

// UnknownCriterion is the code of the failure of a judge that is asked for a criterion which it can't judge.
const UnknownCriterion = "unknown_criterion"

const security = "security"

// Judge answers for a judge without parameters: read gives its view of an opinion, which says for each criterion what the judge makes of
// it, or that it can't judge it. What the others said when they dissented is heard, but not of security.
func Judge(name string, r *abi.JudgeRequest, read func(*abi.JudgeRequest) func(criterion string) (abi.CriterionOpinion, bool)) ([]abi.CriterionOpinion, *abi.Failure) {
	if failure := proceeding.CheckParams(name, r.Params); failure != nil {
		return nil, failure
	}
	judge := read(r)
	opinions := make([]abi.CriterionOpinion, len(r.Criteria))
	for i := range r.Criteria {
		criterion := r.Criteria[i].CriterionID
		o, ok := judge(criterion)
		if !ok {
			return nil, guest.Fail(UnknownCriterion, name+" can't judge "+criterion)
		}
		o.Judge, o.CriterionID = r.Judge, criterion
		if criterion != security {
			reconsider(&o, r.Evidence)
		}
		opinions[i] = o
	}
	return opinions, nil
}

// reconsider is what a judge makes of having heard the others, when it is asked again: it goes one step towards the surest of those that
// are surer than itself, and is a little surer of it than it was before. Nobody goes further: who is surer of what is wrong would win
// every time.
func reconsider(o *abi.CriterionOpinion, evidence []abi.Evidence) {
	surest := o.RelevanceConfidence
	theirs, who := o.NumericScore, ""
	for i := range evidence {
		e := &evidence[i]
		ref, heard := strings.CutPrefix(e.SourceRef, DissentName+":")
		if heard && e.Supports == o.CriterionID && e.RelevanceConfidence > surest && e.Content != "" && '1' <= e.Content[0] && e.Content[0] <= '5' {
			surest, theirs, who = e.RelevanceConfidence, int(e.Content[0]-'0'), ref[strings.LastIndexByte(ref, ':')+1:]
		}
	}
	switch {
	case theirs == o.NumericScore:
		return
	case theirs > o.NumericScore:
		o.NumericScore++
	default:
		o.NumericScore--
	}
	o.RelevanceConfidence += (1 - o.RelevanceConfidence) / 10
	o.Argument += " " + who + ", who is surer, moves this one step."
}

// Grade gives 1 to 5: one more for each bound that x reaches.
func Grade(x float64, bounds ...float64) int {
	score := 1
	for _, b := range bounds {
		if x >= b {
			score++
		}
	}
	return score
}

// Collect answers for a collector without parameters: read gets the opinion's statements, the other documents and the labels, and says
// what it found.
func Collect(name string, r *abi.NodeRequest, read func(statements []Statement, documents []abi.Document, labels []string, out *abi.Discovery)) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyCollect {
		return nil, guest.Fail(guest.WrongFamily, name+" doesn't play "+string(r.Family))
	}
	if failure := proceeding.CheckParams(name, r.Params); failure != nil {
		return nil, failure
	}
	out := &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{}}
	var documents []abi.Document
	var opinion *abi.Document
	for i := range r.Case.Documents {
		if d := &r.Case.Documents[i]; d.Name == OpinionName && opinion == nil {
			opinion = d
		} else {
			documents = append(documents, *d)
		}
	}
	if opinion == nil {
		out.Missing = append(out.Missing, "there is no opinion to read")
	} else {
		read(Statements(opinion.Text), documents, r.Case.Labels, out)
	}
	return &abi.Artifact{Discovery: out}, nil
}
