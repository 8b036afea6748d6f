package abi

import "strconv"

// CasebookSource is the source of what earlier cases say: "casebook:ID". The host writes these items, and nobody else.
const CasebookSource = "casebook"

// RuleSource begins the source of what the rules of the user match: "rule/NAME:log:L12". The host writes these items, and nobody else.
const RuleSource = "rule/"

// IsReserved says whether a source_ref, or a document that would be the source of its quotes, bears a name of the host's own. It does without
// package strings, which every module would then carry.
func IsReserved(ref string) bool {
	const n = len(CasebookSource)
	return len(ref) >= n && ref[:n] == CasebookSource && (len(ref) == n || ref[n] == ':' || ref[n] == '#') ||
		len(ref) >= len(RuleSource) && ref[:len(RuleSource)] == RuleSource
}

// CheckSubmitted checks that nothing in a case that somebody submits bears a name that is the host's own.
func CheckSubmitted(v *Case, c *Collector) {
	CheckSources(v.Evidence, c)
	for i := range v.Documents {
		if name := v.Documents[i].Name; IsReserved(name) && c.Sound(Field("documents"), Index(i), Field("name")) {
			c.Add(CodeIdentity, reserved(name), Field("documents"), Index(i), Field("name"))
		}
	}
}

// CheckSources checks that no item of a list named evidence bears a name that is the host's own.
func CheckSources(items []Evidence, c *Collector) {
	for i := range items {
		if ref := items[i].SourceRef; IsReserved(ref) && c.Sound(Field("evidence"), Index(i), Field("source_ref")) {
			c.Add(CodeIdentity, reserved(ref), Field("evidence"), Index(i), Field("source_ref"))
		}
	}
}

func reserved(name string) string {
	own := strconv.Quote(CasebookSource) + " is the host's own name, for earlier cases"
	if name[0] == RuleSource[0] {
		own = strconv.Quote(RuleSource) + " begins names of the host's own, for the rules of --rules"
	}
	return "is " + strconv.Quote(name) + ", and " + own + ": use another name, or leave it out"
}
