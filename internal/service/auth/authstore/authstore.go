// Package authstore keeps the tokens and sessions of package auth in the store of the service.
package authstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// New gives the tokens and sessions of a store, which notes to the minute when a token was used.
func New(s *store.Store) auth.Store { return tokens{s} }

type tokens struct{ store *store.Store }

func (t tokens) AuthToken(ctx context.Context, hash auth.Hash) (*auth.Token, error) {
	found, err := t.store.Token(ctx, hash.String())
	if err != nil {
		return nil, unknown(err)
	}
	return &auth.Token{
		Name: found.Name, Submitter: found.Submitter, Scopes: scopes(found.Scopes), Repositories: found.Repositories, Created: found.Created, Expires: found.Expires,
		Revoked: found.Revoked,
	}, nil
}

// Limit goes around what reads the store for requests: whoever is limited to repositories sees nothing of others.
func Limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who := auth.From(r.Context()); who.Limited() {
			r = r.WithContext(store.Within(r.Context(), who.Repositories))
		}
		next.ServeHTTP(w, r)
	})
}

func (t tokens) AddSession(ctx context.Context, s *auth.Session) error {
	kept := store.Session{Subject: s.Submitter, Name: s.Name, Expires: s.Expires}
	for _, scope := range s.Scopes {
		kept.Scopes = append(kept.Scopes, string(scope))
	}
	if s.Token != (auth.Hash{}) {
		kept.Data = s.Token.String()
	}
	return t.store.AddSession(ctx, s.Hash.String(), kept)
}

func (t tokens) AuthSession(ctx context.Context, hash auth.Hash) (*auth.Session, error) {
	found, err := t.store.Session(ctx, hash.String())
	if err != nil {
		return nil, unknown(err)
	}
	s := &auth.Session{
		Hash: hash, Submitter: found.Subject, Name: found.Name, Scopes: scopes(found.Scopes), Created: found.Created, Expires: found.Expires,
	}
	if found.Data == "" {
		return s, nil
	}
	token, err := hex.DecodeString(found.Data)
	if err != nil || len(token) != len(s.Token) {
		return nil, fmt.Errorf("a session of a token without its hash: %w", auth.ErrUnknown)
	}
	s.Token = auth.Hash(token)
	return s, nil
}

func (t tokens) EndSession(ctx context.Context, hash auth.Hash) error {
	return t.store.RemoveSession(ctx, hash.String())
}

func unknown(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return auth.ErrUnknown
	}
	return err
}

func scopes(words []string) []auth.Scope {
	out := make([]auth.Scope, len(words))
	for i, w := range words {
		out[i] = auth.Scope(w)
	}
	return out
}
