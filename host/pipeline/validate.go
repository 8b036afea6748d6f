package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/internal/strictyaml"
)

// Validate checks a Definition that was made in Go and completed. The error, if any, is an [Errors].
func (d *Definition) Validate() error {
	v := newValidator(d, nil)
	v.run()
	if len(v.errs) == 0 {
		return nil
	}
	return v.errs.Sorted()
}

// validator finds faults of meaning. What hangs on a value that the decoder has rejected already is not reported again.
type validator struct {
	def    *Definition
	errs   Errors
	broken map[string]bool // paths with a fault of shape
	vague  bool            // the graph is known in part only, because of such a fault
	nodes  map[string]int  // index by name, the first of a name
}

func newValidator(def *Definition, shapes Errors) *validator {
	v := &validator{def: def, broken: make(map[string]bool), nodes: make(map[string]int, len(def.Nodes))}
	for _, e := range shapes {
		if e.Code == CodeUnknownKey {
			continue
		}
		v.broken[e.Path] = true
		switch {
		case e.Path == "", strings.HasPrefix(e.Path, "nodes"), strings.HasPrefix(e.Path, "edges"):
			v.vague = true
		default:
		}
	}
	return v
}

func (v *validator) run() {
	v.header()
	v.court()
	v.personas()
	for i := range v.def.Nodes {
		v.node(i)
	}
	v.zones()
	v.words()
	v.edges()
	v.start()
	v.sides()
	v.reach()
}

// fail reports a fault unless the value at the path, or what holds it, was rejected before.
func (v *validator) fail(path string, code Code, format string, args ...any) {
	for p := path; p != ""; p = strictyaml.ParentPath(p) {
		if v.broken[p] {
			return
		}
	}
	at := v.def.Position(path)
	v.errs = append(v.errs, &Error{
		File: v.def.file, Line: at.Line, Column: at.Column, Path: path, Code: code, Message: fmt.Sprintf(format, args...),
	})
}

func (v *validator) required(path, value string) {
	if value == "" {
		v.fail(path, CodeMissing, "is missing or empty")
	}
}

// known checks a word against a vocabulary; an empty word is left to required.
func known[T ~string](v *validator, path string, word T, all []T, code Code, what string) {
	if word != "" && !slices.Contains(all, word) {
		v.fail(path, code, "unknown %s %q; known are %s", what, strictyaml.Clip(string(word)), join(all))
	}
}

func (v *validator) within(path string, n, least, most int) {
	if n < least || n > most {
		v.fail(path, CodeOutOfRange, "%d is outside [%d, %d]", n, least, most)
	}
}

func (v *validator) header() {
	v.required("pipeline", v.def.Pipeline)
	if len(v.def.Nodes) == 0 {
		v.fail("nodes", CodeMissing, "is missing or empty")
	}
	if !IsEnd(v.def.Done) {
		v.fail("done", CodeUnknownEnd, "unknown end %q; known are %s", strictyaml.Clip(v.def.Done), join(Ends()))
	}
}

func (v *validator) court() {
	c := &v.def.Court
	if c.TTL <= 0 {
		v.fail("court.ttl", CodeBadDuration, "%s is not above zero", c.TTL)
	}
	v.within("court.max_handoffs", c.MaxHandoffs, 1, 1_000_000)
	v.within("court.max_remands", c.MaxRemands, 0, 1_000)
	v.within("court.max_rounds", c.MaxRounds, 1, 1_000)
	activation := v.threshold("court.activation_threshold", c.ActivationThreshold)
	rejection := v.threshold("court.rejection_threshold", c.RejectionThreshold)
	if activation && rejection && c.RejectionThreshold > c.ActivationThreshold {
		v.fail("court.rejection_threshold", CodeBadThreshold, "%v is above the activation threshold %v",
			c.RejectionThreshold, c.ActivationThreshold)
	}
}

func (v *validator) threshold(path string, f float64) bool {
	if f >= 0 && f <= 1 { // false for NaN
		return !v.broken[path]
	}
	v.fail(path, CodeBadThreshold, "%v is outside [0, 1]", f)
	return false
}

func (v *validator) personas() {
	seen := make(map[string]bool)
	for i := range v.def.Personas {
		p := &v.def.Personas[i]
		path := strictyaml.KeyPath("personas", p.ID)
		if p.ID == "" {
			v.fail(path, CodeMissing, "a persona has no id")
		}
		if seen[p.ID] {
			v.fail(path, CodeDuplicateID, "a second persona of this id")
		}
		seen[p.ID] = true
		v.required(path+".role", string(p.Role))
		v.required(path+".alignment", p.Alignment)
		known(v, path+".role", p.Role, Roles(), CodeUnknownRole, "role")
		known(v, path+".element", p.Element, Elements(), CodeUnknownElement, "element")
		known(v, path+".contests", p.Contests, Elements(), CodeUnknownElement, "element")
		for j, c := range p.Grants {
			at := strictyaml.IndexPath(path+".grants", j)
			v.required(at, string(c))
			known(v, at, c, Capabilities(), CodeUnknownGrant, "capability")
			if slices.Contains(p.Grants[:j], c) {
				v.fail(at, CodeDuplicateID, "%s is granted twice", c)
			}
		}
		v.models(p, path)
	}
}

// models checks what a persona has to do with language models.
func (v *validator) models(p *Persona, path string) {
	for j, m := range p.Models {
		at := strictyaml.IndexPath(path+".models", j)
		v.required(at, m)
		if slices.Contains(p.Models[:j], m) {
			v.fail(at, CodeDuplicateID, "%s is named twice", strictyaml.Clip(m))
		}
	}
	switch granted := slices.Contains(p.Grants, CapabilityComplete); {
	case granted && len(p.Models) == 0:
		v.fail(path+".models", CodeMissing, "is missing: %s is granted, and no model is named that the persona may ask", CapabilityComplete)
	case !granted && len(p.Models) > 0:
		v.fail(path+".models", CodeNotGranted, "models are named, and %s is not granted", CapabilityComplete)
	}
	if p.Prompt != "" && v.def.promptFiles[p.ID] != "" {
		v.fail(path+".prompt_file", CodeDuplicateKey, "there is a prompt, too: one of them is enough")
	}
	if len(p.Prompt) > MaxPromptBytes {
		v.fail(path+".prompt", CodeTooLarge, "has %d bytes; a prompt has at most %d", len(p.Prompt), MaxPromptBytes)
	}
	v.checkPrompt(p, path+".prompt", "line ", p.Prompt)
	if p.Fallback != "" && p.Fallback == p.Module {
		v.fail(path+".fallback", CodeSameModule, "is the module that it is to stand in for")
	}
}

func (v *validator) node(i int) {
	n := &v.def.Nodes[i]
	path := strictyaml.IndexPath("nodes", i)
	v.required(path+".name", n.Name)
	if strings.HasPrefix(n.Name, "_") {
		v.fail(path+".name", CodeReservedName, "%q: names that begin with _ are ends", strictyaml.Clip(n.Name))
	}
	if first, ok := v.nodes[n.Name]; ok && n.Name != "" {
		v.fail(path+".name", CodeDuplicateID, "nodes[%d] is called %q too", first, strictyaml.Clip(n.Name))
	} else if n.Name != "" {
		v.nodes[n.Name] = i
	}
	v.required(path+".family", string(n.Family))
	known(v, path+".family", n.Family, familyNames(), CodeUnknownFamily, "family")
	known(v, path+".element", n.Element, Elements(), CodeUnknownElement, "element")
	for j, m := range n.Masks {
		at := strictyaml.IndexPath(path+".masks", j)
		v.required(at, string(m))
		known(v, at, m, Masks(), CodeUnknownMask, "mask")
		if slices.Contains(n.Masks[:j], m) {
			v.fail(at, CodeDuplicateID, "%s is named twice", m)
		}
	}
	v.within(path+".rounds", n.Rounds, 0, 1_000)
	v.params(path, n.With)
}

func (v *validator) zones() {
	seen := make(map[string]bool)
	for i := range v.def.Zones {
		z := &v.def.Zones[i]
		path := strictyaml.KeyPath("zones", z.Name)
		if z.Name == "" {
			v.fail(path, CodeMissing, "a zone has no name")
		}
		if seen[z.Name] {
			v.fail(path, CodeDuplicateID, "a second zone of this name")
		}
		seen[z.Name] = true
		if len(z.Nodes) == 0 {
			v.fail(path+".nodes", CodeMissing, "the zone names no node")
		}
		for j, name := range z.Nodes {
			at := strictyaml.IndexPath(path+".nodes", j)
			v.isNode(at, name)
			if slices.Contains(z.Nodes[:j], name) && name != "" {
				v.fail(at, CodeDuplicateID, "%q is named twice", strictyaml.Clip(name))
			}
		}
		known(v, path+".element", z.Element, Elements(), CodeUnknownElement, "element")
		v.within(path+".stickiness", z.Stickiness, 0, 1_000_000)
	}
}

// words checks what people are told of labels and elements.
func (v *validator) words() {
	seen := make(map[string]bool)
	for i := range v.def.Labels {
		l := &v.def.Labels[i]
		path := strictyaml.KeyPath("labels", l.ID)
		v.required(path, l.ID)
		if seen[l.ID] {
			v.fail(path, CodeDuplicateID, "a second label of this id")
		}
		seen[l.ID] = true
		if l.Proof != (Proof{}) {
			v.proof(path, l.Proof)
		}
	}
	elements := make(map[Element]bool)
	for i := range v.def.Kinds {
		k := &v.def.Kinds[i]
		path := strictyaml.KeyPath("elements", string(k.Element))
		v.required(path, string(k.Element))
		known(v, path, k.Element, Elements(), CodeUnknownElement, "element")
		if elements[k.Element] {
			v.fail(path, CodeDuplicateID, "a second entry of this element")
		}
		elements[k.Element] = true
		v.proof(path, k.Proof)
	}
}

// proof: what is missing and how to get it are told together.
func (v *validator) proof(path string, p Proof) {
	v.required(path+".evidence", p.Evidence)
	v.required(path+".action", p.Action)
}

func join[T ~string](words []T) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}

func familyNames() []Family {
	rules := Families()
	names := make([]Family, len(rules))
	for i, r := range rules {
		names[i] = r.Family
	}
	return names
}
