package alibi

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/record"
)

// Verifier checks the statements of a record while its entries are read. The zero value is ready. One goroutine uses it.
type Verifier struct {
	// Proof that was read; nil before it, and in a record of other trials.
	Proof *Proof

	header   *record.Header
	modules  []record.Part
	previous record.Digest // head before the entry
	trials   map[string]bool
	expected []record.Statement // behind the proof
}

// Proves says whether the record is that of a proof, by its header.
func (v *Verifier) Proves() bool { return v.header != nil && light(v.header) != "" }

func light(h *record.Header) record.Digest {
	for _, p := range h.Configuration {
		if p.Name == lightPart {
			return p.Digest
		}
	}
	return ""
}

// Add takes the next entry of a record, and the head of the record behind it. The error says why a statement is not of this record.
func (v *Verifier) Add(e *record.Entry, head record.Digest) error {
	previous := v.previous
	v.previous = head
	if e.Header != nil {
		v.header = e.Header
	}
	if !v.Proves() {
		return nil
	}
	switch {
	case e.Generation != nil:
		v.modules = e.Generation.Modules
	case e.Trial != nil && v.Proof != nil:
		return errors.New("a trial stands behind the proof")
	case e.Trial != nil:
		if v.trials == nil {
			v.trials = map[string]bool{}
		}
		v.trials[e.Trial.ID] = true
	case e.Statement != nil:
		return v.statement(e.Statement, previous)
	case e.Closing != nil:
		return v.End()
	}
	return nil
}

// End says whether statements are missing at the end of a record.
func (v *Verifier) End() error {
	switch {
	case !v.Proves():
		return nil
	case v.Proof == nil:
		return errors.New("the record has no proof: its answers are not stated")
	case len(v.expected) > 0:
		return errors.New("the proof has no statement of the type " + v.expected[0].PredicateType)
	}
	return nil
}

func (v *Verifier) statement(s *record.Statement, previous record.Digest) error {
	if v.Proof == nil {
		if s.PredicateType != ProofType {
			return fmt.Errorf("a statement of the type %q stands before the proof", s.PredicateType)
		}
		p, err := parseProof(s.Predicate)
		if err == nil {
			err = v.fits(p, previous)
		}
		if err == nil {
			v.expected, err = p.statements(v.header)
		}
		if err != nil {
			return fmt.Errorf("the proof: %w", err)
		}
		v.Proof = p
	}
	if len(v.expected) == 0 {
		return fmt.Errorf("a statement of the type %q stands behind the proof", s.PredicateType)
	}
	want := v.expected[0]
	v.expected = v.expected[1:]
	was, err := encode(s)
	if err != nil {
		return err
	}
	is, err := encode(&want)
	if err == nil && !bytes.Equal(was, is) {
		err = fmt.Errorf("the statement of the type %s does not say what the answers say", want.PredicateType)
	}
	return err
}

// fits says whether the proof is of this record.
func (v *Verifier) fits(p *Proof, previous record.Digest) error {
	switch {
	case p.Record != previous:
		return errors.New("it is of another record")
	case light(v.header) != record.DigestOf(lightText(p.MaxFalse)):
		return errors.New("its max_false_alibi is another one than that of the record")
	case len(p.Answers) != len(v.trials):
		return fmt.Errorf("it has %d answers, and the record %d trials", len(p.Answers), len(v.trials))
	}
	if !slices.Equal(p.Modules, v.modules) {
		return errors.New("its modules are not those of the record")
	}
	seen := map[string]bool{}
	for _, a := range p.Answers {
		if !v.trials[a.ID] || seen[a.ID] {
			return fmt.Errorf("the answer %q is not of a trial of the record, or is there twice", a.ID)
		}
		seen[a.ID] = true
	}
	return nil
}
