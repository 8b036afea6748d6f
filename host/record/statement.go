package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// Statement is an in-toto statement of another type than that of entries. In a record it is signed as entries are. It says nothing of its
// place: the entry behind it does, with the digest of its line.
type Statement struct {
	Subject       []Resource
	PredicateType string
	Predicate     json.RawMessage // a JSON object
}

// Resource is an in-toto ResourceDescriptor, as far as it is used here.
type Resource struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"` // by algorithm, such as sha256 or gitCommit
}

// otherStatement is a Statement on the wire.
type otherStatement struct {
	Type          string          `json:"_type"`
	Subject       []Resource      `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

// ofEntry is in the statement of every entry, and in no other.
const ofEntry = `"predicateType":"` + predicateType + `"`

func (s *Statement) check() error {
	switch {
	case s.PredicateType == "" || s.PredicateType == predicateType || bytes.Contains(s.Predicate, []byte(ofEntry)):
		return errors.New("a statement of another type than that of entries is needed")
	case len(s.Subject) == 0:
		return errors.New("the statement has no subject")
	case slices.ContainsFunc(s.Subject, func(r Resource) bool { return len(r.Digest) == 0 }):
		return errors.New("the statement has a subject without a digest")
	case !bytes.HasPrefix(s.Predicate, []byte{'{'}):
		return errors.New("the predicate is no object")
	}
	return nil
}

func (s *Statement) encode(to *encoder) ([]byte, error) {
	return to.encode(&otherStatement{statementType, s.Subject, s.PredicateType, s.Predicate})
}

// decodeStatement reads what encode has written.
func decodeStatement(payload []byte) (*Entry, error) {
	var o otherStatement
	if err := json.Unmarshal(payload, &o); err != nil {
		return nil, err
	}
	s := &Statement{o.Subject, o.PredicateType, o.Predicate}
	return &Entry{Statement: s}, s.check()
}

// AppendStatement writes a statement of another type. It is durable after the next Sync.
func (w *Writer) AppendStatement(s *Statement) error {
	if err := s.check(); err != nil {
		return err
	}
	return w.append(&Entry{Statement: s})
}
