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

// Failure is how a module says that it cannot answer. It ends the trial as a
// mistrial that carries Code and Message.
type Failure struct {
	Code    string `abi:"code,nonempty"`
	Message string `abi:"message"`
}
