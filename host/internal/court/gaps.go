package court

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// maxGaps bounds a brief: what comes after the first few helps nobody.
const maxGaps = 12

// gapBrief says what evidence would settle the case. There is always at least
// one gap.
func (t *trial) gapBrief(cause string) *abi.EvidenceGapBrief {
	g := &gaps{}
	t.limitGap(g, cause)
	t.challengeGaps(g)
	t.discoveryGaps(g)
	t.labelGap(g)
	slices.SortStableFunc(g.list, func(a, b abi.CourtEvidenceGap) int { return gapRank(a.Severity) - gapRank(b.Severity) })
	list := g.list[:min(len(g.list), maxGaps)]
	return &abi.EvidenceGapBrief{
		CaseID: t.subject.ID, Cause: cause, FinalConfidence: t.out.Confidence, Gaps: list, Summary: gapSummary(cause, list),
	}
}

// gapRank puts what is needed most first.
func gapRank(s abi.GapSeverity) int {
	switch s {
	case abi.GapHigh:
		return 0
	case abi.GapMedium:
		return 1
	case abi.GapLow:
		return 2
	default:
		return 3
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
func (t *trial) limitGap(g *gaps, cause string) {
	phase := t.phase()
	switch f := t.out.Failure; {
	case f != nil:
		g.add(phase, abi.GapHigh, f.Module, "the trial broke at "+f.Node+": "+f.Message, "mend or replace the module and try the case again")
	case cause == string(CauseTTL):
		g.add(phase, abi.GapHigh, "court", "the trial's time was over before a verdict", "try the case again with a longer ttl, or find the slow module")
	case cause == string(CauseHandoffs):
		g.add(phase, abi.GapHigh, "court", "the trial's handoffs were used up before a verdict", "try the case again with more handoffs or fewer rounds")
	case cause == string(CauseRemands):
		g.add(phase, abi.GapHigh, "court", "the judge asked for a reinvestigation and none was left", "answer the questions of the last remand")
	}
}

// challengeGaps: what was struck out must be replaced, and what a remand asked
// for is still open.
func (t *trial) challengeGaps(g *gaps) {
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
			"find an item of another source that says the same, or withdraw it")
	}
	if v := t.pass.Verdict; v != nil && v.RemandFeedback != nil {
		for _, q := range v.RemandFeedback.Questions {
			g.add(abi.FamilyVerdict, abi.GapHigh, "remand", q.Question, "answer the question from the case's raw data")
		}
	}
}

func (t *trial) discoveryGaps(g *gaps) {
	if t.pass == nil || t.pass.Discovery == nil {
		return
	}
	for _, missing := range t.pass.Discovery.Missing {
		g.add(abi.FamilyDiscover, abi.GapMedium, "documents", missing, "add a document that holds it")
	}
}

// labelGap: what would tell the charge from its rivals.
func (t *trial) labelGap(g *gaps) {
	light := t.current()
	if light.Classification == "" {
		return // Light failed, which is the gap
	}
	speaking := make(map[string]bool)
	for i := range t.evidence {
		if s := t.evidence[i].Supports; s != "" {
			speaking[s] = true
		}
	}
	if len(t.evidence) == 0 {
		g.add(abi.FamilyIndict, abi.GapHigh, "evidence", "the case has no evidence besides Light's own word", "add witnesses or excerpts that speak for a label")
	}
	if !speaking[light.Classification] {
		g.add(abi.FamilyIndict, abi.GapHigh, "evidence", "no item speaks for "+light.Classification,
			"add an item that speaks for "+light.Classification+", or one that rules it out")
	}
	if len(t.subject.Documents) == 0 {
		g.add(abi.FamilyDiscover, abi.GapMedium, "documents", "the case has no raw document", "add the log that the classification was made from")
	}
	var rivals []string
	for _, l := range t.subject.Labels {
		if l != light.Classification && speaking[l] {
			rivals = append(rivals, l)
		}
	}
	if len(rivals) > 0 || len(g.list) == 0 {
		if len(rivals) == 0 {
			rivals = []string{"the other labels"}
		}
		g.add(abi.FamilyVerdict, abi.GapMedium, "evidence", "nothing tells "+light.Classification+" from "+strings.Join(rivals, ", ")+" clearly enough",
			"add an item that one of them explains and the others do not")
	}
}

// phase is where the trial was when it ended.
func (t *trial) phase() abi.Family {
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

func gapSummary(cause string, list []abi.CourtEvidenceGap) string {
	high := 0
	for i := range list {
		if list[i].Severity == abi.GapHigh {
			high++
		}
	}
	s := strconv.Itoa(len(list)) + " gaps"
	if len(list) == 1 {
		s = "1 gap"
	}
	return cause + ": " + s + ", " + strconv.Itoa(high) + " of them high; first: " + list[0].Description
}
