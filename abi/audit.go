package abi

// JudicialOpinion is a text under audit.
type JudicialOpinion struct {
	Text      string            `abi:"text,nonempty"`
	CaseID    string            `abi:"case_id,default=Unknown"`
	CourtName string            `abi:"court_name,default=Unknown"`
	Metadata  map[string]string `abi:"metadata,opt,max=64"`
}

// CriterionOpinion is what one judge says of one criterion.
type CriterionOpinion struct {
	Judge        string `abi:"judge,nonempty"`
	CriterionID  string `abi:"criterion_id,nonempty"`
	NumericScore int    `abi:"numeric_score,min=1,max=5"`
	Argument     string `abi:"argument"`
	// CitedEvidence holds source_refs of the evidence that the judge relies on.
	CitedEvidence          []string `abi:"cited_evidence"`
	RelevanceConfidence    float64  `abi:"relevance_confidence,min=0,max=1"`
	SecurityViolationFound bool     `abi:"security_violation_found"`
}

// CriterionResult is the synthesis of the judges' opinions on one criterion.
type CriterionResult struct {
	CriterionID            string  `abi:"criterion_id,nonempty"`
	Category               string  `abi:"category,opt"`
	NumericScore           int     `abi:"numeric_score,min=1,max=5"`
	Reasoning              string  `abi:"reasoning"`
	RelevanceConfidence    float64 `abi:"relevance_confidence,min=0,max=1"`
	SecurityViolationFound bool    `abi:"security_violation_found"`
}

// AuditReport is the last artifact of an audit. GlobalScore is derived from
// the results: one decimal, 0.0 when there are none.
type AuditReport struct {
	Results     []CriterionResult `abi:"results"`
	Summary     string            `abi:"summary"`
	GlobalScore float64           `abi:"global_score,min=0,max=5"`
}
