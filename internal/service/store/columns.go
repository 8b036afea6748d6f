package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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

// flag reads a truth value.
type flag struct{ to *bool }

// Scan is for database/sql and pgx.
func (f flag) Scan(column any) error {
	number, ok := column.(int64)
	if !ok {
		return fmt.Errorf("the database is damaged: %T is no truth value", column)
	}
	*f.to = number != 0
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
		return nil, fmt.Errorf("the database is damaged: %s: %w", what, err)
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
