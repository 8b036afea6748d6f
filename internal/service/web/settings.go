package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// login is the page to sign in; package auth takes its form.
func (s *site) login(w http.ResponseWriter, r *http.Request) error {
	back := auth.ReturnPath(r.URL.Query().Get("return"))
	v := struct {
		Return, Failed string
		OIDC           string // the address to sign in by OpenID Connect; empty where nobody can
		Local          bool
	}{Return: back, Failed: r.URL.Query().Get("failed"), Local: s.Auth.HasLocal()}
	if s.Auth.HasOIDC() {
		v.OIDC = auth.OIDCPath + "?" + url.Values{"return": {back}}.Encode()
	}
	return s.show(w, r, http.StatusOK, &view{Page: "login", Title: "Sign in", Data: v})
}

// settingsView is the page of settings. Made is a token that was just made: no other page shows its secret again.
type settingsView struct {
	Tokens  []store.Token
	Made    api.AddTokenAnswer
	Scopes  []auth.Scope
	Version string
}

func (s *site) settings(w http.ResponseWriter, r *http.Request) error {
	return s.showSettings(w, r, api.AddTokenAnswer{})
}

func (s *site) showSettings(w http.ResponseWriter, r *http.Request, made api.AddTokenAnswer) (err error) {
	v := &settingsView{Made: made, Scopes: auth.AllScopes(), Version: s.Version}
	if auth.From(r.Context()).Can(auth.Operate) {
		if v.Tokens, err = s.Tokens(r.Context()); err != nil {
			return err
		}
	}
	return s.show(w, r, http.StatusOK, &view{Page: "settings", Section: "settings", Title: "Settings", Data: v})
}

func (s *site) addToken(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return errForm
	}
	made, err := s.AddToken(r.Context(), &api.AddTokenRequest{
		Name: strings.TrimSpace(r.PostForm.Get("name")), Scopes: r.PostForm["scope"],
		Repositories: strings.Fields(strings.ReplaceAll(r.PostForm.Get("repositories"), ",", " ")),
	})
	if err != nil {
		return err
	}
	return s.showSettings(w, r, made)
}

func (s *site) revokeToken(w http.ResponseWriter, r *http.Request) error {
	return act(w, r, s.RevokeToken, func(int64) string { return "/settings?did=revoke" })
}
