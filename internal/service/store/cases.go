package store

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

const (
	// sharedBytes is from which size on the text of a document is kept by itself, shared by all cases that have it.
	sharedBytes = 4 << 10
	// MaxCaseBytes is the most that one case may have, its documents included.
	MaxCaseBytes = 64 << 20
)

// storedCase is a case as the tables have it.
type storedCase struct {
	digest    string
	size      int64
	body      []byte // packed, without the texts of documents that are kept by themselves
	documents []storedDocument
}

type storedDocument struct {
	place  int
	digest string
	size   int64
	body   []byte // packed
}

// splitCase takes the large documents out of a case.
func splitCase(c *abi.Case) (storedCase, error) {
	whole := codec.AppendCase(nil, c)
	if len(whole) > MaxCaseBytes {
		return storedCase{}, fmt.Errorf("%w: the case has %d bytes, and %d are allowed", ErrTooLarge, len(whole), MaxCaseBytes)
	}
	s := storedCase{digest: digestOf(whole), size: int64(len(whole))}
	rest := *c
	for i := range c.Documents {
		content := c.Documents[i].Text
		if len(content) < sharedBytes {
			continue
		}
		if s.documents == nil {
			rest.Documents = slices.Clone(c.Documents)
		}
		rest.Documents[i].Text = ""
		s.documents = append(s.documents, storedDocument{i, digestOf([]byte(content)), int64(len(content)), pack([]byte(content))})
	}
	if s.documents != nil {
		whole = codec.AppendCase(whole[:0], &rest)
	}
	s.body = pack(whole)
	return s, nil
}

// insertCases adds the cases that are not there, and touches those that are. Rows are inserted in the order of their keys, so
// that two submissions of the same cases don't wait for each other in a circle.
func (t *tx) insertCases(ctx context.Context, list []storedCase, now int64) error {
	list = distinct(list, func(c storedCase) string { return c.digest })
	var documents []storedDocument
	for _, c := range list {
		documents = append(documents, c.documents...)
	}
	documents = distinct(documents, func(d storedDocument) string { return d.digest })
	in := inserter{head: `INSERT INTO documents (digest, size, body, touched) VALUES `, tail: touch("documents")}
	for _, d := range documents {
		in.add(ctx, t, d.digest, d.size, d.body, now)
	}
	in.flush(ctx, t)
	in = inserter{head: `INSERT INTO cases (digest, size, body, touched) VALUES `, tail: touch("cases")}
	for _, c := range list {
		in.add(ctx, t, c.digest, c.size, c.body, now)
	}
	in.flush(ctx, t)
	in = inserter{head: `INSERT INTO case_documents (case_digest, place, document) VALUES `, tail: ` ON CONFLICT DO NOTHING`}
	for _, c := range list {
		for _, d := range c.documents {
			in.add(ctx, t, c.digest, int64(d.place), d.digest)
		}
	}
	in.flush(ctx, t)
	return t.err
}

// touch keeps retention from removing a row that a submission needs again.
func touch(table string) string {
	return ` ON CONFLICT (digest) DO UPDATE SET touched = excluded.touched WHERE ` + table + `.touched < excluded.touched`
}

// distinct keeps one of each key, sorted.
func distinct[T any](list []T, key func(T) string) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return key(a) == key(b) })
}

// inserter inserts many rows with few statements.
type inserter struct {
	head, tail string
	args       []any
	rows       int
	bytes      int
	text       strings.Builder
	added      int64 // rows, without those that were there
}

// The most rows and bytes of one statement.
const (
	insertRows  = 250
	insertBytes = 8 << 20
)

// add adds a row. Errors are those of the transaction.
func (i *inserter) add(ctx context.Context, t *tx, values ...any) {
	if i.rows > 0 {
		i.text.WriteString(", ")
	}
	i.text.WriteByte('(')
	for n, v := range values {
		if n > 0 {
			i.text.WriteString(", ")
		}
		i.args = append(i.args, v)
		if t.db.pool == nil {
			i.text.WriteByte('?') // SQLite looks numbered ones up, one by one
		} else {
			i.text.WriteString("$" + strconv.Itoa(len(i.args)))
		}
		switch v := v.(type) {
		case []byte:
			i.bytes += len(v)
		case string:
			i.bytes += len(v)
		}
	}
	i.text.WriteByte(')')
	if i.rows++; i.rows >= insertRows || i.bytes >= insertBytes {
		i.flush(ctx, t)
	}
}

func (i *inserter) flush(ctx context.Context, t *tx) {
	if i.rows == 0 {
		return
	}
	n, _ := t.exec(ctx, i.head+i.text.String()+i.tail, i.args...) // the error is the transaction's
	i.added += n
	i.text.Reset()
	i.args, i.rows, i.bytes = i.args[:0], 0, 0
}

// places are n placeholders from $first on, for IN.
func places(first, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(first+i))
	}
	return b.String()
}

// caseSet has cases by their digests.
type caseSet map[string]*abi.Case

// get gives a case that must be there.
func (s caseSet) get(digest string) (abi.Case, error) {
	if c := s[digest]; c != nil {
		return *c, nil
	}
	return abi.Case{}, fmt.Errorf("the database is damaged: case %s is missing", digest)
}

func readCases(ctx context.Context, q querier, digests []string) (caseSet, error) {
	digests = distinct(digests, func(d string) string { return d })
	cases := make(caseSet, len(digests))
	for chunk := range slices.Chunk(digests, insertRows) {
		in := places(1, len(chunk))
		if err := each(ctx, q, `SELECT digest, body FROM cases WHERE digest IN (`+in+`)`, anys(chunk), func(scan scanner) error {
			var digest string
			var body []byte
			err := scan(&digest, &body)
			if err == nil {
				cases[digest], err = decodeCase(digest, body)
			}
			return err
		}); err != nil {
			return nil, err
		}
		if err := each(ctx, q, `SELECT cd.case_digest, cd.place, d.body FROM case_documents cd JOIN documents d ON d.digest = cd.document
			WHERE cd.case_digest IN (`+in+`)`, anys(chunk), cases.addDocument); err != nil {
			return nil, err
		}
	}
	return cases, nil
}

// addDocument reads a document that is kept by itself.
func (s caseSet) addDocument(scan scanner) error {
	var digest string
	var place int
	var body []byte
	if err := scan(&digest, &place, &body); err != nil {
		return err
	}
	content, err := unpack(body, "a document of case "+digest)
	if err != nil {
		return err
	}
	c := s[digest]
	if c == nil || place >= len(c.Documents) {
		return fmt.Errorf("the database is damaged: case %s has no document %d", digest, place)
	}
	c.Documents[place].Text = string(content)
	return nil
}

func decodeCase(digest string, body []byte) (*abi.Case, error) {
	data, err := unpack(body, "case "+digest)
	if err != nil {
		return nil, err
	}
	c, err := codec.DecodeCase(data, MaxCaseBytes)
	if err != nil {
		return nil, fmt.Errorf("the database is damaged: case %s: %w", digest, err)
	}
	return &c, nil
}

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
	return first("trial "+id.String(), list, err)
}

// Results reads the results of a docket in its order, from an ordinal on (from 1): those that were tried, those that wait and faults.
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
	return run.DecodeTrial(result, story)
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
