package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// route is an operation of the document, with a path that names things that are there, as far as there are any.
type route struct {
	op   *huma.Operation
	path string
}

func (s *service) routes(t *testing.T) []route {
	t.Helper()
	var list []route
	for path, item := range s.doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Delete, item.Put, item.Patch} {
			if op == nil {
				continue
			}
			filled := strings.NewReplacer("{docket}", "1", "{trial}", "1-1", "{correction}", "1", "{generation}", "1", "{activation}", "1",
				"{digest}", strings.Repeat("0", 64), "{token}", "999").Replace(path)
			if strings.Contains(filled, "{") {
				t.Fatalf("%s has a parameter that this test does not know", path)
			}
			list = append(list, route{op, filled})
		}
	}
	if len(list) < 24 {
		t.Fatalf("%d routes", len(list))
	}
	slices.SortFunc(list, func(a, b route) int { return strings.Compare(a.op.OperationID, b.op.OperationID) })
	return list
}

// scopeOf is the scope that the document says an operation needs; empty for any.
func scopeOf(op *huma.Operation) auth.Scope {
	for _, scope := range auth.AllScopes() {
		if strings.HasPrefix(op.Description, "Needs the scope "+string(scope)+".") {
			return scope
		}
	}
	return ""
}

// wantProblem says that an answer is a problem that the document has.
func wantProblem(t *testing.T, what string, op *huma.Operation, status int, body []byte, header http.Header) wire.Problem {
	t.Helper()
	var p wire.Problem
	if err := json.Unmarshal(body, &p); err != nil || p.Status != status || p.Code == "" || header.Get("Content-Type") != wire.ProblemType {
		t.Errorf("%s: %d is no problem: %s", what, status, body)
	}
	if op.Responses[strconv.Itoa(status)] == nil {
		t.Errorf("%s: the document has no %d: %s", what, status, body)
	}
	if p.Code == wire.Internal {
		t.Errorf("%s: the server failed: %s", what, body)
	}
	return p
}

func TestAccept_SV5_EveryRouteNeedsATokenAndItsScope(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, r := range s.routes(t) {
		status, body, header := s.request(t, "", r.op.Method, r.path, nil, nil)
		if wantProblem(t, r.op.OperationID+" with no token", r.op, status, body, header); status != 401 || header.Get("Www-Authenticate") == "" {
			t.Errorf("%s with no token: %d %s", r.op.OperationID, status, body)
		}
		need := scopeOf(r.op)
		for _, scope := range auth.AllScopes() {
			status, body, header := s.request(t, scope, r.op.Method, r.path, nil, nil)
			allowed := need == "" || scope == need || scope == auth.Operate
			if (status == 403) == allowed || status == 401 {
				t.Errorf("%s with %s, needs %q: %d %s", r.op.OperationID, scope, need, status, body)
			}
			if status >= 400 {
				wantProblem(t, r.op.OperationID+" with "+string(scope), r.op, status, body, header)
			}
		}
	}
}

// The operations check scopes themselves, since pages call them, too.
func TestAccept_SV5_EveryOperationChecksWhoAsks(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for name, op := range map[string]struct {
		needs auth.Scope
		do    func(context.Context) error
	}{
		"submit": {auth.Submit, func(ctx context.Context) error {
			_, _, err := s.can.Submit(ctx, &api.Submission{Format: "auto"}, strings.NewReader("x"))
			return err
		}},
		"cancel": {auth.Submit, func(ctx context.Context) error { return s.can.Cancel(ctx, 9) }},
		"correct": {auth.Review, func(ctx context.Context) error {
			_, err := s.can.Correct(ctx, &api.CorrectRequest{}, &api.InboxFilter{})
			return err
		}},
		"undo": {auth.Review, func(ctx context.Context) error { _, err := s.can.Undo(ctx, 9); return err }},
		"generation": {auth.Everywhere, func(ctx context.Context) error {
			_, err := s.can.AddGeneration(ctx, &api.AddGenerationRequest{})
			return err
		}},
		"activate": {auth.Everywhere, func(ctx context.Context) error { _, err := s.can.Activate(ctx, 9); return err }},
		"tokens":   {auth.Operate, func(ctx context.Context) error { _, err := s.can.Tokens(ctx); return err }},
		"token":    {auth.Operate, func(ctx context.Context) error { _, err := s.can.AddToken(ctx, &api.AddTokenRequest{}); return err }},
		"revoke":   {auth.Operate, func(ctx context.Context) error { return s.can.RevokeToken(ctx, 9) }},
	} {
		for _, who := range []*auth.Identity{
			nil, {Scopes: []auth.Scope{auth.Submit}}, {Scopes: []auth.Scope{auth.Review}}, {Scopes: []auth.Scope{auth.Operate}}, {Scopes: []auth.Scope{auth.Operate}, Repositories: []string{"shop"}},
		} {
			ctx := t.Context()
			if who != nil {
				ctx = auth.With(ctx, who)
			}
			p, ok := errors.AsType[*wire.Problem](op.do(ctx))
			rejected := ok && (p.Code == wire.Unauthenticated || p.Code == wire.Forbidden && strings.HasPrefix(p.Detail, "this needs the scope"))
			if rejected == who.Can(op.needs) {
				t.Errorf("%s by %+v: %v", name, who, p)
			}
		}
	}
}

// Forms of pages are not validated by the document: the operations bound them.
func TestAccept_SV5_OperationsBoundListsThemselves(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	ctx := auth.With(t.Context(), &auth.Identity{Name: "op", Submitter: "op", Scopes: auth.AllScopes()})
	_, correct := s.can.Correct(ctx, &api.CorrectRequest{Label: "bug", Trials: slices.Repeat([]string{"1-1"}, 10_001)}, &api.InboxFilter{})
	_, add := s.can.AddToken(ctx, &api.AddTokenRequest{Name: "a", Scopes: []string{"submit"}, Repositories: slices.Repeat([]string{"shop"}, 101)})
	for path, err := range map[string]error{"body.trials": correct, "body.repositories": add} {
		if p, ok := errors.AsType[*wire.Problem](err); !ok || len(p.Errors) != 1 || p.Errors[0].Path != path || p.Errors[0].Code != "bad_count" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// hostile are bodies and types that no operation takes.
func hostile(t *testing.T) map[string]struct {
	header http.Header
	body   []byte
} {
	t.Helper()
	kind := func(contentType string) http.Header { return http.Header{"Content-Type": {contentType}} }
	return map[string]struct {
		header http.Header
		body   []byte
	}{
		"no JSON":            {kind("application/json"), []byte("{")},
		"another value":      {kind("application/json"), []byte(`[[[]]]`)},
		"null":               {kind("application/json"), []byte(`null`)},
		"unknown fields":     {kind("application/json"), []byte(`{"__proto__":{"a":1},"x":"<script>alert(1)</script>"}`)},
		"deep":               {kind("application/json"), []byte(strings.Repeat(`{"a":`, 50_000) + "1" + strings.Repeat("}", 50_000))},
		"no UTF-8":           {kind("application/json"), []byte("{\"label\":\"\xff\xfe\"}")},
		"another type":       {kind("application/x-www-form-urlencoded"), []byte("label=pb001")},
		"an unknown type":    {kind("text/x-unknown"), []byte("x")},
		"XML with an entity": {kind("application/xml"), []byte(`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuites><testsuite name="a"><testcase name="&x;"><failure>&x;</failure></testcase></testsuite></testsuites>`)},
		"XML that grows":     {kind("application/xml"), []byte(`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><testsuites>&b;</testsuites>`)},
		"oversized":          {kind("application/json"), bytes.Repeat([]byte(" "), 2<<20)},
		"a zip bomb":         {http.Header{"Content-Encoding": {"gzip"}}, zipped(t, bytes.Repeat([]byte(" "), 4<<20))},
		"no gzip":            {http.Header{"Content-Encoding": {"gzip"}}, []byte("plain")},
		"gzip cut off":       {http.Header{"Content-Encoding": {"gzip"}}, zipped(t, []byte(caseWith("cut")))[:40]},
		"another encoding":   {http.Header{"Content-Encoding": {"br"}}, []byte("x")},
		"binary":             {kind("application/octet-stream"), []byte("\x00\x01\x02\xff\xfe")},
	}
}

func TestAccept_SV5_HostileBodiesAreRejectedByEveryRoute(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	bodies := hostile(t)
	for _, r := range s.routes(t) {
		if r.op.RequestBody == nil {
			continue
		}
		for name, sent := range bodies {
			what := r.op.OperationID + ": " + name
			if name == "oversized" && r.op.OperationID == "add-generation" {
				sent.body = bytes.Repeat(sent.body, 33)
			}
			status, body, header := s.request(t, auth.Operate, r.op.Method, r.path, sent.header, sent.body)
			if status < 400 || status >= 500 {
				t.Errorf("%s: %d %s", what, status, body)
				continue
			}
			p := wantProblem(t, what, r.op, status, body, header)
			if strings.Contains(string(body), "<script>") || strings.Contains(string(body), "root:") {
				t.Errorf("%s: repeats what was sent or read: %s", what, body)
			}
			if r.op.OperationID == "submit-docket" && (name == "oversized" || name == "a zip bomb") && p.Code != wire.TooLarge {
				t.Errorf("%s: %s", what, body)
			}
		}
	}
	list := must.Get(s.store.Dockets(t.Context(), storeAll))(t)
	check.Len(t, list, 0, "dockets were made")
}

func TestAccept_SV5_HostileParametersAreRejectedByEveryRoute(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	values := []string{
		"", "0", "-1", "1e9", "99999999999999999999", "' OR 1=1 --", "../../../etc/passwd", "%00", "\x7f", "<script>", strings.Repeat("9", 5000), "null", "1-1-1", "NaN",
	}
	for _, r := range s.routes(t) {
		for _, param := range r.op.Parameters {
			for _, value := range values {
				path, header := r.path, http.Header{}
				switch param.In {
				case "path":
					path = pathWith(r.op.Path, param.Name, value)
				case "query":
					path += "?" + param.Name + "=" + escape(value)
				case "header":
					if strings.ContainsAny(value, "\x7f") || value == "" {
						continue
					}
					header.Set(param.Name, value)
				}
				status, body, h := s.request(t, auth.Operate, r.op.Method, path, header, nil)
				what := fmt.Sprintf("%s with %s=%.30q", r.op.OperationID, param.Name, value)
				switch {
				case status >= 500:
					t.Errorf("%s: %d %s", what, status, body)
				case status >= 400 && status != 405 && h.Get("Content-Type") == wire.ProblemType:
					wantProblem(t, what, r.op, status, body, h)
				case strings.Contains(string(body), "root:"):
					t.Errorf("%s: a file was read", what)
				}
			}
		}
	}
}

func pathWith(template, name, value string) string {
	path := strings.NewReplacer("{"+name+"}", escape(value)).Replace(template)
	return strings.NewReplacer("{docket}", "1", "{trial}", "1-1").Replace(path)
}

func escape(value string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// Nothing in a docket names a file that the server reads, or an address that it connects to.
func TestAccept_SV5_ADocketReadsNoPath(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	secret := filepath.Join(t.TempDir(), "secret")
	must.Do(t, os.WriteFile(secret, []byte("the secret of the server"), 0o600))
	for name, body := range map[string]string{
		"an attachment": `<testsuites><testsuite name="a"><testcase name="b"><failure message="x">[[ATTACHMENT|` + secret + `]]</failure><system-out>file://` + secret + `</system-out></testcase></testsuite></testsuites>`,
		"an entity":     `<!DOCTYPE a [<!ENTITY x SYSTEM "` + secret + `">]><testsuites><testsuite name="a"><testcase name="b"><failure message="x">&x;</failure></testcase></testsuite></testsuites>`,
		"a document":    `{"id":"a","subject":"s","labels":["a","b"],"evidence":[],"documents":[{"name":"` + secret + `","text":""}]}`,
		"a path":        secret,
	} {
		path := api.Prefix + "/dockets?name=" + escape(secret)
		status, text, _ := s.request(t, auth.Submit, "POST", path, nil, []byte(body))
		if status == 202 {
			var d store.Docket
			must.Do(t, json.Unmarshal(text, &d))
			_, text, _ = s.request(t, auth.Submit, "GET", fmt.Sprintf("%s/trials/%d-1", api.Prefix, d.ID), nil, nil)
		}
		if strings.Contains(string(text), "secret of the server") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// What schemathesis found: values that the library would let through, or break at.
func TestAccept_SV6_ValuesThatTheDocumentForbidsAreRejected(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	kind := http.Header{"Content-Type": {"application/json"}}
	for scopes, want := range map[string]int{
		`[{}]`: 422, `[[]]`: 422, `[null]`: 422, `[]`: 422, `["submit","submit"]`: 201, `["nothing"]`: 422,
	} {
		status, body, _ := s.request(t, auth.Operate, http.MethodPost, "/api/v1/tokens", kind, []byte(`{"name":"a","submitter":null,"scopes":`+scopes+`}`))
		if status != want || want == 201 && !strings.Contains(string(body), `"scopes":["submit"]`) {
			t.Errorf("%s: %d %s", scopes, status, body)
		}
	}
	for body, code := range map[string]string{
		`{"name":"a","scopes":["submit"],"name":"b"}`: "duplicate_key", `{"name":"a","scopes":["submit"],"Days":1}`: "unknown_field", `{"Name":"a","scopes":["submit"]}`: "unknown_field",
		// Bytes that are replaced would make one name of two.
		"{\"name\":\"\xff\",\"scopes\":[\"submit\"]}": "body.name", `{"name":"a","submitter":"\ud800","scopes":["submit"]}`: "body.submitter",
		"{\"name\":\"a\",\"scopes\":[\"submit\"],\"repositories\":[\"\xff\"]}": "body.repositories[0]",
	} {
		status, text, _ := s.request(t, auth.Operate, http.MethodPost, "/api/v1/tokens", kind, []byte(body))
		if status/100 != 4 || !strings.Contains(string(text), code) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	// FZ8: what JSON Schema calls an integer is one.
	for days, want := range map[string]int{"516": 201, "516.0": 201, "5.16e2": 201, "516.5": 422, "-1.0": 422, "1e309": 400, "3661.0": 422} {
		status, body, _ := s.request(t, auth.Operate, http.MethodPost, "/api/v1/tokens", kind, []byte(`{"name":"a","scopes":["submit"],"days":`+days+`}`))
		check.Equal(t, status, want, "days", days, body)
	}
	for name, schema := range s.doc.Components.Schemas.Map() {
		for field, property := range schema.Properties {
			if optional := !slices.Contains(schema.Required, field); strings.HasSuffix(name, "Request") && property.Ref == "" && property.Nullable != optional {
				t.Errorf("%s.%s: nullable is %t", name, field, property.Nullable)
			}
		}
	}
}
