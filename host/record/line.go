package record

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
)

// The line of an entry is a DSSE envelope in one form alone, so that nobody can write it another way: these parts, and between them
// payload, key id and signature.
const (
	lineBegin = `{"payloadType":"` + payloadType + `","payload":"`
	lineKeyID = `","signatures":[{"keyid":"`
	lineSig   = `","sig":"`
	lineEnd   = `"}]}`
)

// The longest key id and signature of a line that is read; those of keys are shorter.
const (
	maxKeyIDBytes     = 128
	maxSignatureBytes = 128
)

var (
	errForm     = errors.New("the line is no entry of a record")
	errLineEnds = errors.New("the line ends in a carriage return: something converted the line ends of the file")
	errBase64   = errors.New("it is not strict base64")
)

// linePart is this text, or one of at most so many bytes that the quote of the next part ends.
type linePart struct {
	literal string
	most    int
	base64  bool
}

// The parts of a line that are no literals.
const (
	partPayload   = 1
	partKeyID     = 3
	partSignature = 5
)

func lineParts() [7]linePart {
	return [7]linePart{
		{literal: lineBegin},
		{most: math.MaxInt, base64: true}, // the line has a limit of its own
		{literal: lineKeyID},
		{most: maxKeyIDBytes},
		{literal: lineSig},
		{most: maxSignatureBytes, base64: true},
		{literal: lineEnd},
	}
}

// shape follows a line piece by piece, so that what can't be an entry is rejected before much of it is read.
type shape struct {
	parts [7]linePart
	at    int    // the part that goes on
	done  [7]int // how many bytes of each part were seen
}

func newShape() shape { return shape{parts: lineParts()} }

// follow takes the next piece, and says why the line is no entry.
func (s *shape) follow(piece []byte) error {
	for len(piece) > 0 {
		if s.at == len(s.parts) {
			if bytes.Equal(piece, []byte{'\r'}) {
				return errLineEnds
			}
			return fmt.Errorf("%w: something stands behind its signature", errForm)
		}
		n, err := s.take(piece)
		if err != nil {
			return err
		}
		piece = piece[n:]
	}
	return nil
}

// take gives how many bytes belong to the part that goes on, or to no part where that one ends with none.
func (s *shape) take(piece []byte) (int, error) {
	p, done := &s.parts[s.at], &s.done[s.at]
	if p.literal != "" {
		n := min(len(piece), len(p.literal)-*done)
		if string(piece[:n]) != p.literal[*done:*done+n] {
			return 0, s.fault()
		}
		if *done += n; *done == len(p.literal) {
			s.at++
		}
		return n, nil
	}
	n := bytes.IndexByte(piece, '"')
	ends := n >= 0
	if !ends {
		n = len(piece)
	}
	if *done += n; *done > p.most || p.base64 && !isBase64(piece[:n]) {
		return 0, s.fault()
	}
	if ends {
		s.at++
	}
	return n, nil
}

// fault says where the line is none.
func (s *shape) fault() error {
	switch s.at {
	case partPayload:
		return fmt.Errorf("the payload: %w", errBase64)
	case partKeyID:
		return fmt.Errorf("%w: the id of its key is too long", errForm)
	case partSignature:
		return fmt.Errorf("the signature: %w", errBase64)
	case partSignature + 1:
		return fmt.Errorf("%w: it has not one signature", errForm)
	}
	return errForm
}

// isBase64 says whether all bytes are of the alphabet. Padding counts as such.
func isBase64(text []byte) bool {
	for _, c := range text {
		switch {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '+', c == '/', c == '=':
		default:
			return false
		}
	}
	return true
}

// envelope is what a line holds, still in base64.
type envelope struct{ payload, keyID, signature []byte }

// of gives the envelope of a line that was followed to its end.
func (s *shape) of(line []byte) (envelope, error) {
	if s.at != len(s.parts) {
		return envelope{}, errForm
	}
	payload := len(lineBegin)
	keyID := payload + s.done[partPayload] + len(lineKeyID)
	signature := keyID + s.done[partKeyID] + len(lineSig)
	return envelope{
		payload:   line[payload : payload+s.done[partPayload]],
		keyID:     line[keyID : keyID+s.done[partKeyID]],
		signature: line[signature : signature+s.done[partSignature]],
	}, nil
}

// cut says whether a piece that was followed so far may be the beginning of an entry that this key signed.
func (s *shape) cut(piece []byte, key *Key) error {
	if s.at < partKeyID {
		return nil
	}
	from := len(lineBegin) + s.done[partPayload] + len(lineKeyID)
	id := piece[from : from+s.done[partKeyID]]
	if s.at == partKeyID && bytes.HasPrefix([]byte(key.ID()), id) || string(id) == key.ID() {
		return nil
	}
	return otherKey(id, key)
}

func otherKey(id []byte, key *Key) error {
	return fmt.Errorf("signed with %w, %q, and not with %q", errKey, id, key.ID())
}

// decodeBase64 decodes behind what is there. Each value has one text: padding is needed, and its bits are zero. Line ends, which Go's
// decoder passes over, are not in what was followed.
func decodeBase64(to, text []byte) ([]byte, error) {
	to, err := base64.StdEncoding.Strict().AppendDecode(to, text)
	if err != nil {
		return nil, errBase64
	}
	return to, nil
}

// SealEnvelope signs an in-toto statement that belongs to no record: a DSSE envelope in the form of a record's line. The subject of such a
// statement has a mediaType, which those of records never have: no record holds the envelope, and no line of a record is one.
func SealEnvelope(key *Key, statement []byte) ([]byte, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	return s.sealPayload(statement)
}

// OpenEnvelope gives the statement of an envelope that [SealEnvelope] made, and the id of its key. keyOf gives the key of an id, or nil, which
// is an error. The id is told with an error, too, if the envelope has one: then nothing proves it. The caller bounds the size.
func OpenEnvelope(data []byte, keyOf func(id string) *Key) (statement []byte, id string, err error) {
	line := newShape()
	if err := line.follow(data); err != nil {
		return nil, "", err
	}
	e, err := line.of(data)
	if err != nil {
		return nil, "", err
	}
	id = string(e.keyID)
	key := keyOf(id)
	if key == nil {
		return nil, id, errKey
	}
	statement, err = (&opener{key: key}).verified(e)
	return statement, id, err
}
