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
	CitedEvidence          []string `abi:"cited_evidence,max=256"`
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

// SecurityCap is what a result with a security violation counts at most.
const SecurityCap = 3

// Counted is what a result counts in the global score.
func (r *CriterionResult) Counted() int {
	if r.SecurityViolationFound {
		return min(r.NumericScore, SecurityCap)
	}
	return r.NumericScore
}

// AuditReport is the last artifact of an audit, with one result for each criterion. GlobalScore is derived from the results: their weighted
// mean, rounded half up to one decimal, 0.0 when there are none.
type AuditReport struct {
	Results     []CriterionResult `abi:"results"`
	Summary     string            `abi:"summary"`
	GlobalScore float64           `abi:"global_score,min=0,max=5"`
}
