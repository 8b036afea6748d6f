package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// The tables have times as microseconds since 1970, truth values as 0 and 1, lists and objects as JSON and large texts compressed, so that
// both databases read them the same.

// at is a time of the tables; 0 is the zero time.
func at(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// micros is the reverse of at.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// moment reads a time of the tables.
type moment struct{ to *time.Time }

// Scan is for database/sql and pgx.
func (m moment) Scan(column any) error {
	micros, ok := column.(int64)
	if !ok {
		return fmt.Errorf("the database is damaged: %T is no time", column)
	}
	*m.to = at(micros)
	return nil
}

// encoded reads a value that list or object encoded.
type encoded struct{ to any }

// Scan is for database/sql and pgx.
func (e encoded) Scan(column any) error {
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("the database is damaged: %T is no text", column)
	}
	return parse(text, e.to)
}

// number is a truth value as both databases keep it.
func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// text is a text as both databases keep it: PostgreSQL takes no NUL and only valid UTF-8. It is for what is searched and listed;
// the case itself is kept as it is.
func text(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// The longest texts that are listed and searched, in bytes.
const (
	maxName = 1 << 10
	maxText = 8 << 10
)

// digestOf is the SHA-256 of some bytes in hexadecimal digits.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// maxUnpacked bounds what a row of the database may unpack to: the largest is a record of a pushed docket.
const maxUnpacked = 512 << 20

var packer = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(0))
	if err != nil {
		panic(err) // the options are constant
	}
	return e
})

var unpacker = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		panic(err) // the options are constant
	}
	return d
})

// pack compresses the contents of a row.
func pack(data []byte) []byte { return packer().EncodeAll(data, nil) }

// unpack is the reverse of pack. what is for the message.
func unpack(data []byte, what string) ([]byte, error) {
	out, err := unpacker().DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("the database is damaged: %s: %v", what, err) //nolint:errorlint // an early end is no lost connection
	}
	return out, nil
}

// list is a list as a column has it.
func list(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return object(items)
}

// object is a value as a column has it.
func object(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // the types are this package's
	}
	return string(text)
}

// parse is the reverse of list and object; an empty column leaves the value as it is.
func parse(column string, to any) error {
	if column == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(column), to); err != nil {
		return fmt.Errorf("the database is damaged: %w", err)
	}
	return nil
}

// anys are the arguments of a list of values.
func anys[T any](values []T) []any {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return args
}

type withinKey struct{}

// Within limits what is read and changed with a context to dockets of some repositories; none are no limit. What belongs to another
// docket is ErrNotFound, and is in no list and no count. It is for requests: workers see all.
func Within(ctx context.Context, repositories []string) context.Context {
	if len(repositories) == 0 {
		return ctx
	}
	return context.WithValue(ctx, withinKey{}, slices.Clone(repositories))
}

// WithoutLimit takes the limit of a context away.
func WithoutLimit(ctx context.Context) context.Context {
	return context.WithValue(ctx, withinKey{}, nil)
}

// limitOf is what Within said, nil for no limit.
func limitOf(ctx context.Context) []string {
	repositories, _ := ctx.Value(withinKey{}).([]string)
	return repositories
}

// sees says whether a docket of a repository is within the limit.
func sees(ctx context.Context, repository string) bool {
	within := limitOf(ctx)
	return within == nil || slices.Contains(within, repository)
}

// within adds the limit as a condition on a column with the repository.
func (w *where) within(ctx context.Context, column string) {
	w.withinThe(ctx, column+` IN (`, `)`)
}

// withinThe adds the limit as a condition around its placeholders.
func (w *where) withinThe(ctx context.Context, before, after string) {
	repositories := limitOf(ctx)
	if repositories == nil {
		return
	}
	w.add(before+marks(len(repositories))+after, anys(repositories)...)
}

// tallies adds the limit as a condition on the table tallies.
func (w *where) tallies(ctx context.Context) {
	w.withinThe(ctx, `docket IN (SELECT id FROM dockets WHERE repository IN (`, `))`)
}

// checkUndo rejects that a correction is undone which is also about trials beyond the limit.
func (t *tx) checkUndo(ctx context.Context, id int64) error {
	if limitOf(ctx) == nil {
		return nil
	}
	all, err := countCorrected(WithoutLimit(ctx), t, id)
	if err != nil {
		return err
	}
	own, err := countCorrected(ctx, t, id)
	switch {
	case err != nil:
		return err
	case own == 0:
		return fmt.Errorf("correction %d: %w", id, ErrNotFound)
	case own < all:
		return fmt.Errorf("correction %d is about trials of other repositories, too: %w", id, ErrState)
	}
	return nil
}

// where builds a condition. Each ? is the next placeholder.
type where struct {
	parts []string
	args  []any
}

func (w *where) add(condition string, args ...any) {
	for _, a := range args {
		w.args = append(w.args, a)
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(w.args)), 1)
	}
	w.parts = append(w.parts, condition)
}

// equal compares a column unless the value is empty.
func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

// before selects what has a smaller id, as the page behind one does; 0 selects all.
func (w *where) before(id int64) {
	if id > 0 {
		w.add("id < ?", id)
	}
}

// in compares a column with a list that is not empty.
func (w *where) in(column string, list []any) {
	w.add(column+" IN ("+marks(len(list))+")", list...)
}

// marks are n question marks, for IN.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// contains looks for a text in a lower-case expression.
func (w *where) contains(d *database, expression, value string) {
	w.add(d.position()+"("+expression+", ?) > 0", strings.ToLower(text(value, maxName)))
}

func (w *where) text() string {
	if len(w.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.parts, " AND ")
}

// limit is the end of a query, with a bound on what was asked for.
func (w *where) limit(n, byDefault, most int) string {
	if n <= 0 {
		n = byDefault
	}
	return " LIMIT " + strconv.Itoa(min(n, most))
}
