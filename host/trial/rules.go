package trial

import "strings"

// Rules are the rules of the user that a case was tried with, and what they matched.
type Rules struct {
	// File is the name of the file without its folder, Digest its SHA-256: "sha256:" and 64 hex digits.
	File    string      `json:"file"`
	Digest  string      `json:"digest"`
	Matches []RuleMatch `json:"matches"`
	// Error says why the rules could not be evaluated; nil where they were. The case was then tried without them.
	Error *Failure `json:"error"`
}

// RuleMatch is a rule that matched. SourceRef and Content are those of the item of evidence.
type RuleMatch struct {
	Rule       string  `json:"rule"`
	Label      string  `json:"label"`
	Reason     string  `json:"reason"`
	Owner      string  `json:"owner,omitempty"`
	Confidence float64 `json:"confidence"`
	SourceRef  string  `json:"source_ref"`
	Content    string  `json:"content"`
}

// Says tells people of a match: "rule registry-timeout of rules.yaml: the registry times out (owner @infra)".
func (r *Rules) Says(m *RuleMatch) string {
	text := "rule " + m.Rule + " of " + r.File + ": " + strings.TrimSuffix(m.Reason, ".")
	if m.Owner != "" {
		text += " (owner " + m.Owner + ")"
	}
	return text
}
