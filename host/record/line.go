package record

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// The line of an entry is a DSSE envelope in one form alone, so that nobody can write it another way: these parts, and between them
// payload, key id and signature.
const (
	lineBegin = `{"payloadType":"` + payloadType + `","payload":"`
	lineKeyID = `","signatures":[{"keyid":"`
	lineSig   = `","sig":"`
	lineEnd   = `"}]}`
)

// maxPartBytes is the longest key id and the longest signature of a line that is read; those of keys are shorter.
const maxPartBytes = 128

var (
	errForm     = errors.New("the line is no entry of a record")
	errLineEnds = errors.New("the line ends in a carriage return: something converted the line ends of the file")
	errBase64   = errors.New("it is not strict base64")
)

// envelope is what a line holds, still in base64.
type envelope struct{ payload, keyID, signature []byte }

// shape follows a line as it grows, so that what can't be an entry is rejected before much of it is read.
type shape struct {
	envelope

	seen  int  // bytes of the line that were looked at
	ends  int  // where the payload ends, 0 while it goes on
	named bool // the key id has ended
	whole bool
}

// follow looks at a line that has grown, and says why it is no entry.
func (s *shape) follow(line []byte) error {
	if n := min(len(line), len(lineBegin)); string(line[:n]) != lineBegin[:n] {
		return errForm
	}
	if s.ends == 0 {
		from := min(max(s.seen, len(lineBegin)), len(line))
		more, _, ends := bytes.Cut(line[from:], []byte{'"'})
		switch s.seen = len(line); {
		case !isBase64(more):
			return fmt.Errorf("the payload: %w", errBase64)
		case !ends:
			return nil
		}
		s.ends = from + len(more)
	}
	s.payload = line[len(lineBegin):s.ends]
	return s.tail(line[s.ends:])
}

// tail looks at what stands behind the payload: the key id, the signature, and nothing else.
func (s *shape) tail(rest []byte) (err error) {
	if s.keyID, rest, s.named, err = part(rest, lineKeyID); err != nil || !s.named {
		return err
	}
	if s.signature, rest, s.whole, err = part(rest, lineSig); err == nil && !isBase64(s.signature) {
		err = fmt.Errorf("the signature: %w", errBase64)
	}
	if err != nil || !s.whole {
		return err
	}
	n := min(len(rest), len(lineEnd))
	switch behind := rest[n:]; {
	case string(rest[:n]) != lineEnd[:n]:
		return fmt.Errorf("%w: it has not one signature", errForm)
	case string(behind) == "\r":
		return errLineEnds
	case len(behind) > 0:
		return fmt.Errorf("%w: something stands behind its signature", errForm)
	}
	s.whole = n == len(lineEnd)
	return nil
}

// part takes a literal and the text behind it up to a quote, or what is there of both.
func part(rest []byte, literal string) (text, behind []byte, ends bool, err error) {
	n := min(len(rest), len(literal))
	if string(rest[:n]) != literal[:n] {
		return nil, nil, false, errForm
	}
	text, _, ends = bytes.Cut(rest[n:], []byte{'"'})
	if len(text) > maxPartBytes {
		err = fmt.Errorf("%w: the id of its key or the signature is too long", errForm)
	}
	return text, rest[n+len(text):], ends, err
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

// of gives the envelope of a line that was followed to its end.
func (s *shape) of() (envelope, error) {
	if !s.whole {
		return envelope{}, errForm
	}
	return s.envelope, nil
}

// cut says whether a line that was followed so far may be the beginning of an entry that this key signed.
func (s *shape) cut(key *Key) error {
	if id := string(s.keyID); id == key.ID() || !s.named && strings.HasPrefix(key.ID(), id) {
		return nil
	}
	return otherKey(s.keyID, key)
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
	var line shape
	if err := line.follow(data); err != nil {
		return nil, "", err
	}
	e, err := line.of()
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
