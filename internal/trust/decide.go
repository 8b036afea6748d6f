package trust

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Use is what a pipeline does with a module.
type Use struct {
	Name          string           // of the module's manifest
	Roles         []string         // what it plays: roles of personas, [RoleEdge] and [RoleCriterion]
	Asks, Granted []abi.Capability // by the manifest, and by the pipeline
}

// gets says what the module can use: what it asks for and is granted, and what the host offers to a persona that is granted it.
func (u *Use) gets() (list []abi.Capability) {
	for _, c := range u.Granted {
		if offered := c == abi.CapExperiment || c == abi.CapComplete; offered || slices.Contains(u.Asks, c) {
			list = append(list, c)
		}
	}
	return list
}

// Add adds a part that the module plays.
func (u *Use) Add(p Part) {
	if !slices.Contains(u.Roles, p.Role) {
		u.Roles = append(u.Roles, p.Role)
	}
	for _, grant := range p.Grants {
		if !slices.Contains(u.Granted, grant) {
			u.Granted = append(u.Granted, grant)
		}
	}
}

// Part is one of the parts that modules play in a pipeline.
type Part struct {
	Module   string
	Persona  string // its id; empty for an edge
	Fallback bool   // the module is the persona's fallback
	Role     string
	Grants   []abi.Capability
	Path     string // where the pipeline names the module
}

// Parts are those of a pipeline, in its order: of each persona and its fallback, and of each edge that is evaluated.
func Parts(def *pipeline.Definition) (list []Part) {
	for i := range def.Personas {
		p, path := &def.Personas[i], strictyaml.KeyPath("personas", def.Personas[i].ID)
		list = append(list, Part{p.Module, p.ID, false, string(p.Role), p.Grants, path + ".module"})
		if p.Fallback != "" {
			list = append(list, Part{p.Fallback, p.ID, true, string(p.Role), p.Grants, path + ".fallback"})
		}
	}
	for i := range def.Edges {
		if e := &def.Edges[i]; !e.Unconditional() {
			path := strictyaml.IndexPath("edges", i) + ".module"
			if e.Module == def.Clerk {
				path = "clerk"
			}
			list = append(list, Part{Module: e.Module, Role: RoleEdge, Path: path})
		}
	}
	return list
}

// Decision is why a module may run.
type Decision struct {
	Signer string // names of the keys, with a comma between them
	KeyID  string // likewise
	Policy string // file:line of the rule, and the digest of the policy
}

// Decide allows a module of a registry or layout if one rule of the policy allows it wholly: its repository, its name, all roles that it plays, all
// capabilities that it is granted, and enough signatures that count. Rules do not add up, and a rule that does not fit does not end the search.
// The error is a [strictyaml.Error] with the place in the policy that decides: of the rule that fits furthest, in the order above.
func (p *Policy) Decide(ctx context.Context, s Subject, documents []Document, use Use, now time.Time) (*Decision, error) {
	if p == nil {
		return nil, noPolicy(s, use)
	}
	nearest, best := p.fault("allow", CodeRepository, "no rule allows the repository %s", strictyaml.Clip(s.Repository)), 0
	var signatures []Signature // verified when the first rule asks
	for i := range p.rules {
		w, at := &p.rules[i], strictyaml.IndexPath("allow", i)
		fits, field, code, why := w.fits(s.Repository, use)
		if why == "" {
			if signatures == nil {
				signatures = p.Verify(ctx, s, documents, now)
			}
			d, fault := p.signed(w, at, signatures, s, use, now)
			if fault == nil {
				return d, nil
			}
			if best < fits {
				nearest, best = fault, fits
			}
		} else if best < fits {
			nearest, best = p.fault(at+"."+field, code, "%s", why), fits
		}
	}
	return nil, nearest
}

// fits says how many parts of a rule fit, and of the first that does not where it stands and why.
func (w *rule) fits(repository string, use Use) (n int, field string, code abi.Code, why string) {
	if !slices.ContainsFunc(w.From, func(from string) bool { return covers(from, repository) }) {
		return 0, "from", CodeRepository, "the rule is for other repositories"
	}
	if !slices.ContainsFunc(w.Names, func(pattern string) bool {
		ok, err := path.Match(pattern, use.Name)
		return ok && err == nil
	}) {
		return 1, "names", CodeName, fmt.Sprintf("modules from there may not be named %q", strictyaml.Clip(use.Name))
	}
	for _, role := range use.Roles {
		if !slices.Contains(w.Roles, role) {
			return 2, "roles", CodeRole, fmt.Sprintf("the module %q may not play the role %q", strictyaml.Clip(use.Name), strictyaml.Clip(role))
		}
	}
	for _, c := range use.gets() {
		if !slices.Contains(w.Capabilities, c) {
			return 3, "capabilities", CodeCapability, fmt.Sprintf("the module %q may not be granted %q", strictyaml.Clip(use.Name), strictyaml.Clip(string(c)))
		}
	}
	return 4, "", "", ""
}

// Folder is the folder that is opened by a path: without links, if it exists. Whoever opens a layout opens what the policy decided about.
func Folder(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// Covers gives nil if a rule of the policy is for a repository, whatever else it asks for, and otherwise the rejection that [Policy.Decide] gives. Who
// sends requests to registries for others asks it first: a repository that no rule covers gets none.
func (p *Policy) Covers(s Subject, use Use) error {
	if p == nil {
		use.Asks = use.Granted // what the module asks for is not known yet
		return noPolicy(s, use)
	}
	for i := range p.rules {
		if slices.ContainsFunc(p.rules[i].From, func(from string) bool { return covers(from, s.Repository) }) {
			return nil
		}
	}
	return p.fault("allow", CodeRepository, "no rule allows the repository %s", strictyaml.Clip(s.Repository))
}

// covers says whether a repository is what a rule names, or is below it.
func covers(from, repository string) bool {
	folder, layout := strings.CutPrefix(repository, moduleref.Layout)
	switch {
	case layout:
		under, ok := strings.CutPrefix(from, moduleref.Layout)
		if !ok || !filepath.IsAbs(folder) {
			return false
		}
		from, repository = filepath.ToSlash(Folder(under)), filepath.ToSlash(Folder(folder))
	case !clean(repository):
		return false
	case from == "*":
		return true
	}
	return repository == from || strings.HasPrefix(repository, strings.TrimSuffix(from, "/")+"/")
}

// signed gives the decision by a rule that fits but for its signatures, or what in the policy rejects them.
func (p *Policy) signed(w *rule, at string, signatures []Signature, subject Subject, use Use, now time.Time) (*Decision, *strictyaml.Error) {
	var names, ids, others []string
	var fault *strictyaml.Error
	for i := range signatures {
		s := &signatures[i]
		by := slices.IndexFunc(s.keys, func(k int) bool { return slices.Contains(w.SignedBy, p.keys[k].Name) })
		signer, field, why := s.Signer, s.field, s.Why
		if by >= 0 && field != "revoked" { // the rule's own name for an identity
			signer = p.keys[s.keys[by]].Name
			field, why = p.keys[s.keys[by]].why(now)
		}
		switch {
		case s.Type == TypeConformance:
		case s.Signer == "":
			others = append(others, strings.TrimPrefix(s.KeyID+": "+s.Why, ": "))
		case by < 0:
			others = append(others, signer+", who is not in the list")
		case field == "revoked":
			fault = p.fault(strictyaml.IndexPath("keys", s.keys[0])+"."+field, CodeRevoked, "%s", why)
		case field != "":
			fault = p.fault(strictyaml.IndexPath("keys", s.keys[by])+"."+field, CodeExpired, "%s", why)
		case s.module != nil && (s.module.Name != use.Name || s.module.Version != subject.Version || !sameSet(s.module.Capabilities, use.Asks)):
			fault = p.fault(at+".signed_by", CodeManifest, "%s has signed a module %q of version %q that asks for %v, and its manifest says %q, %q and %v",
				signer, s.module.Name, s.module.Version, s.module.Capabilities, use.Name, strictyaml.Clip(subject.Version), use.Asks)
		case !slices.Contains(names, signer) && !slices.Contains(ids, s.KeyID): // one identity is one signer, whatever its names
			names, ids = append(names, signer), append(ids, s.KeyID)
		}
	}
	if len(names) >= w.Signatures {
		line := p.places.At(at).Line
		return &Decision{strings.Join(names, ", "), strings.Join(ids, ", "), fmt.Sprintf("%s:%d %s", filepath.Base(p.file), line, p.digest)}, nil
	}
	if fault != nil {
		return nil, fault
	}
	message := "no signature by " + strings.Join(w.SignedBy, " or ")
	if w.Signatures > 1 {
		message = fmt.Sprintf("%d of %d signatures by %s", len(names), w.Signatures, strings.Join(w.SignedBy, ", "))
	}
	if len(others) > 0 {
		message += fmt.Sprintf("; %d other signatures, the first: %s", len(others), others[0])
	}
	return nil, p.fault(at+".signed_by", CodeUnsigned, "%s", message)
}

func sameSet(a, b []abi.Capability) bool {
	sorted := func(list []abi.Capability) []abi.Capability {
		return slices.Compact(slices.Sorted(slices.Values(list)))
	}
	return slices.Equal(sorted(a), sorted(b))
}

// literal makes a pattern that a name alone matches.
var literal = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)

// Example are the lines of a policy by which the key of a file may sign modules for a use, of any name if the use has none.
func Example(keyFile, repository string, use Use) []string {
	var words []string
	for _, c := range use.gets() {
		words = append(words, string(c))
	}
	capabilities := ""
	if len(words) > 0 {
		capabilities = ", capabilities: [" + strings.Join(words, ", ") + "]"
	}
	return []string{
		"keys: [{name: publisher, key: " + keyFile + "}]",
		fmt.Sprintf("allow: [{from: [%q], names: [%q], roles: [%s]%s, signed_by: [publisher]}]", repository, cmp.Or(literal.Replace(use.Name), "*"), strings.Join(use.Roles, ", "), capabilities),
	}
}

// noPolicy says what to write where.
func noPolicy(s Subject, use Use) *strictyaml.Error {
	return &strictyaml.Error{Code: CodeNoPolicy, Message: fmt.Sprintf("without a trust policy only embedded and local modules run, not those of %s. "+
		"Write a policy, and name it with --trust, or put it into your configuration folder as shadowcourt/trust.yaml:\n%s",
		strictyaml.Clip(s.Repository), strings.Join(Example("publisher.key.pub", s.Repository, use), "\n"))}
}
