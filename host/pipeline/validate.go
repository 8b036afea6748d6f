package pipeline

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Validate checks a Definition that was made in Go and completed. The error, if any, is an [Errors].
func (d *Definition) Validate() error {
	v := newValidator(d, &strictyaml.Reader{File: d.file, Places: d.places})
	v.run()
	return v.Err()
}

// validator finds faults of meaning. What hangs on a value that the reader has rejected already is not reported again.
type validator struct {
	*strictyaml.Reader
	def   *Definition
	vague bool           // the graph is known in part only, because of a fault of shape
	nodes map[string]int // index by name, the first of a name
}

func newValidator(def *Definition, r *strictyaml.Reader) *validator {
	return &validator{Reader: r, def: def, vague: r.AnyBroken("nodes", "edges"), nodes: make(map[string]int, len(def.Nodes))}
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

// known checks a word against a vocabulary; an empty word is left to required.
func known[T ~string](v *validator, path string, word T, all []T, code Code, what string) {
	if word != "" && !slices.Contains(all, word) {
		v.FailAt(path, code, "unknown %s %q; known are %s", what, strictyaml.Clip(string(word)), join(all))
	}
}

// listed checks a list of words of a vocabulary; each may be there once.
func listed[T ~string](v *validator, path string, words, all []T, code Code, what, how string) {
	for i, word := range words {
		at := strictyaml.IndexPath(path, i)
		v.Required(at, string(word))
		known(v, at, word, all, code, what)
		if slices.Contains(words[:i], word) {
			v.FailAt(at, CodeDuplicateID, "%s is %s twice", word, how)
		}
	}
}

func (v *validator) within(path string, n, least, most int) {
	if n < least || n > most {
		v.FailAt(path, CodeOutOfRange, "%d is outside [%d, %d]", n, least, most)
	}
}

func (v *validator) header() {
	v.Required("pipeline", v.def.Pipeline)
	v.reference("clerk", v.def.Clerk)
	if len(v.def.Nodes) == 0 {
		v.FailAt("nodes", CodeMissing, "is missing or empty")
	}
	if !IsEnd(v.def.Done) {
		v.FailAt("done", CodeUnknownEnd, "unknown end %q; known are %s", strictyaml.Clip(v.def.Done), join(Ends()))
	}
}

func (v *validator) court() {
	c := &v.def.Court
	if c.TTL <= 0 {
		v.FailAt("court.ttl", CodeBadDuration, "%s is not above zero", c.TTL)
	}
	v.within("court.max_handoffs", c.MaxHandoffs, 1, 1_000_000)
	v.within("court.max_remands", c.MaxRemands, 0, 1_000)
	v.within("court.max_rounds", c.MaxRounds, 1, 1_000)
	activation := v.threshold("court.activation_threshold", c.ActivationThreshold)
	rejection := v.threshold("court.rejection_threshold", c.RejectionThreshold)
	if activation && rejection && c.RejectionThreshold > c.ActivationThreshold {
		v.FailAt("court.rejection_threshold", CodeBadThreshold, "%v is above the activation threshold %v",
			c.RejectionThreshold, c.ActivationThreshold)
	}
}

func (v *validator) threshold(path string, f float64) bool {
	if f >= 0 && f <= 1 { // false for NaN
		return !v.Broken(path)
	}
	v.FailAt(path, CodeBadThreshold, "%v is outside [0, 1]", f)
	return false
}

// unique reports a thing without a name, and one that has the name of another before it.
func (v *validator) unique(seen map[string]bool, path, thing, by, name string) {
	if name == "" {
		v.FailAt(path, CodeMissing, "a %s has no %s", thing, by)
	}
	if seen[name] {
		v.FailAt(path, CodeDuplicateID, "a second %s of this %s", thing, by)
	}
	seen[name] = true
}

func (v *validator) personas() {
	seen := make(map[string]bool)
	for i := range v.def.Personas {
		p := &v.def.Personas[i]
		path := strictyaml.KeyPath("personas", p.ID)
		v.unique(seen, path, "persona", "id", p.ID)
		v.Required(path+".role", string(p.Role))
		v.Required(path+".alignment", p.Alignment)
		known(v, path+".role", p.Role, Roles(), CodeUnknownRole, "role")
		known(v, path+".element", p.Element, Elements(), CodeUnknownElement, "element")
		known(v, path+".contests", p.Contests, Elements(), CodeUnknownElement, "element")
		listed(v, path+".grants", p.Grants, Capabilities(), CodeUnknownGrant, "capability", "granted")
		v.reference(path+".module", p.Module)
		v.reference(path+".fallback", p.Fallback)
		v.models(p, path)
	}
}

// models checks what a persona has to do with language models.
func (v *validator) models(p *Persona, path string) {
	for j, m := range p.Models {
		at := strictyaml.IndexPath(path+".models", j)
		v.Required(at, m)
		if slices.Contains(p.Models[:j], m) {
			v.FailAt(at, CodeDuplicateID, "%s is named twice", strictyaml.Clip(m))
		}
	}
	switch granted := slices.Contains(p.Grants, abi.CapComplete); {
	case granted && len(p.Models) == 0:
		v.FailAt(path+".models", CodeMissing, "is missing: %s is granted, and no model is named that the persona may ask", abi.CapComplete)
	case !granted && len(p.Models) > 0:
		v.FailAt(path+".models", CodeNotGranted, "models are named, and %s is not granted", abi.CapComplete)
	}
	if p.Prompt != "" && v.def.promptFiles[p.ID] != "" {
		v.FailAt(path+".prompt_file", CodeDuplicateKey, "there is a prompt, too: one of them is enough")
	}
	if len(p.Prompt) > MaxPromptBytes {
		v.FailAt(path+".prompt", CodeTooLarge, "has %d bytes; a prompt has at most %d", len(p.Prompt), MaxPromptBytes)
	}
	v.checkPrompt(p, path+".prompt", "line ", p.Prompt)
	if p.Fallback != "" && p.Fallback == p.Module {
		v.FailAt(path+".fallback", CodeSameModule, "is the module that it is to stand in for")
	}
}

func (v *validator) node(i int) {
	n := &v.def.Nodes[i]
	path := strictyaml.IndexPath("nodes", i)
	v.Required(path+".name", n.Name)
	if strings.HasPrefix(n.Name, "_") {
		v.FailAt(path+".name", CodeReservedName, "%q: names that begin with _ are ends", strictyaml.Clip(n.Name))
	}
	if first, ok := v.nodes[n.Name]; ok && n.Name != "" {
		v.FailAt(path+".name", CodeDuplicateID, "nodes[%d] is called %q too", first, strictyaml.Clip(n.Name))
	} else if n.Name != "" {
		v.nodes[n.Name] = i
	}
	v.Required(path+".family", string(n.Family))
	known(v, path+".family", n.Family, familyNames(), CodeUnknownFamily, "family")
	known(v, path+".element", n.Element, Elements(), CodeUnknownElement, "element")
	listed(v, path+".masks", n.Masks, Masks(), CodeUnknownMask, "mask", "named")
	v.within(path+".rounds", n.Rounds, 0, 1_000)
	v.params(path, n.With)
}

func (v *validator) zones() {
	seen := make(map[string]bool)
	for i := range v.def.Zones {
		z := &v.def.Zones[i]
		path := strictyaml.KeyPath("zones", z.Name)
		v.unique(seen, path, "zone", "name", z.Name)
		if len(z.Nodes) == 0 {
			v.FailAt(path+".nodes", CodeMissing, "the zone names no node")
		}
		for j, name := range z.Nodes {
			at := strictyaml.IndexPath(path+".nodes", j)
			v.isNode(at, name)
			if slices.Contains(z.Nodes[:j], name) && name != "" {
				v.FailAt(at, CodeDuplicateID, "%q is named twice", strictyaml.Clip(name))
			}
		}
		known(v, path+".element", z.Element, Elements(), CodeUnknownElement, "element")
		v.within(path+".stickiness", z.Stickiness, 0, 1_000_000)
	}
}

// words checks what people read about labels and elements.
func (v *validator) words() {
	seen := make(map[string]bool)
	for i := range v.def.Labels {
		l := &v.def.Labels[i]
		path := strictyaml.KeyPath("labels", l.ID)
		v.Required(path, l.ID)
		if seen[l.ID] {
			v.FailAt(path, CodeDuplicateID, "a second label of this id")
		}
		seen[l.ID] = true
		if l.Proof != (Proof{}) {
			v.proof(path, l.Proof)
		}
	}
	elements := make(map[abi.Element]bool)
	for i := range v.def.Kinds {
		k := &v.def.Kinds[i]
		path := strictyaml.KeyPath("elements", string(k.Element))
		v.Required(path, string(k.Element))
		known(v, path, k.Element, Elements(), CodeUnknownElement, "element")
		if elements[k.Element] {
			v.FailAt(path, CodeDuplicateID, "a second entry of this element")
		}
		elements[k.Element] = true
		v.proof(path, k.Proof)
	}
}

// proof: what is missing and how to get it belong together.
func (v *validator) proof(path string, p Proof) {
	v.Required(path+".evidence", p.Evidence)
	v.Required(path+".action", p.Action)
}

func join[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

func familyNames() []abi.Family {
	rules := Families()
	names := make([]abi.Family, len(rules))
	for i, r := range rules {
		names[i] = r.Family
	}
	return names
}

// side is one of the three parties that must not share a persona, an alignment or a module.
type side string

const (
	sideProsecution side = "prosecution"
	sideDefense     side = "defense"
	sideBench       side = "bench"
)

func sideOf(r Role) side {
	return map[Role]side{RoleProsecution: sideProsecution, RoleDefense: sideDefense, RoleBench: sideBench, RoleJudge: sideBench}[r]
}

// seated is a persona on a seat.
type seated struct {
	path    string // of the node's persona
	side    side
	persona *Persona
}

// sides checks who sits where, and that no two sides are the same in anything.
func (v *validator) sides() {
	var court []seated
	for i := range v.def.Nodes {
		court = append(court, v.seats(i)...)
	}
	v.keepApart(court)
}

// seats checks the personas of a node and gives those who act for a side.
func (v *validator) seats(i int) []seated {
	n := &v.def.Nodes[i]
	rule, ok := familyRule(n.Family)
	if !ok {
		return nil
	}
	path := personasPath(v.def, i)
	if rule.Seats != nil && len(n.Personas) != len(rule.Seats) {
		v.FailAt(path, CodePersonaCount, "%d personas; the family %s has %d", len(n.Personas), n.Family, len(rule.Seats))
	}
	if rule.Seats != nil && n.Parallel {
		v.FailAt(path, CodePersonaCount, "the family %s speaks in turns, not in parallel", n.Family)
	}
	var taken []seated
	for j, id := range n.Personas {
		at := path
		if _, ok := v.def.places[strictyaml.IndexPath(path, j)]; ok || len(n.Personas) > 1 {
			at = strictyaml.IndexPath(path, j)
		}
		p, ok := v.def.Persona(id)
		if !ok {
			v.unknownPersona(at, id)
			continue
		}
		if j >= len(rule.Seats) {
			continue
		}
		want := sideOf(rule.Seats[j])
		// A missing or unknown role is a fault of its own.
		if got := sideOf(p.Role); slices.Contains(Roles(), p.Role) && got != want {
			v.FailAt(at, CodeWrongRole, "%q has the role %s, but sits for the %s", strictyaml.Clip(id), p.Role, want)
		}
		taken = append(taken, seated{path: at, side: want, persona: p})
	}
	return taken
}

func (v *validator) unknownPersona(path, id string) {
	if id == "" {
		v.FailAt(path, CodeMissing, "is missing or empty")
		return
	}
	v.FailAt(path, CodeUnknownPersona, "no persona is called %q", strictyaml.Clip(id))
}

// keepApart compares every persona with the first holder of its identity, alignment and module on another side.
func (v *validator) keepApart(court []seated) {
	personas := make(map[string]seated)
	alignments := make(map[string]seated)
	modules := make(map[string]seated)
	for _, s := range court {
		id := s.persona.ID
		if first, ok := claim(personas, id, s); !ok {
			v.FailAt(s.path, CodeSamePersona, "%q already sits for the %s; the %s needs an identity of its own",
				strictyaml.Clip(id), first.side, s.side)
			continue
		}
		at := strictyaml.KeyPath("personas", id)
		if first, ok := claim(alignments, s.persona.Alignment, s); !ok && s.persona.Alignment != "" {
			v.once(at+".alignment", CodeSameAlignment, "equal alignments: %q is the alignment of %q (%s) too, this is the %s",
				strictyaml.Clip(s.persona.Alignment), strictyaml.Clip(first.persona.ID), first.side, s.side)
		}
		if first, ok := claim(modules, s.persona.Module, s); !ok {
			v.once(at+".module", CodeSameModule, "equal modules: %q plays %q (%s) too, this is the %s",
				strictyaml.Clip(s.persona.Module), strictyaml.Clip(first.persona.ID), first.side, s.side)
		}
		if fallback := s.persona.Fallback; fallback != "" {
			if first, ok := claim(modules, fallback, s); !ok {
				v.once(at+".fallback", CodeSameModule, "equal modules: %q plays %q (%s) too, this is the %s",
					strictyaml.Clip(fallback), strictyaml.Clip(first.persona.ID), first.side, s.side)
			}
		}
	}
}

// once leaves out a fault whose path and code were reported before: a persona may sit at several nodes.
func (v *validator) once(path string, code Code, format string, args ...any) {
	for _, e := range v.Faults {
		if e.Path == path && e.Code == code {
			return
		}
	}
	v.FailAt(path, code, format, args...)
}

// claim takes a thing for a side, or says who of another side has it.
func claim(owners map[string]seated, thing string, s seated) (first seated, ok bool) {
	first, taken := owners[thing]
	if !taken {
		owners[thing] = s
		return s, true
	}
	return first, first.side == s.side
}

// personasPath is where a node names its personas: persona or parallel.
func personasPath(d *Definition, node int) string {
	key := ".persona"
	if d.Nodes[node].Parallel {
		key = ".parallel"
	}
	return strictyaml.IndexPath("nodes", node) + key
}
