package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

func (s *server) people() {
	const tag = "operations"
	huma.Register(s.api, operation("who-am-i", http.MethodGet, "/me", tag, "", "Read who you are and what you may do"), s.me)
	huma.Register(s.api, operation("list-tokens", http.MethodGet, "/tokens", tag, auth.Operate, "List tokens, the latest first"), s.listTokens)
	add := operation("add-token", http.MethodPost, "/tokens", tag, auth.Operate, "Make a token")
	add.Description += " The token is shown once; a hash of it is kept. Whoever is limited to repositories can make tokens for these alone."
	add.DefaultStatus = http.StatusCreated
	huma.Register(s.api, add, s.addToken)
	revoke := operation("revoke-token", http.MethodDelete, "/tokens/{token}", tag, auth.Operate, "Revoke a token, at once")
	revoke.DefaultStatus = http.StatusNoContent
	huma.Register(s.api, revoke, s.revokeToken)
	huma.Register(s.api, operation("read-audit-log", http.MethodGet, "/audit-log", tag, auth.Everywhere, "Read who did what, the latest first"), s.auditLog)
}

// log notes who did what.
func (s *server) log(ctx context.Context, action, target, details string) error {
	err := s.Store.Log(ctx, store.Action{Author: auth.From(ctx).Name, Action: action, Target: target, Details: details})
	if err != nil {
		return s.fail(ctx, err)
	}
	return nil
}

type meOutput struct {
	Body struct {
		Submitter    string   `json:"submitter" doc:"Whose dockets you submit"`
		Name         string   `json:"name" doc:"What others see of you"`
		Scopes       []string `json:"scopes" doc:"What you may do"`
		Repositories []string `json:"repositories,omitempty" doc:"Repositories whose dockets you see and submit; absent: all"`
		Via          string   `json:"via" enum:"local,token,session" doc:"How you were identified"`
	}
}

func (*server) me(ctx context.Context, _ *struct{}) (*meOutput, error) {
	who := auth.From(ctx)
	out := &meOutput{}
	out.Body.Submitter, out.Body.Name, out.Body.Via, out.Body.Scopes = who.Submitter, who.Name, who.Via, auth.Words(who.Scopes)
	out.Body.Repositories = who.Repositories
	return out, nil
}

// Token is what is kept of a token.
type Token struct {
	ID           int64      `json:"id" minimum:"1" doc:"ID of the token, to revoke it"`
	Name         string     `json:"name" doc:"Name for people"`
	Submitter    string     `json:"submitter" doc:"Whose dockets are submitted with it"`
	Scopes       []string   `json:"scopes" doc:"What it may do"`
	Repositories []string   `json:"repositories,omitempty" doc:"Repositories whose dockets it sees and submits; absent: all"`
	Author       string     `json:"author,omitempty" doc:"Who made it"`
	Created      time.Time  `json:"created" doc:"When it was made"`
	Used         *time.Time `json:"used,omitempty" doc:"When it was used last, to about a minute"`
	Expires      *time.Time `json:"expires,omitempty" doc:"When it ends by itself"`
	Revoked      *time.Time `json:"revoked,omitempty" doc:"When it was revoked"`
}

func tokenOf(t *store.Token) Token {
	return Token{
		ID: t.ID, Name: t.Name, Submitter: t.Submitter, Scopes: t.Scopes, Repositories: t.Repositories, Author: t.Author, Created: t.Created, Used: timeOf(t.Used), Expires: timeOf(t.Expires),
		Revoked: timeOf(t.Revoked),
	}
}

type tokensOutput struct {
	Body struct {
		Tokens []Token `json:"tokens"`
	}
}

func (s *server) listTokens(ctx context.Context, _ *struct{}) (*tokensOutput, error) {
	list, err := s.Store.Tokens(ctx)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	out := &tokensOutput{}
	out.Body.Tokens = make([]Token, len(list))
	for i := range list {
		out.Body.Tokens[i] = tokenOf(&list[i])
	}
	return out, nil
}

type addTokenInput struct {
	Body struct {
		Name         string   `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" patternDescription:"a name without control characters" doc:"Name for people"`
		Submitter    string   `json:"submitter,omitempty" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]*$" patternDescription:"a name without control characters" doc:"Whose dockets are submitted with it; without one the name, or your own submitter if you are limited to repositories"`
		Scopes       []string `json:"scopes" minItems:"1" maxItems:"3" enum:"submit,review,operate" doc:"What it may do"`
		Repositories []string `json:"repositories,omitempty" maxItems:"100" doc:"Repositories whose dockets it sees and submits; without any: all, or those of whoever makes it"`
		Days         int      `json:"days,omitempty" minimum:"0" maximum:"3660" doc:"Days until it ends by itself; 0: never"`
	}
}

type addTokenOutput struct {
	Body struct {
		Token
		Secret string `json:"secret" doc:"The token; it is not shown again"`
	}
}

func (s *server) addToken(ctx context.Context, in *addTokenInput) (*addTokenOutput, error) {
	who := auth.From(ctx)
	repositories, err := tokenRepositories(who, in.Body.Repositories)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	submitter, err := tokenSubmitter(who, in.Body.Name, in.Body.Submitter)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	secret, err := auth.NewToken(s.Random)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	var scopes []string
	for _, scope := range in.Body.Scopes {
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	t := store.Token{Name: in.Body.Name, Submitter: submitter, Scopes: scopes, Repositories: repositories, Author: who.Name}
	if in.Body.Days > 0 {
		t.Expires = s.Now().AddDate(0, 0, in.Body.Days)
	}
	added, err := s.Store.AddToken(ctx, auth.HashOf(secret).String(), t)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	out := &addTokenOutput{}
	out.Body.Token, out.Body.Secret = tokenOf(&added), secret
	return out, s.log(ctx, "token.add", "token "+strconv.FormatInt(added.ID, 10), added.Name)
}

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

// maxRepository is the most characters of a repository's name, as dockets have it.
const maxRepository = 200

// tokenRepositories are those of a new token: what was asked for, within what its maker sees.
func tokenRepositories(who *auth.Identity, asked []string) ([]string, error) {
	if len(asked) == 0 {
		return who.Repositories, nil
	}
	for i, r := range asked {
		path := fmt.Sprintf("body.repositories[%d]", i)
		switch {
		case r == "" || utf8.RuneCountInString(r) > maxRepository || strings.ContainsFunc(r, unicode.IsControl):
			return nil, invalid(path, abi.CodeInvalidValue, "is no name of a repository: use 1 to %d characters, and no control characters", maxRepository)
		case who.Limited() && !slices.Contains(who.Repositories, r):
			return nil, forbidden(path + ": you are limited to other repositories")
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(asked))), nil
}

type tokenPath struct {
	ID int64 `path:"token" minimum:"1" doc:"ID of a token"`
}

func (s *server) revokeToken(ctx context.Context, in *tokenPath) (*struct{}, error) {
	if err := s.Store.RevokeToken(ctx, in.ID); err != nil {
		return nil, s.fail(ctx, err)
	}
	return nil, s.log(ctx, "token.revoke", "token "+strconv.FormatInt(in.ID, 10), "")
}

// Action is a line of the audit log.
type Action struct {
	ID      int64     `json:"id" minimum:"1" doc:"ID of the line"`
	Time    time.Time `json:"time" doc:"When"`
	Author  string    `json:"author" doc:"Who"`
	Action  string    `json:"action" doc:"Did what" example:"generation.activate"`
	Target  string    `json:"target" doc:"To what" example:"generation 7"`
	Details string    `json:"details,omitempty" doc:"And more of it"`
	Number  int64     `json:"number" minimum:"1" doc:"Number of the line, without gaps"`
	Digest  string    `json:"digest" doc:"SHA-256 of the line and of all before it; serve audit verify verifies them"`
}

type auditLogOutput struct {
	Body struct {
		Actions []Action `json:"actions"`
		Next    string   `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
	}
}

func (s *server) auditLog(ctx context.Context, in *Page) (*auditLogOutput, error) {
	list, err := s.Store.AuditLog(ctx, in.before(), in.Limit)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	out := &auditLogOutput{}
	out.Body.Actions = make([]Action, len(list))
	for i, a := range list {
		out.Body.Actions[i] = Action{ID: a.ID, Time: a.Time, Author: a.Author, Action: a.Action, Target: a.Target, Details: a.Details, Number: a.Number, Digest: a.Digest}
		out.Body.Next = in.next(len(list), a.ID)
	}
	return out, nil
}
