package api

import (
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"

	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// body is that of a docket which is received: decompressed, bounded and hashed while it is read.
type body struct {
	in   io.Reader
	hash hash.Hash
	left int64 // bytes that may still come, decompressed
	max  int64
	err  error // of reading, unless the end
}

var (
	errTooLarge   = errors.New("the body is too large")
	errCompressed = errors.New("the body is not gzip, as its Content-Encoding says")
)

// openBody begins to read a body. What it decompresses to is bounded like what is sent, so that a small body can't grow without end.
func openBody(raw io.Reader, encoding string, most int64) (*body, error) {
	b := &body{in: raw, hash: sha256.New(), left: most, max: most}
	switch encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			b.err = compressed(err)
			return nil, b.failure(b.err)
		}
		b.in = unzipping{z}
	default:
		return nil, wire.NewProblem(http.StatusUnsupportedMediaType, wire.UnsupportedMedia, fmt.Sprintf("Content-Encoding %.40q is not read here: use gzip, or none", encoding))
	}
	return b, nil
}

// unzipping tells faults of the compression from those of the connection.
type unzipping struct{ *gzip.Reader }

func (u unzipping) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	return n, compressed(err)
}

func compressed(err error) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", errCompressed, err)
	}
	return err
}

// Read reads on. After an error it gives that again.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more byte than may come tells that there are more
	}
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n, err = n-1, errTooLarge
	}
	_, _ = b.hash.Write(p[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// drain reads to the end.
func (b *body) drain() error {
	_, err := io.Copy(io.Discard, b)
	return err
}
