package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// asker sends requests with a token.
type asker struct {
	t             *testing.T
	server, token string
}

// do gives the status and the text of an answer.
func (a *asker) do(method, path, body string) (status int, text string) {
	a.t.Helper()
	r := must.Get(http.NewRequestWithContext(a.t.Context(), method, a.server+path, strings.NewReader(body)))(a.t)
	r.Header.Set("Authorization", "Bearer "+a.token)
	if body != "" && body[0] == '{' {
		r.Header.Set("Content-Type", "application/json")
	}
	if !strings.HasPrefix(path, "/api/") {
		r.Header.Set("Accept", "text/html")
	}
	response, err := http.DefaultClient.Do(r)
	must.Do(a.t, err)
	defer func() { _ = response.Body.Close() }()
	read := must.Get(io.ReadAll(response.Body))(a.t)
	return response.StatusCode, string(read)
}

// want does it, and checks the status.
func (a *asker) want(status int, method, path, body string) string {
	a.t.Helper()
	got, text := a.do(method, path, body)
	if got != status {
		a.t.Errorf("%s %s: %d, want %d: %.400s", method, path, got, status, text)
	}
	return text
}

// secretDocket has cases whose every text says sekrit.
const secretDocket = `{"id":"sekrit.One","subject":"sekrit subject","labels":["pb001","ab001"],"light":{"classification":"pb001","confidence":0.55,"reasoning":"sekrit"},"evidence":[],"documents":[{"name":"sekrit.log","text":"sekrit.go:7: sekrit failure"}],"truth":{"classification":"ab001"}}
{"id":"sekrit.Two","subject":"sekrit too","labels":["pb001","ab001"],"light":{"classification":"ab001","confidence":0.55,"reasoning":"sekrit"},"evidence":[],"documents":[{"name":"sekrit.log","text":"sekrit.go:8: another sekrit failure"}]}
`

// TestAccept_SV5_TokensAreLimitedToRepositories: every operation of the API and every page that reads is asked for all that belongs to
// another repository. None of them says a word of it, and what is named by an ID is as if it was not there.
func TestAccept_SV5_TokensAreLimitedToRepositories(t *testing.T) {
	t.Parallel()
	data, u := t.TempDir(), newUser(t)
	u.run(t, "", "key", "new", filepath.Join(data, "court.key")).wants(t, 0)
	server := startServiceWith(t, data, "0.0.0.0:0", "--key", filepath.Join(data, "court.key"))
	server = "http://127.0.0.1:" + server[strings.LastIndex(server, ":")+1:]
	add := func(name, scopes string, more ...string) *asker {
		t.Helper()
		made := u.run(t, "", append([]string{"serve", "token", "add", name, "--scopes", scopes, "--data", data}, more...)...)
		made.wants(t, 0)
		return &asker{t, server, strings.TrimSpace(made.out)}
	}
	all, limited := add("root", "operate"), add("shop", "operate", "--repository", "shop", "--repository", "other shop")
	u.run(t, "", "serve", "token", "list", "--data", data).wants(t, 0, "\tall\n", "\tother shop,shop\n")

	// Dockets 1 and 2 are sekrit: the second has a case of the third, too.
	shared := `{"id":"shared.Case","subject":"shared","labels":["pb001","ab001"],"light":{"classification":"pb001","confidence":0.5,"reasoning":"r"},"evidence":[],"documents":[{"name":"log","text":"shared failure"}]}` + "\n"
	for _, body := range []string{secretDocket, strings.ReplaceAll(secretDocket, "failure", "fault") + shared} {
		all.want(202, "POST", "/api/v1/dockets?name=sekrit&repository=sekrit/repo&revision=sekrit", body)
	}
	all.want(200, "GET", "/api/v1/dockets/1/results?wait=true", "")
	all.want(200, "GET", "/api/v1/dockets/2/results?wait=true", "")
	limited.want(403, "POST", "/api/v1/dockets?repository=sekrit/repo", shared)
	limited.want(403, "POST", "/api/v1/dockets", shared)
	limited.want(202, "POST", "/api/v1/dockets?name=own&repository=shop", shared)
	limited.want(200, "GET", "/api/v1/dockets/3/results?wait=true", "")
	all.want(201, "POST", "/api/v1/corrections", `{"label":"pb001","trials":["1-2"]}`)
	all.want(201, "POST", "/api/v1/corrections", `{"label":"ab001","trials":["2-3","3-1"]}`) // of both

	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	must.Do(t, json.Unmarshal([]byte(all.want(200, "GET", "/openapi.json", "")), &document))
	ids := strings.NewReplacer("{docket}", "1", "{trial}", "1-1", "{correction}", "1", "{generation}", "1", "{activation}", "1", "{digest}", strings.Repeat("0", 64))
	paths := []string{
		"/", "/?q=sekrit", "/?repository=sekrit/repo", "/dockets", "/dockets?q=sekrit", "/dockets/1", "/dockets/1?q=sekrit", "/trials/1-1", "/trials/1-1/brief", "/trials/1-1/documents/0",
		"/modules", "/modules/1", "/quality", "/quality?repository=sekrit/repo", "/settings", "/metrics",
	}
	for path, operations := range document.Paths {
		if operations["get"] != nil {
			paths = append(paths, ids.Replace(path))
		}
	}
	if len(paths) < 30 {
		t.Fatalf("few paths: %q", paths)
	}
	shown := 0
	for _, path := range paths {
		status, text := limited.do("GET", path, "")
		if strings.Contains(text, "sekrit") && !strings.Contains(path, "sekrit") {
			t.Errorf("GET %s says: %d %.2000s", path, status, text)
		}
		if named := strings.Contains(path, "/1-1") || strings.Contains(path, "dockets/1"); named && status != 404 {
			t.Errorf("GET %s: %d", path, status)
		}
		if status, text = all.do("GET", path, ""); status == 200 && strings.Contains(text, "sekrit") {
			shown++ // the test would find it
		}
	}
	if shown < 15 {
		t.Errorf("%d paths tell an unlimited token of the cases", shown)
	}
	for _, path := range []string{"/?q=sekrit", "/dockets?q=sekrit", "/?repository=sekrit/repo", "/quality?repository=sekrit/repo"} {
		if text := limited.want(200, "GET", path, ""); strings.Contains(text, "sekrit.One") || strings.Contains(text, "sekrit subject") {
			t.Errorf("GET %s finds a case", path)
		}
	}

	// Counts and corrections are those of its own trials.
	var corrections struct {
		Corrections []struct {
			ID     int64 `json:"id"`
			Trials int   `json:"trials"`
		} `json:"corrections"`
	}
	must.Do(t, json.Unmarshal([]byte(limited.want(200, "GET", "/api/v1/corrections", "")), &corrections))
	if c := corrections.Corrections; len(c) != 1 || c[0].ID != 2 || c[0].Trials != 1 {
		t.Errorf("%+v", c)
	}
	limited.want(404, "POST", "/api/v1/corrections", `{"label":"pb001","trials":["1-1"]}`)
	limited.want(404, "DELETE", "/api/v1/corrections/1", "")
	limited.want(409, "DELETE", "/api/v1/corrections/2", "")
	limited.want(404, "DELETE", "/api/v1/dockets/1", "")
	if text := limited.want(200, "GET", "/api/v1/dockets/3/records", ""); strings.Contains(text, "sekrit") || strings.Count(text, ".record") != 1 {
		t.Error("the records are not those of the one trial of its own")
	}
	// What concerns all repositories is not for it, and no token that it makes can do more.
	for _, r := range [][2]string{{"GET", "/metrics"}, {"GET", "/api/v1/audit-log"}, {"POST", "/api/v1/generations/1/activate"}} {
		limited.want(403, r[0], r[1], "")
	}
	limited.want(403, "POST", "/api/v1/tokens", `{"name":"more","scopes":["submit"],"repositories":["sekrit/repo"]}`)
	var made struct {
		ID           int64    `json:"id"`
		Secret       string   `json:"secret"`
		Repositories []string `json:"repositories"`
	}
	must.Do(t, json.Unmarshal([]byte(limited.want(201, "POST", "/api/v1/tokens", `{"name":"own","scopes":["operate"]}`)), &made))
	if fmt.Sprint(made.Repositories) != "[other shop shop]" {
		t.Errorf("%q", made.Repositories)
	}
	own := asker{t, server, made.Secret}
	own.want(404, "GET", "/api/v1/dockets/1", "")
	own.want(200, "GET", "/api/v1/dockets/3", "")
	limited.want(404, "DELETE", "/api/v1/tokens/1", "")
	limited.want(204, "DELETE", fmt.Sprintf("/api/v1/tokens/%d", made.ID), "")
	if text := limited.want(200, "GET", "/api/v1/tokens", ""); strings.Contains(text, `"root"`) {
		t.Errorf("it sees %s", text)
	}
}
