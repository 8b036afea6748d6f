package record

import (
	"context"
	"errors"
	"fmt"

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
//
//nolint:contextcheck // the library has one for keys that are elsewhere: these wait for nothing
func (s *sealer) seal(e *Entry) ([]byte, error) {
	payload, err := encodePayload(&s.payload, e)
	if err != nil {
		return nil, err
	}
	envelope, err := s.signer.SignPayload(context.Background(), payloadType, payload)
	if err != nil {
		return nil, err
	}
	return s.line.encode(envelope)
}

// opener reads lines of entries.
type opener struct {
	key           *Key
	verifier      *dsse.EnvelopeVerifier
	payload, line encoder // used again from entry to entry
}

func newOpener(key *Key) (*opener, error) {
	v, err := dsse.NewEnvelopeVerifier(signer{key})
	return &opener{key: key, verifier: v}, err
}

// open gives the entry of a line whose signature holds and whose every bit is
// as it was written.
//
//nolint:contextcheck // as seal
func (o *opener) open(line []byte) (*Entry, error) {
	envelope, payload, err := o.decodeLine(line)
	if err != nil {
		return nil, err
	}
	if len(envelope.Signatures) != 1 {
		return nil, fmt.Errorf("%d signatures in place of one", len(envelope.Signatures))
	}
	if id := envelope.Signatures[0].KeyID; id != o.key.ID() {
		return nil, fmt.Errorf("signed with %w, %q, and not with %q", errKey, id, o.key.ID())
	}
	if _, err := o.verifier.Verify(context.Background(), envelope); err != nil {
		return nil, errSignature
	}
	entry, err := o.decodePayload(payload)
	if err != nil {
		return nil, fmt.Errorf("the statement: %w", err)
	}
	return entry, nil
}
