// Package stream has what readers of long texts share: lines, of which those that are too long are not held, logs of which the head and the
// tail are kept, and faults with their places.
package stream

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Lines hands out the lines of a stream. It holds at most one line, and of a line beyond the limit only its length.
type Lines struct {
	in    *bufio.Reader
	limit int
	buf   []byte
}

// NewLines makes a reader whose lines have at most limit bytes, without their breaks.
func NewLines(in io.Reader, limit int) *Lines {
	return &Lines{in: bufio.NewReaderSize(in, bufferBytes), limit: limit}
}

// Next returns the next line without its line break; it is valid until the next call. length is that of the whole line,
// above limit when the line was too long, and then line is nil. At the end err is io.EOF.
func (l *Lines) Next() (line []byte, length int, err error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		length += len(part)
		if length <= l.limit+len("\r\n") {
			l.buf = append(l.buf, part...)
		}
		switch {
		case err == nil:
			return l.finish(length, part)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && length > 0:
			return l.finish(length, part)
		default:
			return nil, length, err
		}
	}
}

func (l *Lines) finish(length int, last []byte) ([]byte, int, error) {
	if length <= l.limit+len("\r\n") {
		if line := withoutBreak(l.buf); len(line) <= l.limit {
			return line, len(line), nil
		}
	}
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	return nil, length - (len(last) - len(withoutBreak(last))), nil
}

func withoutBreak(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// The most of one log that is kept. What lies between head and tail is cut, and a line says how many bytes were.
const (
	DefaultHeadBytes = 256 << 10
	DefaultTailBytes = 256 << 10
)

// Clip is a log of which the head and the tail are kept. It holds at most head + 2 tail bytes, and less while the log is
// short. Not safe for concurrent use.
type Clip struct {
	// MaxHead and MaxTail are the most bytes that are kept.
	MaxHead, MaxTail int

	head, tail []byte
	dropped    int
}

// NewClip makes an empty log; a size of 0 or less is the default.
func NewClip(head, tail int) Clip {
	if head <= 0 {
		head = DefaultHeadBytes
	}
	if tail <= 0 {
		tail = DefaultTailBytes
	}
	return Clip{MaxHead: head, MaxTail: tail}
}

// Empty says whether nothing was written.
func (c *Clip) Empty() bool { return len(c.head) == 0 && len(c.tail) == 0 }

// Write appends to the log.
func (c *Clip) Write(text string) {
	if room := c.MaxHead - len(c.head); room > 0 && c.dropped == 0 && len(c.tail) == 0 {
		n := min(room, len(text))
		c.head = append(c.head, text[:n]...)
		text = text[n:]
	}
	if over := len(text) - c.MaxTail; over >= max(1, c.MaxTail) { // nothing but its end can stay
		c.dropped += len(c.tail) + over
		c.tail = append(c.tail[:0], text[over:]...)
		return
	}
	c.tail = append(c.tail, text...)
	if over := len(c.tail) - c.MaxTail; over >= max(1, c.MaxTail) {
		c.drop(over)
	}
}

func (c *Clip) drop(n int) {
	c.dropped += n
	c.tail = c.tail[:copy(c.tail, c.tail[n:])]
}

// Text is the log as far as it was kept, as valid UTF-8. Where something was cut, whole lines are, if head and tail have line breaks.
func (c *Clip) Text() string {
	if over := len(c.tail) - c.MaxTail; over > 0 {
		c.drop(over)
	}
	if c.dropped == 0 {
		return strings.ToValidUTF8(string(c.head)+string(c.tail), "\uFFFD")
	}
	head, tail, dropped := string(c.head), string(c.tail), c.dropped
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		dropped += len(head) - i - 1
		head = head[:i+1]
	} else if head != "" {
		head += "\n"
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		dropped += i + 1
		tail = tail[i+1:]
	}
	mark := "[... " + strconv.Itoa(dropped) + " bytes cut here ...]\n"
	return strings.ToValidUTF8(head, "\uFFFD") + mark + strings.ToValidUTF8(tail, "\uFFFD")
}

const (
	// CodeNotJSON: the text is no JSON from a place on.
	CodeNotJSON abi.Code = "not_json"
	// CodeNotText: the file is no UTF-8 text, but UTF-16 or compressed.
	CodeNotText abi.Code = "not_text"
)

// bufferBytes is how much of a stream is read at once.
const bufferBytes = 64 << 10

// ErrStopped ends the reading when nobody wants more.
var ErrStopped = errors.New("stopped")

// TextError is what is wrong with a text, at a place.
type TextError struct {
	Line, Column int // from 1; a column is a character. 0 is the text as a whole.
	Code         abi.Code
	Detail       string
}

func (e *TextError) Error() string {
	text := e.Detail
	if e.Column > 0 {
		text = "column " + strconv.Itoa(e.Column) + ": " + text
	}
	if e.Code == CodeNotJSON {
		text = "is not valid JSON at " + text
	}
	return text
}

// JSONFault places the error of a decoder in the text that it read, which begins at an offset of its input. Nil for an error of the reader below.
func JSONFault(err error, text []byte, offset int64) *TextError {
	fault := &TextError{Code: CodeNotJSON}
	at := len(text)
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		fault.Code, fault.Detail = abi.CodeTruncated, "the text ends here, and is not complete"
	case isSyntax:
		at = int(min(max(syntax.ByteOffset-offset, 0), int64(len(text))))
		fault.Detail = strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
		if errors.Is(syntax.Err, jsontext.ErrDuplicateName) {
			fault.Detail = fmt.Sprintf("the field %.80q stands here a second time", syntax.JSONPointer.LastToken())
		}
	default:
		return nil
	}
	fault.Line, fault.Column = Place(text[:at])
	return fault
}

// Place is where a text ends, from 1.
func Place(text []byte) (line, column int) {
	return 1 + bytes.Count(text, []byte("\n")), 1 + utf8.RuneCount(text[bytes.LastIndexByte(text, '\n')+1:])
}

// KindOf names the kind of a value.
func KindOf(kind jsontext.Kind) string {
	names := map[jsontext.Kind]string{'{': "an object", '[': "a list", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null"}
	return cmp.Or(names[kind], "a number")
}

// MarkUTF8 is the byte order mark that a UTF-8 text may begin with.
const MarkUTF8 = "\xef\xbb\xbf"

// Kind names what a file is that begins so, when it is known to be no UTF-8; otherwise it is empty.
func Kind(head []byte) string {
	for _, kind := range [...]struct{ magic, name string }{
		{"\xff\xfe", "UTF-16"},
		{"\xfe\xff", "UTF-16"},
		{"\x1f\x8b", "compressed (gzip)"},
		{"\x28\xb5\x2f\xfd", "compressed (zstd)"},
		{"PK\x03\x04", "compressed (zip)"},
	} {
		if bytes.HasPrefix(head, []byte(kind.magic)) {
			return kind.name
		}
	}
	return ""
}

// Open skips the byte order mark of a text. The error tells of bytes that are no text in UTF-8, and what is expected.
func Open(in *bufio.Reader, expected string) error {
	head, _ := in.Peek(4) // the first read tells when it fails
	if kind := Kind(head); kind != "" {
		return &TextError{Code: CodeNotText, Detail: "is " + kind + ", " + expected}
	}
	if bytes.HasPrefix(head, []byte(MarkUTF8)) {
		_, _ = in.Discard(len(MarkUTF8))
	}
	return nil
}
