package store

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxUnpacked bounds what a row of the database may unpack to: the largest is a record of a batch.
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
