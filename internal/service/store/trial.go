package store

import (
	"context"
	"fmt"
	"iter"
	"maps"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Tried is an entry with its trial.
type Tried struct {
	Entry
	// Trial is nil while the entry waits for one, and where it has a fault. Read by [Store.Results] it has the result alone.
	Trial *trial.Trial
	// Record is the id of the signed record that holds the trial; 0 for none.
	Record int64
}

// Trial reads an entry with all that is kept of its trial: its case with all documents, what the entry knows of truth, members
// and labels, and how it came about. A trial without a verdict has no passes.
func (s *Store) Trial(ctx context.Context, id TrialID) (*Tried, error) {
	var list []*Tried
	err := s.db.snapshot(ctx, func(q querier) (err error) {
		if limitOf(ctx) != nil {
			if _, err := readDocket(ctx, q, id.Docket); err != nil {
				return err
			}
		}
		list, err = readTrials(ctx, q, id.Docket, id.Ordinal, id.Ordinal, true)
		return err
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("trial %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Results reads the results of a docket in its order, from an ordinal on (from 1): those that were tried, those that wait and
// faults.
func (s *Store) Results(ctx context.Context, docketID int64, from int) iter.Seq2[*Tried, error] {
	return s.trials(ctx, docketID, from, false)
}

// Trials is Results with whole trials.
func (s *Store) Trials(ctx context.Context, docketID int64, from int) iter.Seq2[*Tried, error] {
	return s.trials(ctx, docketID, from, true)
}

// Trials that are read at once: results are small.
const (
	resultsAtOnce = 500
	trialsAtOnce  = 20
)

func (s *Store) trials(ctx context.Context, docketID int64, from int, whole bool) iter.Seq2[*Tried, error] {
	return func(yield func(*Tried, error) bool) {
		if _, err := s.Docket(ctx, docketID); err != nil {
			yield(nil, err)
			return
		}
		count := resultsAtOnce
		if whole {
			count = trialsAtOnce
		}
		for from = max(from, 1); ; from += count {
			var list []*Tried
			err := s.db.snapshot(ctx, func(q querier) (err error) {
				list, err = readTrials(ctx, q, docketID, from, from+count-1, whole)
				return err
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, t := range list {
				if !yield(t, nil) {
					return
				}
			}
			if len(list) < count {
				return
			}
		}
	}
}

// rest is what is read of an entry beside what is listed.
type rest struct {
	digest, truth, names string
	members              []string
	result, story        []byte
}

// readTrials reads a range of a docket; whole ones with their cases and stories.
func readTrials(ctx context.Context, q querier, docketID int64, first, last int, whole bool) ([]*Tried, error) {
	columns := "v.result, coalesce(v.record, 0)"
	if whole {
		columns = "v.result, v.story, coalesce(v.record, 0)"
	}
	var list []*Tried
	var rests []rest
	var digests []string
	err := each(ctx, q, `SELECT `+prefixed("e", entryColumns)+`, e.case_digest, e.members, e.truth, e.label_names, `+columns+`
		FROM entries e LEFT JOIN verdicts v ON v.key = e.verdict
		WHERE e.docket = $1 AND e.ordinal >= $2 AND e.ordinal <= $3 ORDER BY e.ordinal`,
		[]any{docketID, int64(first), int64(last)}, func(scan func(...any) error) error {
			t := &Tried{}
			var r rest
			var members string
			var err error
			t.Entry, err = scanEntry(func(to ...any) error {
				to = append(to, &r.digest, &members, &r.truth, &r.names, &r.result)
				if whole {
					to = append(to, &r.story)
				}
				return scan(append(to, &t.Record)...)
			})
			if err == nil {
				err = parse(members, &r.members)
			}
			list, rests = append(list, t), append(rests, r)
			if whole && r.digest != "" {
				digests = append(append(digests, r.digest), r.members...)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	cases, err := readCases(ctx, q, digests)
	if err != nil {
		return nil, err
	}
	for i, t := range list {
		if err := rests[i].complete(t, cases, whole); err != nil {
			return nil, fmt.Errorf("trial %s: %w", t.ID, err)
		}
	}
	if !whole {
		return list, memberIDs(ctx, q, list, rests)
	}
	return list, nil
}

// complete gives an entry its trial.
func (r *rest) complete(t *Tried, cases map[string]*abi.Case, whole bool) error {
	if r.result != nil {
		read, err := decodeTrial(r.result, r.story)
		if err != nil {
			return err
		}
		t.Trial = read
	} else if whole && r.digest != "" && t.Fault == "" {
		t.Trial = &trial.Trial{Result: trial.Result{ID: t.CaseID}}
	}
	if t.Trial == nil {
		return nil
	}
	if r.truth != "" {
		t.Trial.Truth = &trial.Truth{}
		if err := parse(r.truth, t.Trial.Truth); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	subject := cases[r.digest]
	if subject == nil {
		return fmt.Errorf("the database is damaged: case %s is missing", r.digest)
	}
	setCase(t.Trial, subject)
	if t.Trial.Result.Final.Status == "" {
		t.Trial.Result.ID = subject.ID
	}
	var members []abi.Case
	for _, digest := range r.members {
		if cases[digest] == nil {
			return fmt.Errorf("the database is damaged: case %s is missing", digest)
		}
		members = append(members, *cases[digest])
	}
	t.Trial.Stand(members)
	if r.names != "" {
		names := map[string]string{}
		if err := parse(r.names, &names); err != nil {
			return err
		}
		if t.Trial.LabelNames == nil {
			t.Trial.LabelNames = map[string]string{}
		}
		maps.Copy(t.Trial.LabelNames, names)
	}
	return nil
}

// memberIDs puts the ids of members into results whose cases are not read.
func memberIDs(ctx context.Context, q querier, list []*Tried, rests []rest) error {
	for i, t := range list {
		if t.Trial == nil || len(rests[i].members) == 0 {
			continue
		}
		cases, err := readCases(ctx, q, rests[i].members)
		if err != nil {
			return err
		}
		for _, digest := range rests[i].members {
			if cases[digest] == nil {
				return fmt.Errorf("the database is damaged: case %s is missing", digest)
			}
			t.Trial.Result.Members = append(t.Trial.Result.Members, cases[digest].ID)
		}
	}
	return nil
}

// setCase gives a trial, and the canary's beside it, the case that is kept once.
func setCase(t *trial.Trial, c *abi.Case) {
	t.Case = *c
	if t.Beside != nil {
		setCase(t.Beside, c)
	}
}

// Case reads the case of an entry as it was submitted.
func (s *Store) Case(ctx context.Context, id TrialID) (*docket.Entry, error) {
	t, err := s.Trial(ctx, id)
	if err != nil {
		return nil, err
	}
	if t.Trial == nil {
		return nil, fmt.Errorf("trial %s: %w: %s", id, ErrNotFound, t.Fault)
	}
	return &docket.Entry{
		Case: t.Trial.Case, Members: t.Trial.Members, Truth: t.Trial.Truth, LabelNames: t.Trial.LabelNames, Source: t.Source, Line: t.Line,
	}, nil
}
