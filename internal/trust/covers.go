package trust

import (
	"path"
	"slices"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Digest is that of the policy's file, "sha256:" and 64 hex digits; empty without a policy. It ends [Decision.Policy].
func (p *Policy) Digest() string {
	if p == nil {
		return ""
	}
	return p.digest
}

// Covers gives nil if a rule of the policy is for a repository, whatever else it asks for, and otherwise the rejection that [Policy.Decide] gives. Who
// sends requests to registries for others asks it first: a repository that no rule covers gets none.
func (p *Policy) Covers(s Subject, use Use) error {
	if p == nil {
		use.Name = path.Base(s.Repository) // not known yet; the message is an example
		return noPolicy(s, use)
	}
	for i := range p.rules {
		if slices.ContainsFunc(p.rules[i].From, func(from string) bool { return covers(from, s.Repository) }) {
			return nil
		}
	}
	return p.fault("allow", CodeRepository, "no rule allows the repository %s", strictyaml.Clip(s.Repository))
}
