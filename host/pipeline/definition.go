// Package pipeline is the language in which a court, or any other traversal, is written down.
//
// A pipeline is a YAML file: nodes in the order in which they follow each other, edges with conditions, zones that group nodes, the
// personas that act at the nodes, and the limits of the court. [Parse] turns a file into a checked [Definition] and reports every fault at
// once, with file, line, column and data path. [Lint] finds what is legal but probably a slip. [NewGraph] indexes a Definition for a
// traversal. [Marshal] writes a Definition as YAML that means the same. [Mermaid] draws it, with a path if one is given.
//
// What the court does at a node follows from the node's family, never from its name, so that all nodes may be renamed. A file that names no
// personas gets those of its families (see [Families] and [BuiltinPersonas]).
//
// Values of this package are not changed after they were made, and may be read by several goroutines at once.
package pipeline

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Definition is a pipeline as its file states it, with the defaults filled in.
type Definition struct {
	// Pipeline is the pipeline's name.
	Pipeline string `yaml:"pipeline" write:"always"`
	// Description is for people. Optional.
	Description string `yaml:"description"`
	// Clerk is the module that evaluates the edges which name none themselves. Default: "clerk".
	Clerk string `yaml:"clerk"`
	// Court holds the limits of a trial. Default: [DefaultCourt].
	Court Court `yaml:"court" write:"always"`
	// Personas are the identities that act at the nodes: those of the file in file order, then the built-in ones that
	// the nodes use besides, in the order of [BuiltinPersonas].
	Personas []Persona `yaml:"personas" table:"duplicate_id"`
	// Zones group nodes, in file order. Optional.
	Zones []Zone `yaml:"zones" table:"duplicate_id"`
	// Nodes are in file order, which is the order of falling through.
	Nodes []Node `yaml:"nodes"`
	// Edges are in file order, which is the order in which their answers are taken.
	Edges []Edge `yaml:"edges"`
	// Start is the name of the first node.
	Start string `yaml:"start" write:"always"`
	// Done is the end that a traversal reaches when all is well. Default: "_done".
	Done string `yaml:"done"`
	// Labels say what labels mean, in file order. A case may have others. Optional.
	Labels []Label `yaml:"labels" table:"duplicate_id"`
	// Kinds say what evidence the elements stand for, in file order. Optional.
	Kinds []Kind `yaml:"elements" table:"duplicate_id"`

	file        string
	places      strictyaml.Places
	promptFiles map[string]string // by the IDs of personas
}

// Court holds the limits of a trial. Durations are strings such as "10m" in YAML.
type Court struct {
	// Enabled: with false the Light answer stands as it is. Default true.
	Enabled bool `yaml:"enabled" write:"always"`
	// TTL is the wall clock of a whole trial, above 0. Default 10 minutes.
	TTL time.Duration `yaml:"ttl" write:"always"`
	// MaxHandoffs is how often the case may pass from one persona to another, 1 to 1,000,000. Default 24.
	MaxHandoffs int `yaml:"max_handoffs" write:"always"`
	// MaxRemands is how often the case may go back to Light, 0 to 1,000. Default 2.
	MaxRemands int `yaml:"max_remands" write:"always"`
	// ActivationThreshold is the Light confidence from which no trial is needed, in [0, 1]. Default 0.85.
	ActivationThreshold float64 `yaml:"activation_threshold" write:"always"`
	// RejectionThreshold is the Light confidence below which the answer is rejected without a trial, in [0, 1] and not
	// above ActivationThreshold. Default 0.50.
	RejectionThreshold float64 `yaml:"rejection_threshold" write:"always"`
	// MaxRounds is how many rounds a hearing has at most, 1 to 1,000. Default 3.
	MaxRounds int `yaml:"max_rounds" write:"always"`
}

// DefaultCourt returns the limits of a pipeline without a court section.
func DefaultCourt() Court {
	return Court{
		Enabled: true, TTL: 10 * time.Minute, MaxHandoffs: 24, MaxRemands: 2,
		ActivationThreshold: 0.85, RejectionThreshold: 0.50, MaxRounds: 3,
	}
}

// Persona is an agent identity, bound to a module. It comes from the pipeline, never from the module.
type Persona struct {
	// ID is the key under personas, by which nodes name it.
	ID string
	// Name is for people. Default: the ID.
	Name string `yaml:"name"`
	// Colour is a colour word such as "Scarlet". Optional.
	Colour string `yaml:"colour"`
	// Element is the persona's own. Optional.
	Element abi.Element `yaml:"element"`
	// Role says for which side the persona acts.
	Role Role `yaml:"role"`
	// Alignment is a free word; the sides of a court must have different ones.
	Alignment string `yaml:"alignment"`
	// Contests is the element of the evidence that the persona contests. Optional.
	Contests abi.Element `yaml:"contests"`
	// Module is the module's file name without ".wasm", or a reference, see [IsReference]. Default: the ID.
	Module string `yaml:"module"`
	// Grants are the capabilities that the module may use. Default none.
	Grants []abi.Capability `yaml:"grants"`
	// Models are names of language models that the module may ask; with the capability complete there is at least one. Which models
	// answer to the names is the host's configuration.
	Models []string `yaml:"models"`
	// Prompt is what the module builds its prompts from (YAML: `prompt_file`, a path within the folder of the pipeline's file, or the
	// text itself under `prompt`). At most [MaxPromptBytes]. Optional.
	Prompt string `yaml:"prompt"`
	// Fallback is a module that plays a node in place of Module, with the same request, where that fails or has no answer. Optional.
	Fallback string `yaml:"fallback"`
}

// Zone is a named group of nodes.
type Zone struct {
	Name string
	// Nodes are names of nodes; at least one.
	Nodes []string `yaml:"nodes"`
	// Element is optional.
	Element abi.Element `yaml:"element"`
	// Stickiness, 0 to 1,000,000, says how much the zone holds on to a case. It is kept and drawn, and decides nothing.
	Stickiness int `yaml:"stickiness" write:"always"`
}

// Label is what people read about a label (YAML: under `labels`, by its ID).
type Label struct {
	// ID is the label as cases have it.
	ID string
	// Name is for people. Optional.
	Name string `yaml:"name"`
	// Proof says what would show that the label is the right one. Optional.
	Proof Proof `yaml:",inline"`
}

// Kind is what people read about the evidence of an element (YAML: under `elements`).
type Kind struct {
	Element abi.Element
	Proof   Proof `yaml:",inline"`
}

// Proof is evidence that a case may lack.
type Proof struct {
	// Evidence names it, as "a rerun on the same commit".
	Evidence string `yaml:"evidence"`
	// Action says how to get it, as an imperative.
	Action string `yaml:"action"`
}

// Node is a station of the traversal.
type Node struct {
	Name string `yaml:"name"`
	// Element is optional.
	Element abi.Element `yaml:"element"`
	// Family selects what happens at the node.
	Family abi.Family `yaml:"family"`
	// Personas are IDs of personas. A hearing has three, in the order prosecution, defense, bench. Default: those of the family.
	Personas []string
	// Parallel: the personas are called side by side and their artifacts are merged (YAML: `parallel: [a, b]` in place of `persona: [a, b]`).
	Parallel bool
	// Masks are what the personas see and may do here. Default: those of the family; never nil in a loaded Definition.
	Masks []Mask `yaml:"masks"`
	// Rounds, 1 to 1,000, bounds a hearing; 0 means Court.MaxRounds.
	Rounds int `yaml:"rounds"`
	// With are parameters for the personas of the node, in file order.
	With []Param `yaml:"with" table:"duplicate_key"`
}

// Edge is a conditional move from a node to a node or an end.
type Edge struct {
	// ID is unique among the edges.
	ID string `yaml:"id" write:"always"`
	// Name is for people. Optional.
	Name string `yaml:"name"`
	// From is a node, or [Any].
	From string `yaml:"from" write:"always"`
	// To is a node or an end.
	To string `yaml:"to" write:"always"`
	// Shortcut marks an edge that skips nodes.
	Shortcut bool `yaml:"shortcut"`
	// Loop marks an edge that goes back.
	Loop bool `yaml:"loop"`
	// Condition is the label for people; Evaluator decides. Optional.
	Condition string `yaml:"condition"`
	// Evaluator is the name of the function that answers for the edge. Default: the ID. [Always] needs no module.
	Evaluator string `yaml:"evaluator"`
	// Module answers in place of the clerk. Default: Definition.Clerk.
	Module string `yaml:"module"`
	// With are the evaluator's parameters in file order.
	With []Param `yaml:"with" table:"duplicate_key"`
}

// FromAny reports whether the edge leaves every node.
func (e *Edge) FromAny() bool { return e.From == Any }

// Unconditional reports whether the edge fires whenever it is asked.
func (e *Edge) Unconditional() bool { return e.Evaluator == Always }

// ParamKind says which field of a Param holds its value.
type ParamKind string

// The kinds of a parameter.
const (
	ParamNumber ParamKind = "number"
	ParamText   ParamKind = "text"
	ParamFlag   ParamKind = "flag"
)

// Param is a parameter of an evaluator or a persona. Only the field that Kind names is set.
type Param struct {
	Name   string
	Kind   ParamKind
	Number float64 // finite
	Text   string
	Flag   bool
}

// Number makes a parameter that is a number.
func Number(name string, v float64) Param { return Param{Name: name, Kind: ParamNumber, Number: v} }

// Text makes a parameter that is a text.
func Text(name, v string) Param { return Param{Name: name, Kind: ParamText, Text: v} }

// File returns the name under which the definition was loaded, empty for one made in Go.
func (d *Definition) File() string { return d.file }

// Position returns the place of a data path such as "edges[3].to", or of the nearest thing around it.
func (d *Definition) Position(path string) Position {
	return d.places.At(path)
}

// Persona returns the persona with the given ID.
func (d *Definition) Persona(id string) (*Persona, bool) {
	i := slices.IndexFunc(d.Personas, func(p Persona) bool { return p.ID == id })
	if i < 0 {
		return nil, false
	}
	return &d.Personas[i], true
}

// Label returns what is known of a label; of an unknown one only the ID.
func (d *Definition) Label(id string) Label {
	for i := range d.Labels {
		if d.Labels[i].ID == id {
			return d.Labels[i]
		}
	}
	return Label{ID: id}
}

// Modules returns the names of all modules that the definition needs, personas first, each once.
func (d *Definition) Modules() []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range d.Personas {
		add(d.Personas[i].Module)
	}
	for i := range d.Personas {
		if fallback := d.Personas[i].Fallback; fallback != "" {
			add(fallback)
		}
	}
	for i := range d.Edges {
		if !d.Edges[i].Unconditional() {
			add(d.Edges[i].Module)
		}
	}
	return names
}

// Zone returns the first zone that lists the node.
func (d *Definition) Zone(node string) (*Zone, bool) {
	for i := range d.Zones {
		if slices.Contains(d.Zones[i].Nodes, node) {
			return &d.Zones[i], true
		}
	}
	return nil, false
}

// Marshal writes a Definition as YAML that means the same: parsing it gives the same Definition. The bytes are
// canonical: equal meaning gives equal bytes. Comments of the file it came from are lost.
func Marshal(d *Definition) ([]byte, error) {
	written := *d
	written.Edges = slices.Clone(d.Edges)
	for i := range written.Edges { // what the defaults say is left out
		e := &written.Edges[i]
		if e.Evaluator == e.ID {
			e.Evaluator = ""
		}
		if e.Module == d.Clerk {
			e.Module = ""
		}
	}
	text, err := strictyaml.Marshal(&written)
	if err != nil {
		return nil, fmt.Errorf("write pipeline %q as YAML: %w", d.Pipeline, err)
	}
	return text, nil
}

// Equal reports whether two completed Definitions mean the same. Positions and file names don't count.
func (d *Definition) Equal(other *Definition) bool {
	a, errA := Marshal(d)
	b, errB := Marshal(other)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// WriteYAML leaves out empty lists.
func (p Persona) WriteYAML() any {
	type written Persona
	if len(p.Grants) == 0 {
		p.Grants = nil
	}
	if len(p.Models) == 0 {
		p.Models = nil
	}
	return written(p)
}

// WriteYAML writes the personas as they are read, and leaves out what the family brings.
func (n Node) WriteYAML() any {
	written := struct {
		Name     string      `yaml:"name" write:"always"`
		Element  abi.Element `yaml:"element"`
		Family   abi.Family  `yaml:"family" write:"always"`
		Parallel []string    `yaml:"parallel"`
		Persona  any         `yaml:"persona"`
		Masks    []Mask      `yaml:"masks"`
		Rounds   int         `yaml:"rounds"`
		With     []Param     `yaml:"with" table:"duplicate_key"`
	}{Name: n.Name, Element: n.Element, Family: n.Family, Masks: n.Masks, Rounds: n.Rounds, With: n.With}
	rule, _ := familyRule(n.Family)
	switch {
	case n.Parallel:
		written.Parallel = append([]string{}, n.Personas...)
	case slices.Equal(n.Personas, rule.Personas):
	case len(n.Personas) == 1:
		written.Persona = n.Personas[0]
	default:
		written.Persona = n.Personas
	}
	if slices.Equal(n.Masks, rule.Masks) {
		written.Masks = nil
	}
	return written
}

// WriteYAML gives the value.
func (p Param) WriteYAML() any {
	switch p.Kind {
	case ParamNumber:
		return p.Number
	case ParamFlag:
		return p.Flag
	case ParamText:
		return p.Text
	default:
		return p.Text
	}
}
