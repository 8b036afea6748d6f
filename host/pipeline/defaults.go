package pipeline

import "slices"

// DefaultClerk is the module that evaluates edges when the pipeline names none.
const DefaultClerk = "clerk"

// Family selects what happens at a node.
type Family string

// The families of the court, of the Light path and of the audit.
const (
	FamilyIndict      Family = "indict"
	FamilyDiscover    Family = "discover"
	FamilyDefend      Family = "defend"
	FamilyHearing     Family = "hearing"
	FamilyVerdict     Family = "verdict"
	FamilyRecall      Family = "recall"
	FamilyTriage      Family = "triage"
	FamilyResolve     Family = "resolve"
	FamilyInvestigate Family = "investigate"
	FamilyCorrelate   Family = "correlate"
	FamilyReview      Family = "review"
	FamilyReport      Family = "report"
	FamilyCollect     Family = "collect"
	FamilyJudge       Family = "judge"
	FamilySynthesize  Family = "synthesize"
	FamilyConclude    Family = "conclude"
)

// FamilyRule is what a family brings to its nodes.
type FamilyRule struct {
	Family Family
	// Personas act at a node that names none.
	Personas []string
	// Masks are worn at a node that names none.
	Masks []Mask
	// Seats are the sides for which the personas act, one seat for each persona. A family without seats takes any
	// number of personas.
	Seats []Role
}

// Families returns the known families with their defaults, as a fresh copy.
func Families() []FamilyRule {
	return []FamilyRule{
		{FamilyIndict, []string{"challenger"}, []Mask{MaskIndictment}, []Role{RoleProsecution}},
		{FamilyDiscover, []string{"bulwark"}, []Mask{MaskDiscovery}, []Role{RoleBench}},
		{FamilyDefend, []string{"abyss"}, nil, []Role{RoleDefense}},
		{FamilyHearing, []string{"challenger", "abyss", "bulwark"}, nil, []Role{RoleProsecution, RoleDefense, RoleBench}},
		{FamilyVerdict, []string{"specter"}, []Mask{MaskJudgment}, []Role{RoleJudge}},
		{FamilyRecall, []string{"herald"}, []Mask{MaskRecall}, nil},
		{FamilyTriage, []string{"herald"}, nil, nil},
		{FamilyResolve, []string{"sentinel"}, nil, nil},
		{FamilyInvestigate, []string{"seeker"}, []Mask{MaskForge}, nil},
		{FamilyCorrelate, []string{"weaver"}, []Mask{MaskCorrelation}, nil},
		{FamilyReview, []string{"weaver"}, nil, nil},
		{FamilyReport, []string{"weaver"}, nil, nil},
		{FamilyCollect, nil, nil, nil},
		{FamilyJudge, nil, nil, nil},
		{FamilySynthesize, nil, nil, nil},
		{FamilyConclude, nil, nil, nil},
	}
}

// BuiltinPersonas returns the personas that a pipeline may use without defining them, as a fresh copy.
func BuiltinPersonas() []Persona {
	return []Persona{
		builtin("challenger", "Challenger", "Scarlet", Fire, RoleProsecution, "accuser", Water),
		builtin("abyss", "Abyss", "Sapphire", Water, RoleDefense, "defender", Earth),
		builtin("bulwark", "Bulwark", "Iron", Diamond, RoleBench, "bench", Air),
		builtin("specter", "Specter", "Obsidian", Lightning, RoleJudge, "arbiter", Diamond),
		builtin("herald", "Herald", "Crimson", Fire, RoleLight, "light", ""),
		builtin("sentinel", "Sentinel", "Cobalt", Earth, RoleLight, "light", ""),
		builtin("seeker", "Seeker", "Cerulean", Water, RoleLight, "light", ""),
		builtin("weaver", "Weaver", "Amber", Air, RoleLight, "light", ""),
	}
}

func builtin(id, name, colour string, element Element, role Role, alignment string, contests Element) Persona {
	return Persona{
		ID: id, Name: name, Colour: colour, Element: element, Role: role,
		Alignment: alignment, Contests: contests, Module: id,
	}
}

func familyRule(f Family) (FamilyRule, bool) {
	rules := Families()
	i := slices.IndexFunc(rules, func(r FamilyRule) bool { return r.Family == f })
	if i < 0 {
		return FamilyRule{}, false
	}
	return rules[i], true
}

func builtinPersona(id string) (Persona, bool) {
	all := BuiltinPersonas()
	i := slices.IndexFunc(all, func(p Persona) bool { return p.ID == id })
	if i < 0 {
		return Persona{}, false
	}
	return all[i], true
}

// Complete fills in the defaults of everything but Court, whose zero values mean themselves. [Parse] does it already;
// a Definition made in Go needs it before [NewGraph]. Completing twice changes nothing more.
func (d *Definition) Complete() {
	if d.Clerk == "" {
		d.Clerk = DefaultClerk
	}
	if d.Done == "" {
		d.Done = EndDone
	}
	rules := make(map[Family]FamilyRule)
	for _, r := range Families() {
		rules[r.Family] = r
	}
	for i := range d.Nodes {
		d.Nodes[i].complete(rules[d.Nodes[i].Family])
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		if e.Evaluator == "" {
			e.Evaluator = e.ID
		}
		if e.Module == "" {
			e.Module = d.Clerk
		}
	}
	d.completePersonas()
}

func (n *Node) complete(rule FamilyRule) {
	if len(n.Personas) == 0 {
		n.Personas = slices.Clone(rule.Personas)
	}
	if n.Masks == nil {
		n.Masks = append([]Mask{}, rule.Masks...)
	}
}

func (d *Definition) completePersonas() {
	known := make(map[string]bool, len(d.Personas))
	for i := range d.Personas {
		d.Personas[i].complete()
		known[d.Personas[i].ID] = true
	}
	used := make(map[string]bool)
	for i := range d.Nodes {
		for _, id := range d.Nodes[i].Personas {
			used[id] = true
		}
	}
	for _, p := range BuiltinPersonas() {
		if used[p.ID] && !known[p.ID] {
			d.Personas = append(d.Personas, p)
		}
	}
}

// complete takes what is missing from the built-in persona of the same ID.
func (p *Persona) complete() {
	base, _ := builtinPersona(p.ID)
	fill := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	fill(&p.Name, base.Name)
	fill(&p.Name, p.ID)
	fill(&p.Colour, base.Colour)
	fill(&p.Alignment, base.Alignment)
	fill(&p.Module, p.ID)
	fill((*string)(&p.Element), string(base.Element))
	fill((*string)(&p.Role), string(base.Role))
	fill((*string)(&p.Contests), string(base.Contests))
}
