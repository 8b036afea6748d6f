package court

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// maxGaps bounds a brief: what comes after the first few helps nobody.
const maxGaps = 12

// gapBrief says what evidence would settle the case. There is always at least
// one gap.
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
	slices.SortStableFunc(g.list, func(a, b abi.CourtEvidenceGap) int { return gapRank(a.Severity) - gapRank(b.Severity) })
	list := g.list[:min(len(g.list), maxGaps)]
	return &abi.EvidenceGapBrief{
		CaseID: t.subject.ID, Cause: cause, FinalConfidence: t.result.Final.Confidence, Gaps: list, Summary: t.gapSummary(cause, list),
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

// challengeGaps: what was struck out must be replaced, and what a remand asked
// for is still open.
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

// discoveryGaps: what the bench looked for in vain. What it says of a label that
// has a gap of its own says nothing more.
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
