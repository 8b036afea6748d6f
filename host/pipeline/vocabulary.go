package pipeline

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Elements returns the known elements.
func Elements() []abi.Element {
	return []abi.Element{abi.Fire, abi.Earth, abi.Water, abi.Air, abi.Diamond, abi.Lightning}
}

// Mask is a view that the host cuts for a persona.
type Mask string

// The masks.
const (
	MaskIndictment  Mask = "indictment"
	MaskDiscovery   Mask = "discovery"
	MaskRecall      Mask = "recall"
	MaskForge       Mask = "forge"
	MaskCorrelation Mask = "correlation"
	MaskJudgment    Mask = "judgment"
)

// Masks returns the known masks.
func Masks() []Mask {
	return []Mask{MaskIndictment, MaskDiscovery, MaskRecall, MaskForge, MaskCorrelation, MaskJudgment}
}

// Capabilities returns the known capabilities.
func Capabilities() []abi.Capability {
	return []abi.Capability{abi.CapLog, abi.CapRecall, abi.CapCorrelate, abi.CapSource, abi.CapExperiment, abi.CapComplete}
}

// Role says for whom a persona acts.
type Role string

// The roles. Bench and judge are one side of the court: the bench presides the hearing, the judge gives the verdict.
const (
	RoleProsecution Role = "prosecution"
	RoleDefense     Role = "defense"
	RoleBench       Role = "bench"
	RoleJudge       Role = "judge"
	RoleLight       Role = "light"
)

// Roles returns the known roles.
func Roles() []Role { return []Role{RoleProsecution, RoleDefense, RoleBench, RoleJudge, RoleLight} }

// Names with a meaning of their own in edges.
const (
	// Any as the source of an edge stands for every node.
	Any = "_any"
	// EndDone, EndRemand, EndGapBrief and EndMistrial are where a traversal ends.
	EndDone     = "_done"
	EndRemand   = "_remand"
	EndGapBrief = "_gap_brief"
	EndMistrial = "_mistrial"
	// Always is the evaluator of an edge that always fires; no module is asked.
	Always = "always"
)

// Ends returns the known ends.
func Ends() []string { return []string{EndDone, EndRemand, EndGapBrief, EndMistrial} }

// IsEnd reports whether a name is one of the ends.
func IsEnd(name string) bool { return slices.Contains(Ends(), name) }

// IsReference says whether a module is named by a reference to a registry or to a folder with an OCI image layout, such as
// oci://registry.example/judges/reader:v1@sha256:…, and not by the name of its file. The host does not fetch what is referred to: who opens
// it does, and gives it the module as [ModuleFile].
func IsReference(module string) bool { return moduleref.Is(module) }

// ModuleFile is the name of a module's file in a file system with modules: NAME.wasm, or the reference, escaped so that it is one name, and
// .oci: no other name of a module is that of what a reference stands for.
func ModuleFile(module string) string {
	if IsReference(module) {
		return url.PathEscape(module) + ".oci"
	}
	return module + ".wasm"
}

// BadModule says what is wrong with the name of a module; empty if nothing. A reference needs a tag or a digest.
func BadModule(module string) string {
	if !IsReference(module) {
		if strings.Contains(module, "//") {
			return fmt.Sprintf("%q is neither the name of a module nor a reference: for a reference %s", strictyaml.Clip(module), moduleref.Use)
		}
		return ""
	}
	if ref, err := moduleref.Parse(module); err != nil || ref.Tag() == "" && ref.Digest() == "" {
		return fmt.Sprintf("%q: %s", strictyaml.Clip(module), moduleref.Use)
	}
	return ""
}

// reference checks the name of a module.
func (v *validator) reference(path, module string) {
	if bad := BadModule(module); bad != "" {
		v.FailAt(path, CodeBadReference, "%s", bad)
	}
}

// unpinned warns of a reference without a digest.
func (l *linter) unpinned(path, module string) {
	if ref, err := moduleref.Parse(module); err == nil && ref.Digest() == "" {
		l.warn(path, WarnUnpinned, "who has the registry decides what this is: add @sha256:…, or write `shadowcourt lock`")
	}
}

// DefaultClerk is the module that evaluates edges when the pipeline names none.
const DefaultClerk = "clerk"

// FamilyConclude is the family of a node at which the host itself concludes an audit: no module is asked.
const FamilyConclude abi.Family = "conclude"

// FamilyRule is what a family brings to its nodes.
type FamilyRule struct {
	Family abi.Family
	// Personas act at a node that names none.
	Personas []string
	// Masks are worn at a node that names none.
	Masks []Mask
	// Seats are the sides for which the personas act, one seat for each persona. A family without seats takes any number of personas.
	Seats []Role
}

// Families returns the known families with their defaults, as a fresh copy.
func Families() []FamilyRule {
	return []FamilyRule{
		{abi.FamilyIndict, []string{"challenger"}, []Mask{MaskIndictment}, []Role{RoleProsecution}},
		{abi.FamilyDiscover, []string{"bulwark"}, []Mask{MaskDiscovery}, []Role{RoleBench}},
		{abi.FamilyDefend, []string{"abyss"}, nil, []Role{RoleDefense}},
		{abi.FamilyHearing, []string{"challenger", "abyss", "bulwark"}, nil, []Role{RoleProsecution, RoleDefense, RoleBench}},
		{abi.FamilyVerdict, []string{"specter"}, []Mask{MaskJudgment}, []Role{RoleJudge}},
		{abi.FamilyRecall, []string{"herald"}, []Mask{MaskRecall}, nil},
		{abi.FamilyTriage, []string{"herald"}, nil, nil},
		{abi.FamilyResolve, []string{"sentinel"}, nil, nil},
		{abi.FamilyInvestigate, []string{"seeker"}, []Mask{MaskForge}, nil},
		{abi.FamilyCorrelate, []string{"weaver"}, []Mask{MaskCorrelation}, nil},
		{abi.FamilyReview, []string{"weaver"}, nil, nil},
		{abi.FamilyReport, []string{"weaver"}, nil, nil},
		{abi.FamilyCollect, nil, nil, nil},
		{abi.FamilyJudge, nil, nil, nil},
		{abi.FamilySynthesize, nil, nil, nil},
		{FamilyConclude, nil, nil, nil},
	}
}

// BuiltinPersonas returns the personas that a pipeline may use without defining them, as a fresh copy.
func BuiltinPersonas() []Persona {
	return []Persona{
		builtin("challenger", "Challenger", "Scarlet", abi.Fire, RoleProsecution, "accuser", abi.Water),
		builtin("abyss", "Abyss", "Sapphire", abi.Water, RoleDefense, "defender", abi.Earth),
		builtin("bulwark", "Bulwark", "Iron", abi.Diamond, RoleBench, "bench", abi.Air),
		builtin("specter", "Specter", "Obsidian", abi.Lightning, RoleJudge, "arbiter", abi.Diamond),
		builtin("herald", "Herald", "Crimson", abi.Fire, RoleLight, "light", ""),
		builtin("sentinel", "Sentinel", "Cobalt", abi.Earth, RoleLight, "light", ""),
		builtin("seeker", "Seeker", "Cerulean", abi.Water, RoleLight, "light", ""),
		builtin("weaver", "Weaver", "Amber", abi.Air, RoleLight, "light", ""),
	}
}

func builtin(id, name, colour string, element abi.Element, role Role, alignment string, contests abi.Element) Persona {
	return Persona{
		ID: id, Name: name, Colour: colour, Element: element, Role: role,
		Alignment: alignment, Contests: contests, Module: id,
	}
}

func familyRule(f abi.Family) (FamilyRule, bool) {
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
	d.Clerk = cmp.Or(d.Clerk, DefaultClerk)
	d.Done = cmp.Or(d.Done, EndDone)
	rules := make(map[abi.Family]FamilyRule)
	for _, r := range Families() {
		rules[r.Family] = r
	}
	for i := range d.Nodes {
		d.Nodes[i].complete(rules[d.Nodes[i].Family])
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		e.Evaluator = cmp.Or(e.Evaluator, e.ID)
		e.Module = cmp.Or(e.Module, d.Clerk)
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
