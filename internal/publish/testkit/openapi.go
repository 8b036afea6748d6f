// Package testkit has servers of code hosts, trackers and ReportPortal on loopback for tests. They are built from excerpts of the published API descriptions: requests and
// answers that these don't have fail the test.
package testkit

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

//go:embed openapi/*.json
var files embed.FS

const resource = "https://openapi.example/openapi.json" // no path: those of folders with spaces are not found again

// description is an OpenAPI 3.0 document.
type description struct {
	root map[string]any

	mu       sync.Mutex
	compiler *jsonschema.Compiler
}

// described are the descriptions that were read, so that their schemas are compiled once.
var described sync.Map

// describe is what an excerpt says, such as github.json.
func describe(t testing.TB, name string) *description {
	t.Helper()
	d, _ := described.LoadOrStore(name, sync.OnceValue(func() *description { return excerpt(t, name) }))
	return d.(func() *description)() //nolint:forcetypeassert // the line above stores it
}

func excerpt(t testing.TB, name string) *description {
	t.Helper()
	text := must.Get(files.ReadFile("openapi/" + name))(t)
	root := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	d := &description{root: object(modern(root)), compiler: jsonschema.NewCompiler()}
	d.compiler.AssertFormat()
	must.Do(t, d.compiler.AddResource(resource, d.root))
	return d
}

// modern turns "nullable" of OpenAPI 3.0 into what JSON Schema 2020-12 has.
func modern(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = modern(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = modern(v[k])
		}
		if is, ok := v["nullable"].(bool); ok {
			delete(v, "nullable")
			if is {
				return map[string]any{"anyOf": []any{map[string]any{"type": "null"}, v}}
			}
		}
	}
	return v
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// follow gives what a reference points at.
func (d *description) follow(v any) (map[string]any, string) {
	m := object(v)
	ref, ok := m["$ref"].(string)
	if !ok {
		return m, ""
	}
	var at any = d.root
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = object(at)[part]
	}
	return object(at), ref
}

// validate checks a value by the schema at a pointer.
func (d *description) validate(pointer string, value any) error {
	d.mu.Lock()
	schema, err := d.compiler.Compile(resource + "#" + (&url.URL{Fragment: pointer}).EscapedFragment())
	d.mu.Unlock()
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// operation is what the description says of a method on a path.
type operation struct {
	d       *description
	pointer string
	op      map[string]any
	values  map[string]string // of the parameters in the path
}

func escape(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1") }

// find finds the operation of a request.
func (d *description) find(r *http.Request, prefix string) (*operation, error) {
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), prefix)
	if !ok {
		return nil, fmt.Errorf("%s is not below %s", r.URL, prefix)
	}
	got := strings.Split(rest, "/")
	paths := object(d.root["paths"])
	for _, template := range slices.Sorted(maps.Keys(paths)) {
		want, values := strings.Split(template, "/"), map[string]string{}
		fits := len(got) == len(want)
		for i := 0; fits && i < len(want); i++ {
			value, err := url.PathUnescape(got[i])
			if name, is := strings.CutPrefix(want[i], "{"); is && err == nil && value != "" {
				values[strings.TrimSuffix(name, "}")] = value
			} else {
				fits = got[i] == want[i]
			}
		}
		method := strings.ToLower(r.Method)
		if op, ok := object(paths[template])[method].(map[string]any); ok && fits {
			return &operation{d, "/paths/" + escape(template) + "/" + method, op, values}, nil
		}
	}
	return nil, fmt.Errorf("the description has no %s %s", r.Method, rest)
}

// request checks parameters and body.
func (o *operation) request(r *http.Request) error {
	declared := map[string]bool{}
	list, _ := o.op["parameters"].([]any)
	for i := range list {
		p, ref := o.d.follow(list[i])
		at := strings.TrimPrefix(ref, "#")
		if ref == "" {
			at = o.pointer + "/parameters/" + strconv.Itoa(i)
		}
		name := fmt.Sprint(p["name"])
		value, given := o.values[name], true
		if p["in"] == "query" {
			declared[name] = true
			value, given = r.URL.Query().Get(name), r.URL.Query().Has(name)
		}
		if !given {
			continue
		}
		var typed any = value
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && o.d.validate(at+"/schema", value) != nil {
			typed = json.Number(strconv.FormatInt(n, 10))
		}
		if o.d.validate(at+"/schema", typed) != nil { // a list, with commas
			words := []any{}
			for word := range strings.SplitSeq(value, ",") {
				words = append(words, word)
			}
			if o.d.validate(at+"/schema", words) == nil {
				continue
			}
		}
		if err := o.d.validate(at+"/schema", typed); err != nil {
			return fmt.Errorf("parameter %s: %w", name, err)
		}
	}
	for name := range r.URL.Query() {
		if !declared[name] {
			return fmt.Errorf("the description has no parameter %s", name)
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if o.op["requestBody"] == nil {
		if len(body) > 0 {
			return fmt.Errorf("a body where the description has none: %s", body)
		}
		return nil
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return fmt.Errorf("content type %q", kind)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return o.d.validate(o.pointer+"/requestBody/content/application~1json/schema", value)
}

// answer checks an answer.
func (o *operation) answer(status int, body []byte) error {
	code := strconv.Itoa(status)
	response, ref := o.d.follow(object(o.op["responses"])[code])
	if response == nil && status == http.StatusNotFound { // not everywhere described, and given everywhere
		return nil
	}
	if response == nil {
		return fmt.Errorf("the description has no answer %s", code)
	}
	content, _ := response["content"].(map[string]any)
	if content["application/json"] == nil || status == http.StatusNoContent {
		if len(body) > 0 && status == http.StatusNoContent {
			return fmt.Errorf("a body with %s", code)
		}
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	at := strings.TrimPrefix(ref, "#")
	if ref == "" {
		at = o.pointer + "/responses/" + code
	}
	return o.d.validate(at+"/content/application~1json/schema", value)
}

// Serve checks the requests below a prefix, and the answers of a handler to them. Where instead gives true it has answered itself: in ways that
// the description may not have.
func (d *description) Serve(t testing.TB, prefix string, h http.Handler, instead func(http.ResponseWriter, *http.Request) bool) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op, err := d.find(r, prefix)
		if err == nil {
			err = op.request(r)
		}
		if err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
			http.Error(w, "the description does not allow it", http.StatusBadRequest)
			return
		}
		for name, value := range op.values {
			r.SetPathValue(name, value)
		}
		if instead(w, r) {
			return
		}
		recorded := httptest.NewRecorder()
		h.ServeHTTP(recorded, r)
		if err := op.answer(recorded.Code, recorded.Body.Bytes()); err != nil {
			t.Errorf("the answer to %s %s: %v", r.Method, r.URL, err)
		}
		maps.Copy(w.Header(), recorded.Header())
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(recorded.Body.Bytes())
	})
}

// Sample is a value with the required fields of a schema, such as issue-comment.
func (d *description) Sample(name string) map[string]any {
	return object(d.sample(map[string]any{"$ref": "#/components/schemas/" + name}))
}

func (d *description) sample(schema any) any {
	s, _ := d.follow(schema)
	for _, several := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[several].([]any); ok {
			return d.sample(list[0])
		}
	}
	if list, ok := s["enum"].([]any); ok {
		return list[0]
	}
	kind := s["type"]
	if s["properties"] != nil {
		kind = "object"
	}
	switch kind {
	case "object":
		out := map[string]any{}
		required, _ := s["required"].([]any)
		for _, name := range required {
			out[fmt.Sprint(name)] = d.sample(object(s["properties"])[fmt.Sprint(name)])
		}
		return out
	case "array":
		return []any{}
	case "integer", "number":
		return 1
	case "boolean":
		return false
	case "null":
		return nil
	}
	switch s["format"] {
	case "uri":
		return "https://host.example/page"
	case "date-time":
		return "2026-01-31T12:00:00Z"
	}
	return "text"
}
