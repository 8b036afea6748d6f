package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

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

//nolint:contextcheck // the library has one for keys that are elsewhere: these do not wait
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
	if string(e.keyID) != o.key.ID() {
		return nil, otherKey(e.keyID, o.key)
	}
	signature, err := decodeBase64(nil, e.signature)
	if err != nil {
		return nil, fmt.Errorf("the signature: %w", err)
	}
	payload, err := o.signed(e.payload)
	if err != nil {
		return nil, fmt.Errorf("the payload: %w", err)
	}
	if !o.key.verifies(o.message, signature) {
		return nil, errSignature
	}
	entry, err := o.decodePayload(payload)
	if err != nil {
		return nil, fmt.Errorf("the statement: %w", err)
	}
	return entry, nil
}

// signed decodes the payload into what its signature is over, the
// pre-authentication encoding of DSSE.
func (o *opener) signed(text []byte) (payload []byte, err error) {
	length := len(text)/4*3 - bytes.Count(text[max(0, len(text)-2):], []byte{'='})
	begin := fmt.Appendf(o.message[:0], "DSSEv1 %d %s %d ", len(payloadType), payloadType, length)
	begin = slices.Grow(begin, length+3) // the decoder writes whole quanta
	if o.message, err = decodeBase64(begin, text); err != nil {
		return nil, err
	}
	return o.message[len(begin):], nil
}
