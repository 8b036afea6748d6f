package abi

// RecallResult (F0) says whether the casebook knows this failure.
type RecallResult struct {
	Match     bool   `abi:"match"`
	PriorCase string `abi:"prior_case,opt"`
	// Classification of the prior case, if it has one among the labels.
	Classification string  `abi:"classification,opt"`
	Confidence     float64 `abi:"confidence,min=0,max=1"`
	Reasoning      string  `abi:"reasoning"`
	IsRegression   bool    `abi:"is_regression"`
	// Confirmed: the prior case's classification is known to be right. Else it is what a machine decided.
	Confirmed bool `abi:"confirmed"`
}

// TriageResult (F1) sorts the symptom.
type TriageResult struct {
	SymptomCategory          SymptomCategory `abi:"symptom_category"`
	Severity                 GapSeverity     `abi:"severity"`
	ClassificationHypothesis string          `abi:"classification_hypothesis,opt"`
	Candidates               []string        `abi:"candidates,max=256"`
	SkipInvestigation        bool            `abi:"skip_investigation"`
	ClockSkewSuspected       bool            `abi:"clock_skew_suspected"`
	CascadeSuspected         bool            `abi:"cascade_suspected"`
}

// SelectedComponent is a place that investigation should look at.
type SelectedComponent struct {
	Name       string   `abi:"name,nonempty"`
	FocusPaths []string `abi:"focus_paths,max=256"`
	Reason     string   `abi:"reason"`
}

// ResolveResult (F2) selects the components to investigate.
type ResolveResult struct {
	Selected []SelectedComponent `abi:"selected,max=256"`
}

// InvestigateArtifact (F3) is what the investigation found.
type InvestigateArtifact struct {
	Summary          string     `abi:"summary"`
	Classification   string     `abi:"classification,opt"`
	Component        string     `abi:"component,opt"`
	ConvergenceScore float64    `abi:"convergence_score,min=0,max=1"`
	Evidence         []Evidence `abi:"evidence,max=4096"`
}

// CorrelateResult (F4) says whether the failure repeats an earlier case.
type CorrelateResult struct {
	IsDuplicate bool   `abi:"is_duplicate"`
	LinkedCase  string `abi:"linked_case,opt"`
	// Classification of the linked case, if it has one among the labels.
	Classification string  `abi:"classification,opt"`
	Confidence     float64 `abi:"confidence,min=0,max=1"`
	Reasoning      string  `abi:"reasoning"`
	// Confirmed: the linked case's classification is known to be right. Else it is what a machine decided.
	Confirmed bool `abi:"confirmed"`
}

// ReviewDecision (F5) approves Light's conclusion, or does not.
type ReviewDecision struct {
	Decision   ReviewOutcome `abi:"decision"`
	LoopTarget string        `abi:"loop_target,opt"`
	Confidence float64       `abi:"confidence,min=0,max=1"`
}

// LightReport (F6) closes the Light path.
type LightReport struct {
	Classification string  `abi:"classification,nonempty"`
	Confidence     float64 `abi:"confidence,min=0,max=1"`
	Component      string  `abi:"component,opt"`
	Summary        string  `abi:"summary"`
	// Remand answers the court's feedback, and is there only when the case came back from it.
	Remand *RemandAnswer `abi:"remand"`
}
