package records

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/replay"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// commitForm is what the whole hash of a commit looks like.
var commitForm = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// verifiedProof is what verify says of the proof in a record.
type verifiedProof struct {
	Commit      string         `json:"commit"`
	Uncommitted bool           `json:"uncommitted"`
	Tree        record.Digest  `json:"tree"`
	Base        string         `json:"base"`
	Target      string         `json:"target,omitempty"`
	MaxFalse    float64        `json:"max_false_alibi"`
	Answers     []statedAnswer `json:"answers"`
	Unanswered  []string       `json:"unanswered,omitempty"`
}

type statedAnswer struct {
	ID      string        `json:"id"`
	Verdict alibi.Verdict `json:"verdict"`
	Label   string        `json:"attribution,omitempty"`
}

func proofOf(p *alibi.Proof) *verifiedProof {
	v := &verifiedProof{Commit: p.Head, Uncommitted: p.Uncommitted, Tree: p.Tree, Base: p.Base, Target: p.Target, MaxFalse: p.MaxFalse, Answers: []statedAnswer{}, Unanswered: p.Unanswered}
	for _, a := range p.Answers {
		v.Answers = append(v.Answers, statedAnswer{a.ID, a.Verdict, a.Label})
	}
	return v
}

// ofCommit says whether a proof is of a commit; nil stands for none.
func ofCommit(p *alibi.Proof, commit string) error {
	switch {
	case commit == "":
		return nil
	case p == nil:
		return errors.New("it has no proof: `shadowcourt alibi --proof` writes one")
	case p.Head != commit:
		return fmt.Errorf("it proves nothing of the commit %s: it is of commit %s", commit, sanitize.Line(p.Head))
	case p.Uncommitted:
		return fmt.Errorf("it proves nothing of the commit %s: it is of a tree with further changes that are not committed", commit)
	}
	return nil
}

// derivation derives the answers of a proof when all trials were replayed.
type derivation struct {
	verifier alibi.Verifier
	fault    error // of the statements
	trials   []replay.Replayed
}

// read takes an entry as it is read.
func (d *derivation) read(e *record.Entry, head record.Digest) {
	if err := d.verifier.Add(e, head); err != nil && d.fault == nil {
		d.fault = fmt.Errorf("entry %d: %w", e.Sequence, err)
	}
}

// keep keeps a replayed trial of a record with a proof.
func (d *derivation) keep(r *replay.Replayed) {
	if d.verifier.Proves() && r.Err == nil && r.Difference == nil {
		d.trials = append(d.trials, *r)
	}
}

// tell derives the answers of the trials that were replayed, tells each that differs, and says how many are the same.
func (d *derivation) tell(w io.Writer, header *record.Header, closed bool) (same int, err error) {
	if d.fault != nil {
		return 0, d.fault
	}
	if err := d.verifier.End(); err != nil {
		return 0, err
	}
	if d.verifier.Proves() && !closed {
		return 0, errors.New("the proof has no end: it was cut, or never closed")
	}
	p := d.verifier.Proof
	if p == nil {
		return 0, nil
	}
	deriver, err := alibi.NewDeriver(header, p)
	if err != nil {
		return 0, err
	}
	other := 0
	for i := range d.trials {
		r := &d.trials[i]
		at := slices.IndexFunc(p.Answers, func(a *alibi.Answer) bool { return a.ID == r.Was.ID })
		if err := deriver.Check(p.Answers[at], r.Was, r.Trial); err != nil {
			other++
			if _, err := fmt.Fprintf(w, "%s  does not follow from its runs: %s\n", sanitize.Line(r.Was.ID), sanitize.Line(err.Error())); err != nil {
				return same, err
			}
			continue
		}
		same++
	}
	if other > 0 {
		return same, fmt.Errorf("%s of the proof, %d the same", cli.Count(other, "answer does not follow from the runs", "answers do not follow from the runs"), same)
	}
	return same, nil
}
