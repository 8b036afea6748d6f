package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// The names of the formats that an entry is wrapped in.
const (
	payloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://github.com/shadowcourt/shadowcourt/record/v1"
)

// statement is an in-toto Statement v1, about an entry or something else.
type statement[T any] struct {
	Type          string     `json:"_type"`
	Subject       []Resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     T          `json:"predicate"`
}

// encodePayload gives the statement about an entry. Equal entries give equal bytes.
func encodePayload(to *encoder, e *Entry) ([]byte, error) {
	if e.Statement != nil {
		return e.Statement.encode(to)
	}
	subject, err := subjects(e)
	if err != nil {
		return nil, err
	}
	return to.encode(&statement[*Entry]{statementType, subject, predicateType, e})
}

// subjects says what an entry attests: of a trial its case, its result and its audit.
func subjects(e *Entry) ([]Resource, error) {
	of := func(name string, d Digest) Resource { return Resource{name, map[string]string{"sha256": d.Hex()}} }
	digest := func(name string, v any) ([]Resource, error) {
		data, err := encodeJSON(v)
		return []Resource{of(name, DigestOf(data))}, err
	}
	switch {
	case e.Trial != nil:
		list := []Resource{of("case "+e.Trial.ID, e.Trial.Case), of("result "+e.Trial.ID, e.Trial.ResultDigest)}
		if a := e.Trial.Audit; a != nil {
			list = append(list, of("audit "+e.Trial.ID, a.ResultDigest))
		}
		return list, nil
	case e.Header != nil:
		return digest("configuration", e.Header)
	case e.Generation != nil:
		return digest("modules", e.Generation)
	case e.Closing != nil:
		return []Resource{of("record", e.Previous)}, nil
	}
	return nil, errors.New("an entry without content")
}

// decodePayload reads the statement about an entry. What it accepts, encodes to the same bytes.
func (o *opener) decodePayload(payload []byte) (*Entry, error) {
	e, err := decodeEntry(payload)
	if err != nil {
		return nil, err
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

func decodeEntry(payload []byte) (*Entry, error) {
	if !bytes.Contains(payload, []byte(ofEntry)) {
		return decodeStatement(payload)
	}
	var s statement[*Entry]
	if err := json.Unmarshal(payload, &s); err != nil {
		return nil, err
	}
	if s.Predicate == nil {
		return nil, errors.New("the statement has no predicate")
	}
	return s.Predicate, nil
}

// encoder writes JSON into a buffer that it uses again.
type encoder struct{ buffer bytes.Buffer }

// encode writes one value, compact, with nothing escaped that need not be. The bytes are valid until the next one.
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

// errKey: the entry was signed by another key than the one given.
var errKey = errors.New("another key")

// sealer makes lines of entries.
type sealer struct {
	signer        *dsse.EnvelopeSigner
	payload, line encoder // used again from entry to entry
}

func newSealer(key *Key) (*sealer, error) {
	if !key.Signs() {
		return nil, errors.New("the key is a public one, which can't sign")
	}
	s, err := dsse.NewEnvelopeSigner(signer{key})
	return &sealer{signer: s}, err
}

// seal gives the signed line of an entry, without a line feed. It is valid until the next one.
func (s *sealer) seal(e *Entry) ([]byte, error) {
	payload, err := encodePayload(&s.payload, e)
	if err != nil {
		return nil, err
	}
	return s.sealPayload(payload)
}

//nolint:contextcheck,nolintlint // the library has one for keys that are elsewhere: these do not wait; whether it is told depends on the linter's cache
func (s *sealer) sealPayload(payload []byte) ([]byte, error) {
	envelope, err := s.signer.SignPayload(context.Background(), payloadType, payload)
	if err != nil {
		return nil, err
	}
	return s.line.encode(envelope)
}

// opener reads lines of entries.
type opener struct {
	key     *Key
	message []byte  // what was signed, in a buffer that is used again
	payload encoder // likewise
}

// open gives the entry of a line whose signature holds and whose every bit is
// as it was written. Nothing but the signature is looked at before it holds.
func (o *opener) open(e envelope) (*Entry, error) {
	payload, err := o.verified(e)
	if err != nil {
		return nil, err
	}
	entry, err := o.decodePayload(payload)
	if err != nil {
		return nil, fmt.Errorf("the statement: %w", err)
	}
	return entry, nil
}

// verified gives the payload of an envelope whose signature holds. It is valid until the next one.
func (o *opener) verified(e envelope) (payload []byte, err error) {
	if string(e.keyID) != o.key.ID() {
		return nil, otherKey(e.keyID, o.key)
	}
	signature, err := decodeBase64(nil, e.signature)
	if err != nil {
		return nil, fmt.Errorf("the signature: %w", err)
	}
	if payload, err = o.signed(e.payload); err != nil {
		return nil, fmt.Errorf("the payload: %w", err)
	}
	if !o.key.verifies(o.message, signature) {
		return nil, errSignature
	}
	return payload, nil
}

// signed decodes the payload into what its signature is over, the pre-authentication encoding of DSSE.
func (o *opener) signed(text []byte) (payload []byte, err error) {
	length := len(text)/4*3 - bytes.Count(text[max(0, len(text)-2):], []byte{'='})
	begin := fmt.Appendf(o.message[:0], "DSSEv1 %d %s %d ", len(payloadType), payloadType, length)
	begin = slices.Grow(begin, length+3) // the decoder writes whole quanta
	if o.message, err = decodeBase64(begin, text); err != nil {
		return nil, err
	}
	return o.message[len(begin):], nil
}
