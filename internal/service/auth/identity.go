package auth

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Scope is what a token or a person may do. Reading needs any of them.
type Scope string

// The scopes. Operate includes the others.
const (
	Submit  Scope = "submit"  // submit dockets, follow and cancel them
	Review  Scope = "review"  // correct verdicts, and undo corrections
	Operate Scope = "operate" // modules, tokens, the audit log, and everything else
	// Everywhere is no scope of a token: it is what operate allows without a limit to repositories, since it concerns all of them.
	Everywhere Scope = "operate, without a limit to repositories"
)

// AllScopes are all scopes, in the order in which they are listed.
func AllScopes() []Scope { return []Scope{Submit, Review, Operate} }

// ParseScopes reads a list such as "submit,review". The scopes come back sorted and once each. An empty list is an error.
func ParseScopes(text string) ([]Scope, error) {
	var out []Scope
	for part := range strings.SplitSeq(text, ",") {
		s := Scope(strings.TrimSpace(part))
		if !slices.Contains(AllScopes(), s) {
			return nil, fmt.Errorf("scope %q is unknown: use submit, review, operate, or several with commas", string(s))
		}
		out = append(out, s)
	}
	return sorted(out), nil
}

// sorted puts scopes into the order of AllScopes, once each.
func sorted(scopes []Scope) []Scope {
	return slices.DeleteFunc(AllScopes(), func(s Scope) bool { return !slices.Contains(scopes, s) })
}

// How somebody was identified.
const (
	ViaLocal   = "local" // the token of whoever runs the server
	ViaToken   = "token"
	ViaSession = "session"
)

// Identity is who sends a request.
type Identity struct {
	// Submitter is whose dockets they are: fairness and idempotency keys are by submitter. The same for all tokens of one submitter.
	Submitter string
	// Name is for people and for the audit log: a token's name, or a person's address.
	Name   string
	Scopes []Scope
	// Repositories are those whose dockets they see and submit; none are no limit.
	Repositories []string
	Via          string
}

// Names of submitters that are the service's own: no token has them.
const (
	LocalName  = "local" // whoever runs the service
	OIDCPrefix = "oidc:" // and the subject
)

// Limited says whether they see the dockets of some repositories alone.
func (i *Identity) Limited() bool { return i != nil && len(i.Repositories) > 0 }

// Can says whether the scopes allow something.
func (i *Identity) Can(s Scope) bool {
	if s == Everywhere {
		return i.Can(Operate) && !i.Limited()
	}
	return i != nil && (slices.Contains(i.Scopes, s) || slices.Contains(i.Scopes, Operate))
}

type identityKey struct{}

// From is who sends the request of a context; nil where nobody was identified.
func From(ctx context.Context) *Identity {
	who, _ := ctx.Value(identityKey{}).(*Identity)
	return who
}

// With puts an identity into a context.
func With(ctx context.Context, who *Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, who)
}
