// Package abitest checks that modules keep the contract.
//
// RunModule is the conformance kit: it checks a module, in whatever language it is written, against SPEC.md. It makes the requests (plain,
// random, as large as they come, changed, malformed) and judges what comes back, and names the clause that each failure breaks. It runs
// nothing itself: who has a sandbox hands it a Subjects. Package host/conformance does so with the host's, checks the loading too, and has
// the function that a test of a module calls. Codecs are checked by package abi/testkit/vectors.
package abitest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// CheckID names something that the kit holds a module to. IDs are stable: programs may rely on them.
type CheckID string

// The checks, in the order of the report.
const (
	CheckModule       CheckID = "module"
	CheckSizes        CheckID = "sizes"
	CheckExports      CheckID = "exports"
	CheckReactor      CheckID = "reactor"
	CheckImports      CheckID = "imports"
	CheckCapabilities CheckID = "capabilities"

	CheckManifest CheckID = "manifest"
	CheckVersion  CheckID = "version"
	CheckCalls    CheckID = "calls"

	CheckReturns   CheckID = "returns"
	CheckStays     CheckID = "stays"
	CheckAllocator CheckID = "allocator"
	CheckBounds    CheckID = "bounds"
	CheckBudget    CheckID = "budget"
	CheckOutput    CheckID = "output_size"
	CheckTime      CheckID = "wall_clock"
	CheckQuestions CheckID = "questions"
	CheckOptional  CheckID = "optional_fields"

	CheckMessage    CheckID = "message"
	CheckEncoding   CheckID = "encoding"
	CheckConsistent CheckID = "consistent"
	CheckArtifact   CheckID = "artifact"
	CheckOffers     CheckID = "not_offered"
	CheckModels     CheckID = "models"
	CheckOutcomes   CheckID = "completions"
	CheckIndict     CheckID = "indict"
	CheckDiscover   CheckID = "discover"
	CheckContest    CheckID = "contest"
	CheckDefend     CheckID = "defend"
	CheckHearing    CheckID = "hearing"
	CheckVerdict    CheckID = "verdict"
	CheckIdentity   CheckID = "identity"
	CheckEdges      CheckID = "edges"
	CheckJudge      CheckID = "judge"
	CheckLight      CheckID = "light"

	CheckNodeName CheckID = "node_name"
	CheckAny      CheckID = "any_edges"
	CheckUnknown  CheckID = "unknown_rule"
	CheckParams   CheckID = "unknown_params"

	CheckMalformed CheckID = "malformed"
	CheckAfter     CheckID = "usable_after"

	CheckBytes  CheckID = "same_bytes"
	CheckFuel   CheckID = "same_fuel"
	CheckMemory CheckID = "remembers_nothing"

	CheckPrepared CheckID = "prepared"
)

// Rule is a check as the catalogue describes it.
type Rule struct {
	ID CheckID `json:"id"`
	// Clause of abi/SPEC.md that a failure breaks, such as "§2.7".
	Clause string `json:"clause"`
	Group  string `json:"group"`
	// Title says what holds of a module that passes.
	Title string `json:"title"`

	applies func(*Roles) bool // nil: always
}

// Catalogue gives all checks, in the order of the report.
func Catalogue() []Rule {
	const (
		load     = "Loading"
		manifest = "Manifest"
		calls    = "Calls"
		answers  = "Answers"
		meaning  = "Requests mean what they say"
		broken   = "Malformed requests"
		same     = "Same request, same response"
	)
	return []Rule{
		{CheckModule, "§1.1", load, "is a valid WebAssembly module", nil},
		{CheckSizes, "§5.1", load, "file, memory and tables are within the limits; it compiles in time", nil},
		{CheckExports, "§2.1", load, "exports what is required, with the right signatures", nil},
		{CheckReactor, "§2.3", load, "is a reactor, and starts", nil},
		{CheckImports, "§2.10", load, "imports nothing but stand-ins and capabilities", nil},
		{CheckCapabilities, "§2.12", load, "imports only capabilities that its manifest asks for", nil},

		{CheckManifest, "§1.4", manifest, "has a manifest that is valid, canonical and granted", nil},
		{CheckVersion, "§6.2", manifest, "is built for a version of the contract that this host speaks", nil},
		{CheckCalls, "§2.2", manifest, "exports a function for exactly the calls that it promises", nil},

		{CheckReturns, "§2.16", calls, "returns: nothing traps", nil},
		{CheckStays, "§2.11", calls, "calls no function that ends the call", nil},
		{CheckAllocator, "§2.7", calls, "allocates every request", nil},
		{CheckBounds, "§2.8", calls, "responses lie within memory", nil},
		{CheckBudget, "§5.2", calls, "keeps to its fuel, memory and stack", nil},
		{CheckOutput, "§5.1", calls, "responses are not too large", nil},
		{CheckTime, "§5.1", calls, "answers in time", nil},
		{CheckQuestions, "§2.12", calls, "asks the host what may be asked", asks},
		{CheckOptional, "§3.12", calls, "is ready for optional fields to be absent and lists to be empty", nil},

		{CheckMessage, "§2.9", answers, "every response is a message", nil},
		{CheckEncoding, "§3.7", answers, "responses pass a strict decoder", nil},
		{CheckConsistent, "§9.1", answers, "no response contradicts itself", nil},
		{CheckArtifact, "§4.2", answers, "gives the artifact of the family", anyFamily},
		{CheckOffers, "§2.12", answers, "asks for no experiment but those that were offered", anyFamily},
		{CheckModels, "§2.12", answers, "asks no model but those that were offered, for no more tokens, and ends when none is offered", anyFamily},
		{CheckOutcomes, "§2.12", answers, "is ready for whatever a completion comes to", mayAsk},
		{CheckIndict, "§4.3", answers, "an indictment charges with Light's classification and repeats items of the case", family(abi.FamilyIndict)},
		{CheckDiscover, "§4.4", answers, "findings quote the documents, and support labels of the case", family(abi.FamilyDiscover, abi.FamilyCollect)},
		{CheckContest, "§4.5", answers, "challenges are of the items that were put", func(r *Roles) bool { return r.Contest }},
		{CheckDefend, "§4.6", answers, "a brief points into the indictment, and names another label than the charge", family(abi.FamilyDefend)},
		{CheckHearing, "§4.7", answers, "turns point into the indictment; new items stand in the case", family(abi.FamilyHearing)},
		{CheckVerdict, "§4.8", answers, "a verdict keeps the charge or names another label", family(abi.FamilyVerdict)},
		{CheckIdentity, "§4.11", answers, "speaks for nobody else", speaks},
		{CheckEdges, "§4.12", answers, "answers every question once, in order", edges},
		{CheckJudge, "§4.16", answers, "gives an opinion on every criterion, in order, citing what is there", judges},
		{CheckLight, "§9.2", answers, "names labels of the case, and accounts for a remand", onLight},

		{CheckNodeName, "§4.1", meaning, "a node's name decides nothing", anyFamily},
		{CheckAny, "§4.13", meaning, "edges from `_any` are decided from limits alone", edges},
		{CheckUnknown, "§4.15", meaning, "a rule that it does not know is a failure", edges},
		{CheckParams, "§4.17", meaning, "a parameter that it does not know changes nothing, or is a failure", nil},

		{CheckMalformed, "§3.14", broken, "answers a malformed request with a message, or traps", nil},
		{CheckAfter, "§2.5", broken, "answers as before afterwards", nil},

		{CheckBytes, "§2.14", same, "the same bytes, again and in another instance", nil},
		{CheckFuel, "§5.2", same, "the same fuel, again and in another instance", nil},
		{CheckMemory, "§2.6", same, "the same bytes whatever it was called with before", nil},
		{CheckPrepared, "§2.19", same, "the same bytes, prepared or not; prepared with something else, a failure", func(r *Roles) bool { return r.Prepares && (r.Contest || len(r.Families) > 0) }},
	}
}

func family(those ...abi.Family) func(*Roles) bool {
	return func(r *Roles) bool {
		return slices.ContainsFunc(those, func(f abi.Family) bool { return slices.Contains(r.Families, f) })
	}
}

func anyFamily(r *Roles) bool { return len(r.Families) > 0 }

// mayAsk says whether there is a family that is offered models: audits offer none.
func mayAsk(r *Roles) bool {
	return slices.ContainsFunc(r.Families, func(f abi.Family) bool { return f != abi.FamilyCollect })
}

func edges(r *Roles) bool { return len(r.Edges) > 0 }

func judges(r *Roles) bool { return len(r.Criteria) > 0 }

func asks(r *Roles) bool { return len(r.Capabilities) > 0 }

func onLight(r *Roles) bool { return slices.ContainsFunc(r.Families, isLight) }

// isLight says whether a family is one of the Light path.
func isLight(f abi.Family) bool { return familyCheck(f) == CheckLight }

func speaks(r *Roles) bool {
	return r.Contest || slices.Contains(r.Families, abi.FamilyDefend) || slices.Contains(r.Families, abi.FamilyHearing)
}

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
	families := strings.Join((&Roles{Families: ServedFamilies()}).Names(), ", ")
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
			faults = append(faults, fmt.Errorf("role %q: use a family (%s), contest, edge:RULE or criterion:ID", name, families))
		}
	}
	return r, errors.Join(faults...)
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
