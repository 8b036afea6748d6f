package store

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run/journal"
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
	digest        string
	members       []string // digests
	truth         *trial.Truth
	result, story []byte
}

// readTrials reads a range of a docket; whole ones with their cases and stories.
func readTrials(ctx context.Context, q querier, docketID int64, first, last int, whole bool) ([]*Tried, error) {
	const ofVerdict = ` FROM verdicts v WHERE v.key = entries.verdict)`
	story := `(SELECT story` + ofVerdict
	if !whole {
		story = "NULL"
	}
	var rests []rest
	var digests []string
	list, err := rowsOf(ctx, q, `SELECT `+entryColumns+`, case_digest, members, truth, (SELECT result`+ofVerdict+`, `+story+`, coalesce((SELECT record`+ofVerdict+`, 0)
		FROM entries WHERE docket = $1 AND ordinal >= $2 AND ordinal <= $3 ORDER BY ordinal`,
		[]any{docketID, int64(first), int64(last)}, func(scan scanner) (*Tried, error) {
			t := &Tried{}
			var r rest
			var err error
			t.Entry, err = scanEntry(func(to ...any) error {
				return scan(append(to, &r.digest, encoded{&r.members}, encoded{&r.truth}, &r.result, &r.story, &t.Record)...)
			})
			rests = append(rests, r)
			if whole && r.digest != "" {
				digests = append(append(digests, r.digest), r.members...)
			}
			return t, err
		})
	if err != nil {
		return nil, err
	}
	cases, err := readCases(ctx, q, digests)
	if err != nil {
		return nil, err
	}
	for i, t := range list {
		if !whole { // a result has the ids of its members: those of one entry at a time, since there may be many
			cases, err = readCases(ctx, q, rests[i].members)
		}
		if err == nil {
			err = rests[i].complete(t, cases, whole)
		}
		if err != nil {
			return nil, fmt.Errorf("trial %s: %w", t.ID, err)
		}
	}
	return list, nil
}

// complete gives an entry its trial.
func (r *rest) complete(t *Tried, cases caseSet, whole bool) (err error) {
	if r.result != nil {
		t.Trial, err = decodeTrial(r.result, r.story)
	} else if whole && r.digest != "" && t.Fault == "" {
		t.Trial = &trial.Trial{Result: trial.Result{ID: t.CaseID}}
	}
	if err != nil || t.Trial == nil {
		return err
	}
	t.Trial.Truth = r.truth
	members := make([]abi.Case, len(r.members))
	for i, digest := range r.members {
		if members[i], err = cases.get(digest); err != nil {
			return err
		}
	}
	if !whole {
		for i := range members {
			t.Trial.Result.Members = append(t.Trial.Result.Members, members[i].ID)
		}
		return nil
	}
	subject, err := cases.get(r.digest)
	if err != nil {
		return err
	}
	for beside := t.Trial; beside != nil; beside = beside.Beside { // the case is kept once
		beside.Case = subject
	}
	if t.Trial.Result.Final.Status == "" {
		t.Trial.Result.ID = subject.ID
	}
	if len(members) > 0 {
		t.Trial.Stand(members)
	}
	if len(t.LabelNames) > 0 {
		if t.Trial.LabelNames == nil {
			t.Trial.LabelNames = map[string]string{}
		}
		maps.Copy(t.Trial.LabelNames, t.LabelNames)
	}
	return nil
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

// decodeTrial reads the columns of a verdict; without a story the result alone.
func decodeTrial(result, story []byte) (*trial.Trial, error) {
	result, err := unpack(result, "a result")
	if err == nil && story != nil {
		story, err = unpack(story, "a trial")
	}
	if err != nil {
		return nil, err
	}
	return journal.DecodeTrial(result, story)
}

// doubt is how much a result needs a person, in [0, 1]: 1 without a label, and else 1 less the confidence.
func doubt(final *trial.Final) float64 {
	if final.Classification == "" {
		return 1
	}
	return 1 - final.Confidence
}

// verdictKey is what a verdict is unique by: the digests of its case and its configuration, and the generation.
func verdictKey(caseDigest string, generation int64, configuration string) string {
	return digestOf([]byte(caseDigest + "\n" + strconv.FormatInt(generation, 10) + "\n" + configuration))
}
