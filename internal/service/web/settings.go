package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/service/auth"
)

// login is the page to sign in; package auth takes its form.
func (s *site) login(w http.ResponseWriter, r *http.Request) error {
	back := auth.ReturnPath(r.URL.Query().Get("return"))
	return s.show(w, r, http.StatusOK, &view{Page: "login", Title: "Sign in", Data: struct {
		Return, OIDC, Failed string
		Local                bool
	}{back, s.oidc(back), r.URL.Query().Get("failed"), s.config.Auth.HasLocal()}})
}

// oidc is the address to sign in by OpenID Connect; empty where nobody can.
func (s *site) oidc(back string) string {
	if !s.config.Auth.HasOIDC() {
		return ""
	}
	return auth.OIDCPath + "?" + url.Values{"return": {back}}.Encode()
}

// settingsView is the page of settings. Secret is a token that was just made: no other page shows it again.
type settingsView struct {
	Tokens          []Token
	Secret, Name    string
	Scopes          []auth.Scope
	Version, Server string
}

func (s *site) settingsView(r *http.Request) (*settingsView, error) {
	v := &settingsView{Scopes: auth.AllScopes(), Version: s.config.Version}
	if !auth.From(r.Context()).Can(auth.Operate) {
		return v, nil
	}
	var err error
	v.Tokens, err = s.config.Backend.Tokens(r.Context())
	return v, err
}

func (s *site) settings(w http.ResponseWriter, r *http.Request) error {
	v, err := s.settingsView(r)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, &view{Page: "settings", Section: "settings", Title: "Settings", Data: v})
}

func (s *site) addToken(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return &UserError{"the form can't be read: it must be urlencoded and at most 1 MiB"}
	}
	name := strings.TrimSpace(r.PostForm.Get("name"))
	var scopes []string
	for _, scope := range auth.AllScopes() {
		if slices.Contains(r.PostForm["scope"], string(scope)) {
			scopes = append(scopes, string(scope))
		}
	}
	switch {
	case name == "" || len(name) > 100:
		return &UserError{"a token needs a name of at most 100 bytes"}
	case len(scopes) == 0:
		return &UserError{"a token needs at least one scope"}
	}
	secret, err := s.config.Backend.AddToken(r.Context(), name, scopes, strings.Fields(strings.ReplaceAll(r.PostForm.Get("repositories"), ",", " ")))
	if err != nil {
		return err
	}
	v, err := s.settingsView(r)
	if err != nil {
		return err
	}
	v.Secret, v.Name = secret, name
	return s.show(w, r, http.StatusOK, &view{Page: "settings", Section: "settings", Title: "Settings", Data: v})
}

func (s *site) revokeToken(w http.ResponseWriter, r *http.Request) error {
	if err := s.config.Backend.RevokeToken(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	http.Redirect(w, r, "/settings?did=revoke", http.StatusSeeOther)
	return nil
}
