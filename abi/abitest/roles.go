package abitest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Roles is what a module is asked for.
type Roles struct {
	Families []abi.Family
	Contest  bool
	// Edges names evaluators, Criteria what it can judge.
	Edges, Criteria []string
	// Capabilities that it has.
	Capabilities []abi.Capability
	// Prepares: it has the export shadowcourt_prepare.
	Prepares bool
}

// RolesOf gives what a manifest promises.
func RolesOf(m *abi.Manifest) Roles {
	r := Roles{Contest: slices.Contains(m.Calls, abi.CallContest), Capabilities: m.Capabilities}
	if slices.Contains(m.Calls, abi.CallNode) {
		r.Families = m.Families
	}
	if slices.Contains(m.Calls, abi.CallEdges) {
		r.Edges = m.Edges
	}
	if slices.Contains(m.Calls, abi.CallJudge) {
		r.Criteria = m.Criteria
	}
	return r
}

// ServedFamilies are the families of nodes that a module can play.
func ServedFamilies() []abi.Family {
	return []abi.Family{
		abi.FamilyIndict, abi.FamilyDiscover, abi.FamilyDefend, abi.FamilyHearing, abi.FamilyVerdict,
		abi.FamilyRecall, abi.FamilyTriage, abi.FamilyResolve, abi.FamilyInvestigate,
		abi.FamilyCorrelate, abi.FamilyReview, abi.FamilyReport, abi.FamilyCollect,
	}
}

// ParseRoles reads roles as a command line names them: a family, `contest`,
// `edge:RULE` or `criterion:ID`. The error names all that are none.
func ParseRoles(names []string) (Roles, error) {
	var r Roles
	var faults []error
	for _, name := range names {
		rule, isEdge := strings.CutPrefix(name, "edge:")
		criterion, isCriterion := strings.CutPrefix(name, "criterion:")
		switch {
		case name == string(abi.CallContest):
			r.Contest = true
		case isEdge && rule != "":
			r.Edges = append(r.Edges, rule)
		case isCriterion && criterion != "":
			r.Criteria = append(r.Criteria, criterion)
		case slices.Contains(ServedFamilies(), abi.Family(name)):
			r.Families = append(r.Families, abi.Family(name))
		default:
			faults = append(faults, fmt.Errorf("role %q: use a family (%s), contest, edge:RULE or criterion:ID", name, familyNames()))
		}
	}
	return r, errors.Join(faults...)
}

func familyNames() string {
	var names []string
	for _, f := range ServedFamilies() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// Manifest gives a manifest that promises the roles.
func (r *Roles) Manifest() *abi.Manifest {
	m := &abi.Manifest{
		Name: "unnamed", Version: "0", ABI: abi.Version,
		Families: r.Families, Edges: r.Edges, Criteria: r.Criteria, Capabilities: r.Capabilities,
	}
	if len(r.Families) > 0 {
		m.Calls = append(m.Calls, abi.CallNode)
	}
	if r.Contest {
		m.Calls = append(m.Calls, abi.CallContest)
	}
	if len(r.Edges) > 0 {
		m.Calls = append(m.Calls, abi.CallEdges)
	}
	if len(r.Criteria) > 0 {
		m.Calls = append(m.Calls, abi.CallJudge)
	}
	return m
}

// Names gives the roles as ParseRoles reads them.
func (r *Roles) Names() []string {
	names := []string{}
	for _, f := range r.Families {
		names = append(names, string(f))
	}
	if r.Contest {
		names = append(names, string(abi.CallContest))
	}
	for _, e := range r.Edges {
		names = append(names, "edge:"+e)
	}
	for _, c := range r.Criteria {
		names = append(names, "criterion:"+c)
	}
	return names
}
