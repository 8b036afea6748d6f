package mcp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schema is the JSON Schema of an answer; nil for free text.
type schema struct{ compiled *jsonschema.Schema }

// maxSchemaBytes is far more than a schema of an answer has.
const maxSchemaBytes = 64 << 10

// compile reads a schema of a module, which is untrusted: it refers to nothing outside of itself.
func compile(text string) (*schema, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > maxSchemaBytes {
		return nil, fmt.Errorf("the schema of the answer has %d bytes; at most %d are allowed", len(text), maxSchemaBytes)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the schema of the answer: %w", err)
	}
	const name = "answer.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	if err := c.AddResource(name, document); err != nil {
		return nil, fmt.Errorf("the schema of the answer: %w", err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("the schema of the answer: %w", err)
	}
	return &schema{compiled}, nil
}

// nothing loads no other schema.
type nothing struct{}

// Load fails.
func (nothing) Load(url string) (any, error) { return nil, fmt.Errorf("%s is not loaded", url) }

// maxProblems is how many problems of an answer are named.
const maxProblems = 20

// problems are all that is wrong with an answer, each with the path to it.
func (s *schema) problems(answer string) []string {
	if s == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
	if err != nil {
		return []string{"it is no JSON: " + err.Error()}
	}
	err = s.compiled.Validate(value)
	invalid := (*jsonschema.ValidationError)(nil)
	if !errors.As(err, &invalid) {
		return nil
	}
	var list []string
	printer := message.NewPrinter(language.English)
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) == 0 && len(list) < maxProblems {
			list = append(list, "/"+strings.Join(e.InstanceLocation, "/")+": "+e.ErrorKind.LocalizedString(printer))
		}
	}
	walk(invalid)
	return list
}
