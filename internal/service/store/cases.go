package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
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
