package docket

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// MaxDocumentFileBytes is the longest file that is a document.
const MaxDocumentFileBytes = 1 << 30

// ReadDocument reads a file as the document of a name, cut as [CutDocument] cuts it, and holds no more than a few times
// limit bytes of it. cut says what was left out, nil where nothing was. replaced counts the bytes that are no UTF-8, for
// which U+FFFD stands in the text.
//
// The error is a *LineError for what is no text: what has a byte of zero, or in which every tenth byte or more is no UTF-8;
// and for a file over [MaxDocumentFileBytes]. Any other comes from in.
func ReadDocument(name string, in io.Reader, limit int) (document abi.Document, cut *trial.DocumentCut, replaced int, err error) {
	r := endsReader{name: name, limit: max(limit, leastCut)}
	if err := r.read(in); err != nil {
		return abi.Document{}, nil, 0, err
	}
	text, out := cutText(string(r.head)+string(r.tail), limit, r.total-len(r.head)-len(r.tail))
	if out > 0 {
		cut = &trial.DocumentCut{Name: name, Bytes: r.total, Kept: r.total - out}
	}
	replaced = invalidBytes(text)
	if replaced*10 > len(text) {
		return abi.Document{}, nil, 0, NewLineError(name, 0, abi.CodeInvalidUTF8, "is no UTF-8 text")
	}
	return abi.Document{Name: name, Text: strings.ToValidUTF8(text, "\uFFFD")}, cut, replaced, nil
}

// endsReader keeps the beginning and the end of a file. Both together have a place to cut in them, or are all of it.
type endsReader struct {
	name       string
	limit      int
	head, tail []byte
	total      int
}

func (r *endsReader) read(in io.Reader) error {
	chunk := make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(in, chunk)
		if fault := r.take(chunk[:n]); fault != nil {
			return fault
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return fmt.Errorf("reading %s: %w", r.name, err)
		}
	}
}

// take keeps what is needed of the next bytes.
func (r *endsReader) take(chunk []byte) error {
	if r.total == 0 {
		if kind := stream.Kind(chunk); kind != "" {
			return NewLineError(r.name, 0, CodeNotText, "is "+kind+", a document is UTF-8 text")
		}
		chunk = bytes.TrimPrefix(chunk, []byte(stream.MarkUTF8))
	}
	if i := bytes.IndexByte(chunk, 0); i >= 0 {
		return NewLineError(r.name, 0, CodeNotText, "is no text: byte "+strconv.Itoa(r.total+i)+" is zero")
	}
	if r.total += len(chunk); r.total > MaxDocumentFileBytes {
		return NewLineError(r.name, 0, abi.CodeTooLarge, "is larger than "+strconv.Itoa(MaxDocumentFileBytes)+" bytes")
	}
	n := min(len(chunk), r.limit-len(r.head))
	r.head, chunk = append(r.head, chunk[:n]...), chunk[n:]
	r.tail = append(r.tail, chunk...)
	if len(r.tail) > 2*r.limit+cap(chunk) {
		r.tail = append(r.tail[:0], r.tail[len(r.tail)-r.limit:]...)
	}
	return nil
}

// invalidBytes counts those that are no UTF-8.
func invalidBytes(s string) int {
	n := 0
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				n++
			}
		}
	}
	return n
}
