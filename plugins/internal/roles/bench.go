package roles

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Preside gives the artifact of a node of the bench.
func Preside(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail(incompleteRequest, "the case has no labels")
	}
	switch r.Family {
	case abi.FamilyDiscover:
		if failure := proceeding.CheckParams("the bench", r.Params, proceeding.ExperimentParams()...); failure != nil {
			return nil, failure
		}
		return &abi.Artifact{Discovery: discover(r)}, nil
	case abi.FamilyHearing:
		if r.Indictment == nil || r.Turn == nil {
			return nil, guest.Fail(incompleteRequest, "a turn of the hearing needs the indictment and whose turn it is")
		}
		return &abi.Artifact{HearingTurn: note(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the bulwark doesn't play "+string(r.Family))
	}
}

// ChooseAtDiscovery asks at discovery for the first experiment of the trial, by what the documents say alone: no conclusion of Light enters
// the choice. In the hearing the bench asks for none.
func ChooseAtDiscovery(r *abi.NodeRequest) *abi.Experiment {
	if r.Family != abi.FamilyDiscover || len(r.Case.Labels) == 0 {
		return nil
	}
	texts := make([]string, len(r.Case.Documents))
	for i := range r.Case.Documents {
		texts[i] = r.Case.Documents[i].Text
	}
	scale := weigh.Weigh(&weigh.Matter{
		Labels: r.Case.Labels, Subject: r.Case.Subject, Profile: r.Profile,
		Findings: discover(r).Findings, Signals: weigh.Standing(r.Profile, texts), Experiments: r.Case.Experiments,
	})
	return proceeding.First(r, scale)
}

// ContestBench contests the items that fall to the bench's element: what is flawed, and what names a label but neither quotes nor gives a
// reason, unless a profile knows its source.
func ContestBench(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	return proceeding.ContestVague(r), nil
}

// maxFindings bounds a discovery; the strongest stay.
const maxFindings = 64

// discover reads the documents for what speaks for the labels: by the profile's signals where it has some, otherwise by the labels' own
// names. That a profile has none may only say that too few cases were there to learn any.
func discover(r *abi.NodeRequest) *abi.Discovery {
	if len(r.Case.Documents) == 0 {
		return &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{"the case has no documents to read"}}
	}
	if r.Profile != nil && len(r.Profile.Signals) > 0 {
		return readSignals(r.Case.Documents, r.Case.Labels, r.Profile)
	}
	return readNames(r.Case.Documents, r.Case.Labels)
}

// sighting is where a signal stands first, and how often it stands.
type sighting struct {
	document   int
	start, end int
	times      int
}

// readSignals looks for the profile's signals. A finding quotes the line of
// the first place; how often a phrase stands is told, and counts nothing more.
func readSignals(documents []abi.Document, labels []string, p *abi.Profile) *abi.Discovery {
	seen := make([]sighting, len(p.Signals))
	finder := odds.NewSignals(p)
	for d := range documents {
		finder.Scan(documents[d].Text, func(signal, start, end int) {
			s := &seen[signal]
			if s.times == 0 {
				*s = sighting{document: d, start: start, end: end}
			}
			s.times++
		})
	}
	favours := make([]int, len(p.Signals))
	for i := range favours {
		favours[i] = favoured(&p.Signals[i], labels)
	}
	lines := quotedLines(seen, documents, labels, p)
	found := make([]abi.Finding, 0, len(lines))
	var pulls []float64
	for i := range lines {
		if finding, pull := lines[i].finding(seen, favours, documents, labels, p); finding.Quote != "" && pull > 0 {
			found, pulls = append(found, finding), append(pulls, pull)
		}
	}
	return &abi.Discovery{Findings: strongest(found, pulls), Missing: missingSignals(labels, seen, favours)}
}

// quotedLine is a line in which signals stand first, with what they tell together.
type quotedLine struct {
	document int
	quote    string
	signals  []int
	nats     []float64
}

// quotedLines gathers the sightings by the lines that show them.
func quotedLines(seen []sighting, documents []abi.Document, labels []string, p *abi.Profile) []quotedLine {
	var lines []quotedLine
	for i := range seen {
		at := &seen[i]
		if at.times == 0 {
			continue
		}
		quote := text.QuoteAround(documents[at.document].Text, at.start, at.end)
		j := slices.IndexFunc(lines, func(l quotedLine) bool { return l.document == at.document && l.quote == quote })
		if j < 0 {
			j = len(lines)
			lines = append(lines, quotedLine{document: at.document, quote: quote, nats: make([]float64, len(labels))})
		}
		lines[j].signals = append(lines[j].signals, i)
		odds.AddSignal(lines[j].nats, labels, &p.Signals[i])
	}
	return lines
}

func (l *quotedLine) finding(seen []sighting, favours []int, documents []abi.Document, labels []string, p *abi.Profile) (abi.Finding, float64) {
	supports, strength, pull := reading(l.nats, labels)
	parts := make([]string, len(l.signals))
	for n, i := range l.signals {
		parts[n] = "\"" + p.Signals[i].Phrase + "\" (" + times(seen[i].times)
		if own := favours[i]; own >= 0 {
			parts[n] += ", for " + labels[own]
		}
		parts[n] += ")"
	}
	observation := "the signals " + strings.Join(parts, ", ") + " stand in one line"
	if first := l.signals[0]; len(l.signals) == 1 {
		observation = "the signal \"" + p.Signals[first].Phrase + "\" stands " + times(seen[first].times)
	}
	if supports == "" {
		observation += ", and tells no single label"
	}
	return abi.Finding{
		Document: documents[l.document].Name, Observation: observation, Quote: l.quote, Supports: supports, Strength: strength,
	}, pull
}

// favoured is the index of the label for which a signal speaks most; -1 where it speaks for several as much.
func favoured(s *abi.Signal, labels []string) int {
	heaviest, level := 0, false
	for i := range s.Weights {
		if x, most := s.Weights[i].Weight, s.Weights[heaviest].Weight; x > most {
			heaviest, level = i, false
		} else if i > 0 && x == most {
			level = true
		}
	}
	if !level && len(s.Weights) > 0 && s.Weights[heaviest].Weight > 0 {
		if j := slices.Index(labels, s.Weights[heaviest].Label); j >= 0 {
			return j
		}
	}
	// A label without a weight has 0, and a weight may be for a label that the case doesn't have.
	nats := make([]float64, len(labels))
	odds.AddSignal(nats, labels, s)
	most := slices.Max(nats)
	first := slices.Index(nats, most)
	if slices.Contains(nats[first+1:], most) {
		return -1
	}
	return first
}

// reading gives the label that a vector of nats favours over all others, how
// probable it alone would make that label, and how far it moves the labels apart.
func reading(nats []float64, labels []string) (supports string, strength, pull float64) {
	best, least := 0, 0
	for i := range nats {
		if nats[i] > nats[best] {
			best = i
		}
		if nats[i] < nats[least] {
			least = i
		}
	}
	pull = nats[best] - nats[least]
	sum, equals := 0.0, 0
	for i := range nats {
		sum += math.Exp(nats[i] - nats[best])
		if nats[i] == nats[best] {
			equals++
		}
	}
	if equals > 1 {
		return "", 1 / sum, pull
	}
	return labels[best], 1 / sum, pull
}

func strongest(found []abi.Finding, pulls []float64) []abi.Finding {
	if len(found) <= maxFindings {
		return found
	}
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(pulls[b], pulls[a]) })
	order = order[:maxFindings]
	slices.Sort(order)
	kept := make([]abi.Finding, 0, maxFindings)
	for _, i := range order {
		kept = append(kept, found[i])
	}
	return kept
}

// missingSignals names the labels that have signals of which none stands.
func missingSignals(labels []string, seen []sighting, favours []int) []string {
	all, stand := make([]int, len(labels)), make([]int, len(labels))
	for i, j := range favours {
		if j < 0 {
			continue
		}
		all[j]++
		if seen[i].times > 0 {
			stand[j]++
		}
	}
	missing := []string{}
	for j, label := range labels {
		if all[j] > 0 && stand[j] == 0 {
			missing = append(missing, "no document holds any of the "+text.Count(all[j], "signal")+" for "+label)
		}
	}
	return missing
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return text.Int(n) + " times"
}

// note keeps the notes of a round: which quotes stand, what was challenged, what is new. The bench argues for no side; it challenges only
// the items whose quote stands nowhere or that say nothing, where no side did.
func note(r *abi.NodeRequest) *abi.HearingTurn {
	before := proceeding.Challenges(r)
	void := func(t *weigh.Testimony) bool { return t.Quote == abi.QuoteAbsent || text.Blank(t.Content) }
	fresh := proceeding.Indicted(r).Object(before, void)
	return &abi.HearingTurn{
		Argument:      proceeding.Join(exhibits(r), challenged(append(before, fresh...)), round(r, fresh)),
		NewChallenges: fresh,
		NewItems:      []abi.IndictmentItem{},
	}
}

func exhibits(r *abi.NodeRequest) string {
	var stands, absent proceeding.Listing
	for i := range r.Exhibits {
		switch x := &r.Exhibits[i]; x.Quote {
		case abi.QuoteStands:
			stands.Cite(r.Indictment.Evidence, x.EvidenceIndex)
		case abi.QuoteAbsent:
			absent.Cite(r.Indictment.Evidence, x.EvidenceIndex)
		case abi.QuoteUnclaimed:
		}
	}
	return "Of " + text.Count(len(r.Indictment.Evidence), "item") + ": " +
		counted("in the documents", &stands) + ", " + counted("quoting what stands nowhere", &absent) + ", " +
		text.Int(max(0, len(r.Indictment.Evidence)-stands.Len-absent.Len)) + " without a quote."
}

func counted(what string, cited *proceeding.Listing) string {
	if cited.Len == 0 {
		return "0 " + what
	}
	return text.Int(cited.Len) + " " + what + " (" + cited.String() + ")"
}

func challenged(all []abi.Challenge) string {
	if len(all) == 0 {
		return "No challenges so far."
	}
	fatal, weakening, minor := 0, 0, 0
	for i := range all {
		switch all[i].Severity {
		case abi.Fatal:
			fatal++
		case abi.Weakening:
			weakening++
		case abi.Minor:
			minor++
		}
	}
	return "Challenges so far: " + text.Int(fatal) + " fatal, " + text.Int(weakening) + " weakening, " + text.Int(minor) + " minor."
}

func round(r *abi.NodeRequest, fresh []abi.Challenge) string {
	n := len(r.Turn.NewChallenges) + len(fresh)
	if n+len(r.Turn.NewItems) == 0 {
		return "Round " + text.Int(r.Turn.Round) + " brought nothing new."
	}
	var brought proceeding.Listing
	if n > 0 {
		brought.Add(text.Count(n, "challenge"))
	}
	if items := len(r.Turn.NewItems); items > 0 {
		brought.Add(text.Count(items, "item"))
	}
	return brought.Sentence("Round " + text.Int(r.Turn.Round) + " brought ")
}
