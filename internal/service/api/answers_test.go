package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// A typing error in a filter must not select everything, nor may a parameter that is given twice, or says nothing.
func TestAccept_SV6_OddParametersAreRejected(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for path, want := range map[string]struct{ code, says string }{
		"/inbox?repo=x":                  {"unknown_field", "repository"},
		"/dockets?limit=1&stat%1b=done":  {"unknown_field", "repository"},
		"/dockets/1?x":                   {"unknown_field", "none"},
		"/corrections?labell=x":          {"unknown_field", "cursor"},
		"/inbox?cursor=abc":              {"invalid_value", "not the field next"},
		"/inbox?cursor=NaN_x":            {"invalid_value", "not the field next"},
		"/inbox?cursor=1e999_x":          {"invalid_value", "not the field next"},
		"/inbox?limit=1&limit=2":         {"invalid_value", "more than once"},
		"/dockets?state=done&state=done": {"invalid_value", "more than once"},
		"/inbox?since=yesterday":         {"invalid_value", "is no date and time in the form of RFC 3339, such as 2026-"},
		"/inbox?status=innocent":         {"invalid_value", "mistrial"},
		"/dockets?cursor=":               {"invalid_value", "is empty"},
		"/dockets?limit=":                {"invalid_value", "is empty"},
		"/dockets?state=":                {"invalid_value", "is empty"},
		"/inbox?until=":                  {"invalid_value", "is empty"},
		"/inbox?sure=":                   {"invalid_value", "is empty"},
		"/audit-log?cursor=":             {"invalid_value", "is empty"},
		"/corrections?limit=5&cursor=":   {"invalid_value", "is empty"},
	} {
		status, text, _ := s.request(t, auth.Operate, http.MethodGet, api.Prefix+path, nil, nil)
		var p wire.Problem
		if err := json.Unmarshal(text, &p); err != nil || status != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Code != want.code ||
			!strings.HasPrefix(p.Errors[0].Path, "query.") || !strings.Contains(p.Errors[0].Message, want.says) || strings.Contains(string(text), "\x1b") {
			t.Errorf("%s: %d %s, %v", path, status, text, err)
		}
	}
	for _, path := range []string{"/inbox?cursor=1.5_x", "/inbox?limit=2"} {
		if status, text, _ := s.request(t, auth.Operate, http.MethodGet, api.Prefix+path, nil, nil); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// Names come back as they were sent, and no answer has a character that a terminal obeys.
func TestAccept_SV5_AnswersAreSafeToPrint(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const name = "a\x1b[31m\u202eb\x00\u0085"
	_, d, _ := s.submit(t, "?"+url.Values{"name": {name}, "repository": {name}}.Encode(), nil, strings.Replace(caseWith("a"), "TestX fails", `\u001b[31m`+"\u202e", 1))
	for _, path := range []string{"/dockets", "/dockets/1", "/dockets/1/entries", "/trials/1-1"} {
		status, text, _ := s.request(t, auth.Submit, http.MethodGet, api.Prefix+path, nil, nil)
		if status != http.StatusOK || strings.ContainsAny(string(text), "\x1b\u202e\u0085") {
			t.Errorf("%s: %d %q", path, status, text)
		}
	}
	if want := strings.ReplaceAll(name, "\x00", "\ufffd"); d.Name != want || d.Repository != want {
		t.Errorf("the name is %q", d.Name)
	}
}

// The question for another format is for what may be one.
func TestARejectedDocketIsAskedForItsFormatOnlyWhereItMayBeAnother(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for body, asks := range map[string]bool{
		strings.Replace(caseWith("b"), `"confidence":0.9`, `"confidence":1.5`, 1): false, "{}\n": true, "no case\n": true, "[1]\n": true,
	} {
		status, _, p := s.submit(t, "?format=jsonl", nil, body)
		if status != http.StatusUnprocessableEntity || p.Entries != 1 || strings.Contains(p.Detail, "another format") != asks {
			t.Errorf("%s: %d %+v", body, status, p)
		}
	}
}

// The filters of the document are those of the court, and its limits those of the store.
func TestParametersOfTheDocumentAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	var want []any
	for _, status := range trial.Statuses() {
		want = append(want, string(status))
	}
	for _, p := range s.doc.Paths[api.Prefix+"/inbox"].Get.Parameters {
		if p.Name == "status" && !slices.Equal(p.Schema.Enum, want) {
			t.Errorf("the document has %v", p.Schema.Enum)
		}
	}
	for _, p := range s.doc.Paths[api.Prefix+"/dockets/{docket}/entries"].Get.Parameters {
		if p.Name == "from" && (p.Schema.Maximum == nil || *p.Schema.Maximum != store.MaxEntries) {
			t.Errorf("%v, and a docket has %d", *p.Schema.Maximum, store.MaxEntries)
		}
	}
}
