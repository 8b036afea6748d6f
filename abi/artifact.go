package abi

// Artifact holds exactly one artifact of a node.
type Artifact struct {
	Indictment   *Indictment    `abi:"indictment"`
	Discovery    *Discovery     `abi:"discovery"`
	DefenseBrief *DefenseBrief  `abi:"defense_brief"`
	HearingTurn  *HearingTurn   `abi:"hearing_turn"`
	Hearing      *HearingRecord `abi:"hearing"`
	Verdict      *Verdict       `abi:"verdict"`

	Recall      *RecallResult        `abi:"recall"`
	Triage      *TriageResult        `abi:"triage"`
	Resolve     *ResolveResult       `abi:"resolve"`
	Investigate *InvestigateArtifact `abi:"investigate"`
	Correlate   *CorrelateResult     `abi:"correlate"`
	Review      *ReviewDecision      `abi:"review"`
	Report      *LightReport         `abi:"report"`
}

// Family is the family of the nodes that give such an artifact, the Light path's named as their fields; empty for a hearing record.
func (v *Artifact) Family() Family {
	switch {
	case v.Indictment != nil:
		return FamilyIndict
	case v.Discovery != nil:
		return FamilyDiscover
	case v.DefenseBrief != nil:
		return FamilyDefend
	case v.HearingTurn != nil:
		return FamilyHearing
	case v.Verdict != nil:
		return FamilyVerdict
	case v.Recall != nil:
		return FamilyRecall
	case v.Triage != nil:
		return FamilyTriage
	case v.Resolve != nil:
		return FamilyResolve
	case v.Investigate != nil:
		return FamilyInvestigate
	case v.Correlate != nil:
		return FamilyCorrelate
	case v.Review != nil:
		return FamilyReview
	case v.Report != nil:
		return FamilyReport
	}
	return ""
}

// Failure is how a module says that it cannot answer. It ends the trial as a mistrial that carries Code and Message.
type Failure struct {
	Code    string `abi:"code,nonempty"`
	Message string `abi:"message"`
}
