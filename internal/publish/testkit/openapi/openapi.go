// Package openapi checks requests and answers of tests against the published OpenAPI document of a server.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is an OpenAPI document, or a part of one. It is safe for concurrent use.
type Document struct {
	operations []*operation
}

// operation is a method of a path. A nil schema stands for no JSON.
type operation struct {
	method  string
	path    []string // elements; those in braces stand for any
	queries []string
	body    *jsonschema.Schema
	answers map[int]*jsonschema.Schema
}

type content map[string]struct {
	Schema any `json:"schema"`
}

type parameter struct {
	Ref  string `json:"$ref"`
	Name string `json:"name"`
	In   string `json:"in"`
}

type document struct {
	Paths map[string]map[string]struct {
		Parameters  []parameter `json:"parameters"`
		RequestBody struct {
			Content content `json:"content"`
		} `json:"requestBody"`
		Responses map[string]struct {
			Content content `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Parameters map[string]parameter `json:"parameters"`
		Schemas    map[string]any       `json:"schemas"`
	} `json:"components"`
}

// Load reads a document.
func Load(data []byte) (*Document, error) {
	var in document
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	d := &Document{}
	for path, methods := range in.Paths {
		for method, op := range methods {
			o := &operation{method: strings.ToUpper(method), path: strings.Split(path, "/"), answers: map[int]*jsonschema.Schema{}}
			for _, p := range op.Parameters {
				if p.Ref != "" {
					p = in.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
				}
				if p.In == "query" {
					o.queries = append(o.queries, p.Name)
				}
			}
			var err error
			if o.body, err = compile(op.RequestBody.Content, in.Components.Schemas); err != nil {
				return nil, err
			}
			for status, r := range op.Responses {
				n, err := strconv.Atoi(status)
				if err != nil {
					return nil, err
				}
				if o.answers[n], err = compile(r.Content, in.Components.Schemas); err != nil {
					return nil, err
				}
			}
			d.operations = append(d.operations, o)
		}
	}
	return d, nil
}

// compile makes a schema of its own of one in a document; nil where there is no JSON.
func compile(c content, schemas map[string]any) (*jsonschema.Schema, error) {
	for kind, of := range c {
		if !strings.Contains(kind, "json") {
			continue
		}
		const at = "https://schema.example/one"
		data, err := json.Marshal(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": nullable(schemas), "allOf": []any{nullable(of.Schema)}})
		if err != nil {
			return nil, err
		}
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.ReplaceAll(data, []byte(`"#/components/schemas/`), []byte(`"#/$defs/`))))
		if err != nil {
			return nil, err
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource(at, parsed); err != nil {
			return nil, err
		}
		return compiler.Compile(at)
	}
	return nil, nil //nolint:nilnil // a body without JSON has no schema
}

// nullable writes the word of OpenAPI 3.0 as JSON Schema does.
func nullable(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = nullable(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = nullable(value)
		}
		if is, _ := out["nullable"].(bool); is {
			delete(out, "nullable")
			return map[string]any{"anyOf": []any{map[string]any{"type": "null"}, out}}
		}
		return out
	default:
		return v
	}
}

func (d *Document) find(method, path string) *operation {
	elements := strings.Split(path, "/")
	for _, o := range d.operations {
		if o.method == method && slices.EqualFunc(o.path, elements, func(of, is string) bool {
			return of == is || strings.HasPrefix(of, "{") && is != ""
		}) {
			return o
		}
	}
	return nil
}

// CheckRequest says what of a request the document does not allow. path is the one below the server's base.
func (d *Document) CheckRequest(r *http.Request, path string, body []byte) error {
	o := d.find(r.Method, path)
	if o == nil {
		return fmt.Errorf("the API has no %s %s", r.Method, path)
	}
	for name := range r.URL.Query() {
		if !slices.Contains(o.queries, name) {
			return fmt.Errorf("%s %s has no parameter %q", r.Method, path, name)
		}
	}
	if o.body == nil {
		if len(body) > 0 {
			return fmt.Errorf("%s %s has no body", r.Method, path)
		}
		return nil
	}
	return validate(o.body, body, r.Method+" "+path)
}

// CheckAnswer says what of an answer the document does not allow.
func (d *Document) CheckAnswer(method, path string, status int, body []byte) error {
	o := d.find(method, path)
	if o == nil {
		return fmt.Errorf("the API has no %s %s", method, path)
	}
	s, known := o.answers[status]
	if !known || s == nil {
		return nil
	}
	return validate(s, body, "the answer to "+method+" "+path)
}

func validate(s *jsonschema.Schema, body []byte, what string) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
