package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// The limits of JSON that models and modules write.
const (
	maxJSONDepth = 64
	// maxNumber bounds the digits and the exponent of a number: exact arithmetic takes memory by its size.
	maxNumber = 64
	// maxStarts is at how many places of a text JSON is looked for.
	maxStarts = 64
)

// parseJSON reads one JSON value, with numbers as they stand. Unlike the standard library it rejects a key that occurs twice: two
// readers may see different values.
func parseJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text follows the JSON value")
	}
	return v, nil
}

func readValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the JSON ends in the middle")
	case err != nil:
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	switch t := token.(type) {
	case json.Number:
		return t, numberFault(t.String())
	case json.Delim:
		if depth == maxJSONDepth {
			return nil, fmt.Errorf("the JSON is nested deeper than %d", maxJSONDepth)
		}
		if t == '[' {
			return readArray(d, depth)
		}
		return readObject(d, depth)
	default:
		return t, nil
	}
}

func readArray(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		v, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, readEnd(d)
}

func readObject(d *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for d.More() {
		key, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, errors.New("not JSON: a key is no text")
		}
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("the key %q occurs twice", strictyaml.Clip(name))
		}
		if object[name], err = readValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	return object, readEnd(d)
}

func readEnd(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON ends in the middle")
		}
		return fmt.Errorf("not JSON: %w", err)
	}
	return nil
}

func numberFault(text string) error {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if e, err := strconv.Atoi(exponent); exponent != "" && (err != nil || e > 308 || e < -308) || len(text) > maxNumber {
		return errors.New("a number is too large or too long")
	}
	return nil
}

// values is how many values a JSON value has, itself included.
func values(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += values(item)
		}
	case map[string]any:
		for _, item := range v {
			n += values(item)
		}
	}
	return n
}

// findJSON gives the one JSON value of an answer: the whole text, or else the only object or list that stands in it, such as in a fenced
// block. With none, several or a broken one the error says so. What stands within a broken value is no answer.
func findJSON(text string) (json.RawMessage, any, error) {
	text = strings.TrimSpace(text)
	v, whole := parseJSON([]byte(text))
	if whole == nil {
		return json.RawMessage(text), v, nil
	}
	var found []json.RawMessage
	starts := 0
	for at := 0; at < len(text); at++ {
		if text[at] != '{' && text[at] != '[' {
			continue
		}
		if starts++; starts > maxStarts {
			return nil, nil, fmt.Errorf("no single JSON value: more than %d brackets open beside it", maxStarts)
		}
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(text[at:])).Decode(&raw) == nil {
			found = append(found, raw)
			at += len(raw) - 1
			continue
		}
		piece := bracketed(text[at:])
		if _, err := parseJSON([]byte(piece)); at+len(piece) == len(text) || strings.ContainsAny(piece, `"'`) {
			return nil, nil, err
		}
		at += len(piece) - 1 // words in brackets
	}
	switch len(found) {
	case 0:
		return nil, nil, whole
	case 1:
		v, err := parseJSON(found[0])
		return found[0], v, err
	default:
		return nil, nil, fmt.Errorf("%d JSON values stand in the answer, and it has to be one", len(found))
	}
}

// bracketed is the beginning of a text up to the bracket that closes its first one; all of it where there is none.
func bracketed(text string) string {
	depth, quoted := 0, false
	for at := 0; at < len(text); at++ {
		switch c := text[at]; {
		case quoted && c == '\\':
			at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return text[:at+1]
			}
		}
	}
	return text
}

// AnswerSchema is the JSON Schema of an answer, as modules write it: of nothing in it is the author trusted.
type AnswerSchema struct{ own *schema }

// CompileSchema compiles a schema that is small, refers only to itself and is of the dialect 2020-12; the error says what is wrong.
func CompileSchema(text string) (*AnswerSchema, error) {
	s, err := compileSchema(text)
	if err != nil {
		return nil, err
	}
	return &AnswerSchema{s}, nil
}

// Accept gives the JSON document of an answer that conforms to the schema, compact. The error has a line for each place that does not.
func (s *AnswerSchema) Accept(answer string) (document string, err error) {
	return s.own.accept(answer)
}
