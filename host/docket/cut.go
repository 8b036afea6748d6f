package docket

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// cutText shortens a text, whose middle lacks missing bytes already, to at most limit bytes, and returns how many are left out in total:
// the first part stays, the last part stays, and between them a line says how many bytes were cut. It cuts at line breaks where one is near,
// and never inside a character. A limit below 128 counts as 128.
func cutText(text string, limit, missing int) (string, int) {
	limit = max(limit, leastCut)
	if len(text)+missing <= limit {
		return text, 0
	}
	const markBytes = 64 // the longest mark, line breaks included
	room := limit - markBytes
	head := headEnd(text, room/2)
	tail := tailStart(text, len(text)-(room-room/2))
	out := tail - head + missing
	return text[:head] + "\n[... " + strconv.Itoa(out) + " bytes cut here ...]\n" + text[tail:], out
}

// leastCut is the lowest limit of a cut.
const leastCut = 128

// CutDocuments cuts the documents of a case in place, so that none has more than each bytes and all together have at
// most total. When they are too much together, the longest give first. It gives those that it cut, in order.
func CutDocuments(documents []abi.Document, each, total int) []trial.DocumentCut {
	lengths := make([]int, 0, len(documents))
	for _, d := range documents {
		lengths = append(lengths, min(len(d.Text), each))
	}
	each = min(each, fairShare(lengths, total))
	var cuts []trial.DocumentCut
	for i := range documents {
		d := &documents[i]
		before := len(d.Text)
		var out int
		if d.Text, out = cutText(d.Text, each, 0); out > 0 {
			cuts = append(cuts, trial.DocumentCut{Name: d.Name, Bytes: before, Kept: before - out})
		}
	}
	return cuts
}

// CutAgain joins what was cut of documents first and then: a document that was cut twice has the bytes that it had at
// first, less what was left out both times.
func CutAgain(first, then []trial.DocumentCut) []trial.DocumentCut {
	all := slices.Clone(first)
	for _, c := range then {
		i := slices.IndexFunc(all, func(f trial.DocumentCut) bool { return f.Name == c.Name })
		if i < 0 {
			all = append(all, c)
			continue
		}
		all[i].Kept = max(0, all[i].Kept-(c.Bytes-c.Kept))
	}
	return all
}

// fairShare is the largest bound that keeps the sum of all lengths, each cut to the bound, within total.
func fairShare(lengths []int, total int) int {
	slices.Sort(lengths)
	for i, n := range lengths {
		left := len(lengths) - i
		if n > total/left {
			return total / left
		}
		total -= n
	}
	return math.MaxInt
}

// headEnd is where the head ends: at a line break in its last eighth, or else at a character's end.
func headEnd(text string, end int) int {
	if i := strings.LastIndexByte(text[end-end/8:end], '\n'); i >= 0 {
		return end - end/8 + i
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

func tailStart(text string, start int) int {
	if i := strings.IndexByte(text[start:start+(len(text)-start)/8], '\n'); i >= 0 {
		return start + i + 1
	}
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return start
}

// MaxDocumentFileBytes is the longest file that is a document.
const MaxDocumentFileBytes = 1 << 30

// ReadDocument reads a file as the document of a name, cut as those of a case are, see [CutDocuments], and holds no more than a few times
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
