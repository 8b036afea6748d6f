package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

func (s *server) people() {
	const tag = "operations"
	register(s, operation("who-am-i", http.MethodGet, "/me", tag, "", "Read who you are and what you may do"), me)
	register(s, operation("list-tokens", http.MethodGet, "/tokens", tag, auth.Operate, "List tokens, the latest first"),
		func(ctx context.Context, _ *struct{}) (*answer[TokensAnswer], error) {
			list, err := s.Tokens(ctx)
			return reply(TokensAnswer{list}, err)
		})
	add := operation("add-token", http.MethodPost, "/tokens", tag, auth.Operate, "Make a token")
	add.Description += " The token is shown once; a hash of it is kept. Whoever is limited to repositories can make tokens for these alone."
	add.DefaultStatus = http.StatusCreated
	register(s, add, func(ctx context.Context, in *struct{ Body AddTokenRequest }) (*answer[AddTokenAnswer], error) {
		return reply(s.AddToken(ctx, &in.Body))
	})
	days := s.api.OpenAPI().Components.Schemas.Map()["AddTokenRequest"].Properties["days"]
	days.Maximum = new(float64(MaxTokenDays))
	days.PrecomputeMessages()
	revoke := operation("revoke-token", http.MethodDelete, "/tokens/{token}", tag, auth.Operate, "Revoke a token, at once")
	revoke.DefaultStatus = http.StatusNoContent
	register(s, revoke, func(ctx context.Context, in *tokenPath) (*struct{}, error) { return nil, s.RevokeToken(ctx, in.ID) })
	register(s, operation("read-audit-log", http.MethodGet, "/audit-log", tag, auth.Everywhere, "Read who did what, the latest first"),
		func(ctx context.Context, in *Page) (*answer[AuditLogAnswer], error) {
			list, err := s.Store.AuditLog(ctx, in.before(), in.Limit)
			return reply(AuditLogAnswer{list, nextOf(in, list, func(a *store.Action) int64 { return a.ID })}, err)
		})
}

// may gives who asks, if the scope lets them.
func may(ctx context.Context, scope auth.Scope) (*auth.Identity, error) {
	who := auth.From(ctx)
	if fault := auth.Check(who, scope); fault != nil {
		return nil, fault
	}
	return who, nil
}

// log notes who did what to which row.
func (o *Operations) log(ctx context.Context, action, target string, id int64, details string) error {
	return o.Store.Log(ctx, store.Action{Author: auth.From(ctx).Name, Action: action, Target: target + " " + strconv.FormatInt(id, 10), Details: details})
}

// MeAnswer is who asks.
type MeAnswer struct {
	Submitter    string   `json:"submitter" doc:"Whose dockets you submit"`
	Name         string   `json:"name" doc:"What others see of you"`
	Scopes       []string `json:"scopes" doc:"What you may do"`
	Repositories []string `json:"repositories,omitempty" doc:"Repositories whose dockets you see and submit; absent: all"`
	Via          string   `json:"via" enum:"local,token,session" doc:"How you were identified"`
}

func me(ctx context.Context, _ *struct{}) (*answer[MeAnswer], error) {
	who := auth.From(ctx)
	return reply(MeAnswer{who.Submitter, who.Name, auth.Words(who.Scopes), who.Repositories, who.Via}, nil)
}

// TokensAnswer are all tokens.
type TokensAnswer struct {
	Tokens []store.Token `json:"tokens"`
}

// Tokens lists tokens.
func (o *Operations) Tokens(ctx context.Context) ([]store.Token, error) {
	if _, err := may(ctx, auth.Operate); err != nil {
		return nil, err
	}
	return o.Store.Tokens(ctx)
}

// MaxTokenDays is how long a token may last that ends by itself.
const MaxTokenDays = 3660

// AddTokenRequest is a token to make.
type AddTokenRequest struct {
	Name         string   `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" patternDescription:"a name without control characters" doc:"Name for people"`
	Submitter    string   `json:"submitter,omitempty" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]*$" patternDescription:"a name without control characters" doc:"Whose dockets are submitted with it; without one the name, or your own submitter if you are limited to repositories"`
	Scopes       []string `json:"scopes" minItems:"1" maxItems:"3" enum:"submit,review,operate" doc:"What it may do"`
	Repositories []string `json:"repositories,omitempty" maxItems:"100" doc:"Repositories whose dockets it sees and submits; without any: all, or those of whoever makes it"`
	Days         int      `json:"days,omitempty" minimum:"0" doc:"Days until it ends by itself; 0: never"`
}

// AddTokenAnswer is a token with its secret, which is not kept.
type AddTokenAnswer struct {
	store.Token
	Secret string `json:"secret" doc:"The token; it is not shown again"`
}

// AddToken makes a token, within what its maker may do.
func (o *Operations) AddToken(ctx context.Context, in *AddTokenRequest) (out AddTokenAnswer, err error) {
	who, err := may(ctx, auth.Operate)
	if err != nil {
		return out, err
	}
	t := store.Token{Name: in.Name, Author: who.Name}
	if t.Scopes, err = tokenScopes(in); err != nil {
		return out, err
	}
	if t.Repositories, err = tokenRepositories(who, in.Repositories); err != nil {
		return out, err
	}
	if t.Submitter, err = tokenSubmitter(who, in.Name, in.Submitter); err != nil {
		return out, err
	}
	switch {
	case in.Days < 0 || in.Days > MaxTokenDays:
		return out, invalid("body.days", abi.CodeOutOfRange, "is not from 0 to %d", MaxTokenDays)
	case in.Days > 0:
		t.Expires = o.Now().AddDate(0, 0, in.Days)
	}
	if out.Secret, err = auth.NewToken(o.Random); err != nil {
		return out, err
	}
	if out.Token, err = o.Store.AddToken(ctx, auth.HashOf(out.Secret), t); err != nil {
		return out, err
	}
	return out, o.log(ctx, "token.add", "token", out.ID, out.Name)
}

// tokenScopes are those of a new token, once each, where its name is one, too.
func tokenScopes(in *AddTokenRequest) ([]string, error) {
	for path, name := range map[string]string{"body.name": in.Name, "body.submitter": in.Submitter} {
		if utf8.RuneCountInString(name) > maxTokenName || strings.ContainsFunc(name, isControl) || path == "body.name" && name == "" {
			return nil, invalid(path, abi.CodeInvalidValue, "is no name of a token: use 1 to %d characters, and no control characters", maxTokenName)
		}
	}
	var scopes []string
	for i, scope := range in.Scopes {
		if !slices.Contains(auth.AllScopes(), auth.Scope(scope)) {
			return nil, invalid(fmt.Sprintf("body.scopes[%d]", i), abi.CodeInvalidValue, "is no scope: use submit, review or operate")
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	if len(scopes) == 0 {
		return nil, invalid("body.scopes", abi.CodeEmpty, "a token needs at least one scope")
	}
	return scopes, nil
}

// isControl says what no name has: control characters, and the one that stands for bytes that are not UTF-8, since two names would become one.
func isControl(c rune) bool { return c < ' ' || c == '\x7f' || c == utf8.RuneError }

// The most characters of a token's name, and the most repositories that it is limited to: see AddTokenRequest.
const (
	maxTokenName    = 100
	maxRepositories = 100
)

// tokenSubmitter is the submitter of a new token. Whoever is limited to repositories makes tokens of their own submitter: idempotency keys and
// places for uploads belong to submitters, whatever their repositories are.
func tokenSubmitter(who *auth.Identity, name, asked string) (string, error) {
	for path, given := range map[string]string{"body.name": name, "body.submitter": asked} {
		if given == auth.LocalName || strings.HasPrefix(given, auth.OIDCPrefix) {
			return "", invalid(path, abi.CodeInvalidValue, "%q is the service's own name for somebody who signed in: use another", given)
		}
	}
	switch {
	case who.Limited() && asked != "" && asked != who.Submitter:
		return "", forbidden("body.submitter: you are limited to repositories, and make tokens of " + who.Submitter + " alone")
	case who.Limited():
		return who.Submitter, nil
	case asked != "":
		return asked, nil
	default:
		return name, nil
	}
}

// tokenRepositories are those of a new token: what was asked for, within what its maker sees.
func tokenRepositories(who *auth.Identity, asked []string) ([]string, error) {
	if len(asked) == 0 {
		return who.Repositories, nil
	}
	if len(asked) > maxRepositories {
		return nil, invalid("body.repositories", abi.CodeBadCount, "has more than %d repositories", maxRepositories)
	}
	for i, r := range asked {
		path := fmt.Sprintf("body.repositories[%d]", i)
		switch {
		case r == "" || utf8.RuneCountInString(r) > maxText || strings.ContainsFunc(r, unicode.IsControl) || strings.ContainsFunc(r, isControl):
			return nil, invalid(path, abi.CodeInvalidValue, "is no name of a repository: use 1 to %d characters, and no control characters", maxText)
		case who.Limited() && !slices.Contains(who.Repositories, r):
			return nil, forbidden(path + ": you are limited to other repositories")
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(asked))), nil
}

type tokenPath struct {
	ID int64 `path:"token" minimum:"1" doc:"ID of a token"`
}

// RevokeToken ends a token, at once.
func (o *Operations) RevokeToken(ctx context.Context, id int64) error {
	if _, err := may(ctx, auth.Operate); err != nil {
		return err
	}
	if err := o.Store.RevokeToken(ctx, id); err != nil {
		return err
	}
	return o.log(ctx, "token.revoke", "token", id, "")
}

// AuditLogAnswer is a page of the audit log.
type AuditLogAnswer struct {
	Actions []store.Action `json:"actions"`
	Next    string         `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
}
