package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// The names of the formats that an entry is wrapped in.
const (
	payloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://github.com/shadowcourt/shadowcourt/record/v1"
)

// statement is an in-toto Statement v1 about an entry.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     *Entry     `json:"predicate"`
}

// resource is an in-toto ResourceDescriptor, as far as it is used here.
type resource struct {
	Name   string       `json:"name"`
	Digest resourceHash `json:"digest"`
}

type resourceHash struct {
	SHA256 string `json:"sha256"`
}

// encodePayload gives the statement about an entry. Equal entries give equal bytes.
func encodePayload(to *encoder, e *Entry) ([]byte, error) {
	subject, err := subjects(e)
	if err != nil {
		return nil, err
	}
	return to.encode(&statement{statementType, subject, predicateType, e})
}

// subjects says what an entry attests: of a trial its case, its result and its audit.
func subjects(e *Entry) ([]resource, error) {
	of := func(name string, d Digest) resource { return resource{name, resourceHash{d.Hex()}} }
	digest := func(name string, v any) ([]resource, error) {
		data, err := encodeJSON(v)
		return []resource{of(name, DigestOf(data))}, err
	}
	switch {
	case e.Trial != nil:
		list := []resource{of("case "+e.Trial.ID, e.Trial.Case), of("result "+e.Trial.ID, e.Trial.ResultDigest)}
		if a := e.Trial.Audit; a != nil {
			list = append(list, of("audit "+e.Trial.ID, a.ResultDigest))
		}
		return list, nil
	case e.Header != nil:
		return digest("configuration", e.Header)
	case e.Generation != nil:
		return digest("modules", e.Generation)
	case e.Closing != nil:
		return []resource{of("record", e.Previous)}, nil
	}
	return nil, errors.New("an entry without content")
}

// decodePayload reads the statement about an entry. What it accepts, encodes
// to the same bytes.
func (o *opener) decodePayload(payload []byte) (*Entry, error) {
	var s statement
	if err := json.Unmarshal(payload, &s); err != nil {
		return nil, err
	}
	e := s.Predicate
	if e == nil {
		return nil, errors.New("the statement has no predicate")
	}
	again, err := encodePayload(&o.payload, e)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, payload) {
		return nil, fmt.Errorf("encoded again, the entry has other bytes: the first that differs is at %d of its statement", firstOther(again, payload))
	}
	return e, nil
}

// encoder writes JSON into a buffer that it uses again.
type encoder struct{ buffer bytes.Buffer }

// encode writes one value, compact, with nothing escaped that need not be. The
// bytes are valid until the next one.
func (e *encoder) encode(v any) ([]byte, error) {
	e.buffer.Reset()
	encoder := json.NewEncoder(&e.buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(e.buffer.Bytes(), []byte{'\n'}), nil
}

// encodeJSON is encode into a buffer of its own.
func encodeJSON(v any) ([]byte, error) { return new(encoder).encode(v) }

func firstOther(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
