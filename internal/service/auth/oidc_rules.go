package auth

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

// groupRule begins a rule that matches a group.
const groupRule = "group:"

// claims are what rules look at.
type claims struct {
	Email    string
	Verified bool
	Groups   []string
}

// claims reads the claims of a verified ID token. Some issuers write email_verified as a string.
func (p *provider) claims(token *oidc.IDToken) (*claims, error) {
	var all map[string]json.RawMessage
	if err := token.Claims(&all); err != nil {
		return nil, err
	}
	c := &claims{}
	if raw, ok := all["email"]; ok {
		if err := json.Unmarshal(raw, &c.Email); err != nil {
			return nil, fmt.Errorf("claim email: %w", err)
		}
	}
	verified := string(all["email_verified"])
	c.Verified = verified == "true" || verified == `"true"`
	name := p.config.GroupsClaim
	if name == "" {
		name = "groups"
	}
	if raw, ok := all[name]; ok {
		if err := json.Unmarshal(raw, &c.Groups); err != nil {
			return nil, fmt.Errorf("claim %s is no list of names: %w", name, err)
		}
	}
	return c, nil
}

// name is what others see of a person.
func (c *claims) name(subject string) string {
	if c.Email != "" && c.Verified {
		return strings.ToLower(c.Email)
	}
	return subject
}

// scopes are what the rules let a person do; none: the person may not sign in.
func (o *OIDC) scopes(c *claims) []Scope {
	switch {
	case slices.ContainsFunc(o.Operate, c.matches):
		return AllScopes()
	case slices.ContainsFunc(o.Allow, c.matches):
		return []Scope{Submit, Review}
	}
	return nil
}

func (c *claims) matches(rule string) bool {
	if rule == "*" {
		return true
	}
	if group, ok := strings.CutPrefix(rule, groupRule); ok {
		return slices.Contains(c.Groups, group)
	}
	at := strings.LastIndexByte(c.Email, '@')
	if !c.Verified || at <= 0 {
		return false
	}
	if strings.HasPrefix(rule, "@") {
		return strings.EqualFold(c.Email[at:], rule)
	}
	return strings.EqualFold(c.Email, rule)
}
