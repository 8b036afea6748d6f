package court

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// maxGaps bounds a brief: what comes after the first few helps nobody.
const maxGaps = 12

// gapRank puts what is needed most first.
var gapRank = map[abi.GapSeverity]int{abi.GapHigh: 3, abi.GapMedium: 2, abi.GapLow: 1}

// gapBrief says what evidence would settle the case. There is always at least one gap.
func (t *Trial) gapBrief(cause string) *abi.EvidenceGapBrief {
	g := &gaps{}
	t.limitGap(g, cause)
	t.challengeGaps(g)
	named := t.labelGaps(g)
	t.kindGaps(g)
	t.discoveryGaps(g, named)
	if len(g.list) == 0 {
		g.add(t.phase(), abi.GapMedium, "evidence", "nothing tells the labels apart clearly enough", tellApart)
	}
	slices.SortStableFunc(g.list, func(a, b abi.CourtEvidenceGap) int { return gapRank[b.Severity] - gapRank[a.Severity] })
	list := g.list[:min(len(g.list), maxGaps)]
	return &abi.EvidenceGapBrief{
		CaseID: t.subject.ID, Cause: cause, FinalConfidence: t.result.Final.Confidence, Gaps: list, Summary: t.gapSummary(cause, list),
	}
}

type gaps struct{ list []abi.CourtEvidenceGap }

func (g *gaps) add(phase abi.Family, severity abi.GapSeverity, source, description, action string) {
	for i := range g.list {
		if g.list[i].Description == description {
			return
		}
	}
	g.list = append(g.list, abi.CourtEvidenceGap{
		Description: description, Source: source, Severity: severity, SuggestedAction: action, CourtPhase: phase,
	})
}

// limitGap: a trial that was cut short has no finding, whatever the evidence.
func (t *Trial) limitGap(g *gaps, cause string) {
	phase := t.phase()
	switch f := t.result.Error; {
	case f != nil:
		g.failure(phase, f)
	case cause == string(trial.CauseTTL):
		g.add(phase, abi.GapHigh, "court", "the trial's time was over before a verdict", "try the case again with a longer ttl, or find the slow module")
	case cause == string(trial.CauseHandoffs):
		g.add(phase, abi.GapHigh, "court", "the trial's handoffs were used up before a verdict", "try the case again with more handoffs or fewer rounds")
	case cause == string(trial.CauseRemandsExhausted):
		g.add(phase, abi.GapHigh, "court", "the judge asked for a reinvestigation and none was left", "answer the questions of the last remand")
	}
}

// failure says what broke, and what to mend: a module, the pipeline, or what answers for Light outside of it.
func (g *gaps) failure(phase abi.Family, f *trial.Failure) {
	what := "the trial broke at " + f.Node
	var mend string
	switch f.Code {
	case trial.CauseLight:
		what, mend = "Light gave no usable answer", "mend what answers for Light"
	case trial.CauseGraph, trial.CauseNoEdge:
		mend = "mend the pipeline"
	default:
		mend = "mend or replace the module"
	}
	g.add(phase, abi.GapHigh, f.ModuleName, what+": "+f.Detail, mend+" and try the case again")
}

// challengeGaps: what was struck out must be replaced, and what a remand asked for is still open.
func (t *Trial) challengeGaps(g *gaps) {
	if t.pass == nil || t.pass.Indictment == nil {
		return
	}
	challenges := t.pass.Contested
	if t.pass.Brief != nil {
		challenges = t.pass.Brief.Challenges
	}
	for _, ch := range challenges {
		if ch.Severity == abi.Minor || ch.EvidenceIndex >= len(t.pass.Indictment.Evidence) {
			continue
		}
		source := t.pass.Indictment.Evidence[ch.EvidenceIndex].SourceRef
		severity := abi.GapMedium
		if ch.Severity == abi.Fatal {
			severity = abi.GapHigh
		}
		g.add(abi.FamilyDefend, severity, source, "item "+strconv.Itoa(ch.EvidenceIndex)+" did not hold: "+ch.Challenge,
			"show the same by another source, or leave it out")
	}
	if v := t.pass.Verdict; v != nil && v.RemandFeedback != nil {
		for _, q := range v.RemandFeedback.Questions {
			g.add(abi.FamilyVerdict, abi.GapHigh, "remand", q.Question, "answer the question from the case's raw data")
		}
	}
}

// discoveryGaps: what the bench looked for in vain. What it says of a label that has a gap of its own says nothing more.
func (t *Trial) discoveryGaps(g *gaps, named []string) {
	if t.pass == nil || t.pass.Discovery == nil {
		return
	}
	for _, missing := range t.pass.Discovery.Missing {
		if !slices.ContainsFunc(strings.Fields(missing), func(word string) bool { return slices.Contains(named, word) }) {
			g.add(abi.FamilyDiscover, abi.GapLow, "documents", missing, "look for it in the case's raw data")
		}
	}
}

// phase is where the trial was when it ended.
func (t *Trial) phase() abi.Family {
	if t.pass == nil {
		return ""
	}
	switch {
	case t.pass.Verdict != nil:
		return abi.FamilyVerdict
	case t.pass.Hearing != nil:
		return abi.FamilyHearing
	case t.pass.Brief != nil:
		return abi.FamilyDefend
	case t.pass.Discovery != nil:
		return abi.FamilyDiscover
	default:
		return abi.FamilyIndict
	}
}

// maxOpenLabels is how many labels a brief asks to be told apart.
const maxOpenLabels = 4

// tellApart is what to do about labels of which the pipeline knows nothing.
const tellApart = "add evidence that one of them explains and the others do not"

// openLabels are the labels between which the case is open: Light's, and those that another item, or the defense, speaks for. Where nothing
// speaks for any label they all are, Light's first.
func (t *Trial) openLabels() (labels []string, spoken bool) {
	speaking := make(map[string]bool)
	for _, items := range [][]abi.Evidence{t.subject.Evidence, t.gathered} {
		for i := range items {
			speaking[items[i].Supports] = true
		}
	}
	if t.pass != nil && t.pass.Brief != nil && t.pass.Brief.AlternativeHypothesis != nil {
		speaking[t.pass.Brief.AlternativeHypothesis.Label] = true
	}
	spoken = slices.ContainsFunc(t.subject.Labels, func(l string) bool { return speaking[l] })
	charge := t.current().Classification
	labels = []string{charge}
	for _, l := range t.subject.Labels {
		if l != charge && (speaking[l] || !spoken) {
			labels = append(labels, l)
		}
	}
	return labels[:min(len(labels), maxOpenLabels)], spoken
}

// labelGaps: what would show each of the labels between which the case is open. It gives these labels.
func (t *Trial) labelGaps(g *gaps) []string {
	if t.current().Classification == "" {
		return nil // Light failed, which is the gap
	}
	labels, _ := t.openLabels()
	if len(t.subject.Evidence) == 0 && len(t.gathered) == 0 {
		g.add(abi.FamilyIndict, abi.GapHigh, "evidence", "the case has no evidence besides Light's own word",
			"add what was observed, or what a witness says about the cause")
	}
	if len(t.subject.Documents) == 0 {
		g.add(abi.FamilyDiscover, abi.GapMedium, "documents", "the case has no raw document", "add the document that the classification was made from")
	}
	known := false
	for i, l := range labels {
		if proof := t.court.label(l).Proof; proof != (pipeline.Proof{}) {
			known = true
			severity := abi.GapMedium
			if i == 0 {
				severity = abi.GapHigh
			}
			g.add(abi.FamilyVerdict, severity, l, proof.Evidence+" would show "+t.court.named(l), proof.Action)
		}
	}
	if !known {
		g.add(abi.FamilyVerdict, abi.GapMedium, "evidence", "nothing tells "+t.names(labels)+" apart clearly enough", tellApart)
	}
	return labels
}

// kindGaps: the kinds of evidence of which nothing speaks for a label, and which were not given, either: a diff that speaks for none is
// there. The pipeline's words for them are those of its labels' field: a case of other labels is told none.
func (t *Trial) kindGaps(g *gaps) {
	known := t.court.graph.Definition().Labels
	if len(known) > 0 && !slices.ContainsFunc(known, func(l pipeline.Label) bool { return slices.Contains(t.subject.Labels, l.ID) }) {
		return
	}
	have := make(map[abi.Element]bool)
	for _, element := range t.answeredElements() {
		have[element] = true
	}
	if slices.ContainsFunc(t.subject.Documents, func(d abi.Document) bool { return earlierRun.MatchString(d.Name) }) {
		have[abi.Air] = true
	}
	for _, items := range [][]abi.Evidence{t.subject.Evidence, t.gathered} {
		for i := range items {
			if items[i].Supports != "" {
				have[cmp.Or(items[i].Element, abi.Earth)] = true
			}
		}
	}
	for _, k := range t.court.graph.Definition().Kinds {
		if !have[k.Element] {
			g.add(abi.FamilyDiscover, abi.GapMedium, string(k.Element), "nothing in the case speaks of "+k.Proof.Evidence, k.Proof.Action)
		}
	}
}

// earlierRun is what a document of another run is called.
var earlierRun = regexp.MustCompile(`(?i)\b(green|earlier|previous|passed)\b`)

// gapSummary says in a sentence or two why the case is open.
func (t *Trial) gapSummary(cause string, list []abi.CourtEvidenceGap) string {
	light := t.current()
	switch {
	case cause == string(trial.Rejected):
		s := "Light says " + t.court.named(light.Classification) + " at only " + below(light.Confidence, t.court.limits.RejectionThreshold) +
			", and a trial needs " + exact(t.court.limits.RejectionThreshold) + "."
		if light.Reasoning != "" {
			s += " Its reason: " + light.Reasoning
		}
		return s
	case cause != causeAcquitted:
		return cause + ": " + list[0].Description + "."
	}
	labels, spoken := t.openLabels()
	nearest := " The nearest label came to " + trial.Number(t.result.Final.Confidence) + "."
	switch {
	case !spoken:
		return "Nothing in the case speaks for any label." + nearest
	case len(labels) == 1:
		return "Too little speaks for " + t.names(labels) + "." + nearest
	}
	return "The evidence does not tell " + t.names(labels) + " apart." + nearest
}

// below shows a number with two digits, or with all that it has where the two would reach the bound.
func below(v, bound float64) string {
	s := trial.Number(v)
	if shown, err := strconv.ParseFloat(s, 64); err == nil && shown < bound {
		return s
	}
	return exact(v)
}

func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// causeAcquitted is the cause of a brief that comes with an acquittal.
const causeAcquitted = "acquitted"

// label is what the pipeline tells of a label.
func (c *Court) label(id string) pipeline.Label { return c.graph.Definition().Label(id) }

// named is a label with its name, if it has one.
func (c *Court) named(id string) string {
	if name := c.label(id).Name; name != "" {
		return id + " (" + name + ")"
	}
	return id
}

func (t *Trial) names(labels []string) string {
	list := make([]string, len(labels))
	for i, l := range labels {
		list[i] = t.court.named(l)
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}
