// Package stream reads texts of any length in bounded memory: lines, of which those that are too long are not held, JSON that the
// caller walks, and logs of which the head and the tail are kept.
package stream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// MaxNesting is how deep objects and arrays may nest.
const MaxNesting = 64

// The most of a key, and of a number or another word.
const (
	maxKeyBytes  = 1 << 10
	maxWordBytes = 1 << 10
)

const (
	// CodeNotJSON: the text is no JSON from a place on.
	CodeNotJSON abi.Code = "not_json"
	// CodeNotText: the file is no UTF-8 text, but UTF-16 or compressed.
	CodeNotText abi.Code = "not_text"
)

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

// JSON walks a stream of JSON texts. Not safe for concurrent use.
type JSON struct {
	// MaxDepth is how deep objects and arrays may nest. Default: MaxNesting.
	MaxDepth int
	// Bad, if it is not nil, is told of each string that is no valid UTF-8 or has a lone surrogate; else they become U+FFFD. With it
	// strings and keys are whole.
	Bad func(detail string)

	in           *bufio.Reader
	line, column int // of the next character
	offset       int // of the next byte
	depth        int
}

// NewJSON makes a reader.
func NewJSON(in io.Reader) *JSON { return newJSON(in, bufferBytes) }

// NewText makes a reader of a text.
func NewText(text []byte) *JSON { return newJSON(bytes.NewReader(text), min(len(text), bufferBytes)) }

const bufferBytes = 64 << 10

func newJSON(in io.Reader, buffer int) *JSON {
	return &JSON{in: bufio.NewReaderSize(in, buffer), line: 1, column: 1, MaxDepth: MaxNesting}
}

// Offset is that of the next byte.
func (r *JSON) Offset() int { return r.offset }

// Column is that of the next character, in its line.
func (r *JSON) Column() int { return r.column }

// Line is that of the next character.
func (r *JSON) Line() int { return r.line }

// Open begins a stream, see the function Open.
func (r *JSON) Open(expected string) error { return Open(r.in, expected) }

// Fail is a fault at the next character.
func (r *JSON) Fail(detail string) error {
	return &TextError{r.line, r.column, CodeNotJSON, detail}
}

// peek gives the next byte; its end is a TextError.
func (r *JSON) peek() (byte, error) {
	b, err := r.in.ReadByte()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return 0, &TextError{r.line, r.column, abi.CodeTruncated, "the text ends here, and is not complete"}
		}
		return 0, err
	}
	return b, r.in.UnreadByte()
}

// take steps over a byte that peek gave.
func (r *JSON) take(b byte) {
	_, _ = r.in.ReadByte()
	r.offset++
	switch {
	case b == '\n':
		r.line, r.column = r.line+1, 1
	case b&0xC0 != 0x80:
		r.column++
	}
}

// Next gives the first byte of the next value, which tells what it is: one of {["tfn-0123456789. Anything else is a
// TextError.
func (r *JSON) Next() (byte, error) {
	b, err := r.space()
	if err != nil {
		return 0, err
	}
	if !strings.ContainsRune(`{["tfn-0123456789`, rune(b)) {
		return 0, r.Fail("found " + quote(b) + " where a value is expected")
	}
	return b, nil
}

// More says whether another text follows in the stream.
func (r *JSON) More() (bool, error) {
	_, err := r.space()
	if ends(err) {
		return false, nil
	}
	return err == nil, err
}

// Peek gives the next byte behind white space, 0 at the end.
func (r *JSON) Peek() byte {
	b, err := r.space()
	if err != nil {
		return 0
	}
	return b
}

// ends says whether an error is the end of the text.
func ends(err error) bool {
	fault, ok := errors.AsType[*TextError](err)
	return ok && fault.Code == abi.CodeTruncated
}

// space steps over white space and gives what stands behind it.
func (r *JSON) space() (byte, error) {
	for {
		b, err := r.peek()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b, nil
		}
		r.take(b)
	}
}

// Object reads an object; each is called behind each key, and has to read the value.
func (r *JSON) Object(each func(key string) error) error {
	return r.list('{', '}', func() error {
		if b, err := r.space(); err != nil {
			return err
		} else if b != '"' {
			return r.Fail("found " + quote(b) + " where a key is expected")
		}
		key, err := r.String(maxKeyBytes, 1)
		if err != nil {
			return err
		}
		if b, err := r.space(); err != nil {
			return err
		} else if b != ':' {
			return r.Fail("found " + quote(b) + " where a colon is expected")
		}
		r.take(':')
		return each(key)
	})
}

// Array reads an array; each is called before each value, and has to read it.
func (r *JSON) Array(each func() error) error { return r.list('[', ']', each) }

func (r *JSON) list(open, end byte, each func() error) error {
	if b, err := r.space(); err != nil {
		return err
	} else if b != open {
		return r.Fail("found " + quote(b) + " where " + quote(open) + " is expected")
	}
	if r.depth++; r.depth > r.MaxDepth {
		return &TextError{r.line, r.column, abi.CodeTooDeep, "values nest deeper than " + strconv.Itoa(r.MaxDepth)}
	}
	r.take(open)
	b, err := r.space()
	if err != nil {
		return err
	}
	for b != end {
		if err := each(); err != nil {
			return err
		}
		if b, err = r.space(); err != nil {
			return err
		}
		if b == end {
			break
		}
		if b != ',' {
			return r.Fail("found " + quote(b) + " where a comma or " + quote(end) + " is expected")
		}
		r.take(b)
		if b, err = r.space(); err != nil {
			return err
		}
		if b == end {
			return r.Fail("there is " + quote(b) + " behind a comma")
		}
	}
	r.take(end)
	r.depth--
	return nil
}

// Word reads a number, true, false or null, as it is written.
func (r *JSON) Word() (string, error) {
	if _, err := r.space(); err != nil {
		return "", err
	}
	var word []byte
	line, column := r.line, r.column
	for {
		b, err := r.peek()
		if len(word) > 0 && ends(err) {
			break
		} else if err != nil {
			return "", err
		}
		if strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzE", b) < 0 || len(word) > maxWordBytes {
			break
		}
		word = append(word, b)
		r.take(b)
	}
	w := string(word)
	if w != "true" && w != "false" && w != "null" && !number.MatchString(w) {
		return "", &TextError{line, column, CodeNotJSON, strconv.QuoteToASCII(w) + " is no value"}
	}
	return w, nil
}

// number is one by RFC 8259.
var number = regexp.MustCompile(`^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$`)

// Skip steps over a value.
func (r *JSON) Skip() error {
	b, err := r.Next()
	if err != nil {
		return err
	}
	switch b {
	case '{':
		return r.Object(func(string) error { return r.Skip() })
	case '[':
		return r.Array(r.Skip)
	case '"':
		if r.Bad != nil {
			_, err := r.String(1, 1) // which checks it
			return err
		}
		r.take(b)
		return r.characters(func([]byte) {})
	default:
		_, err := r.Word()
		return err
	}
}

func quote(b byte) string {
	if b >= 0x80 {
		return "a character that is not ASCII"
	}
	return strconv.QuoteToASCII(string(rune(b)))
}

// KindOf names the kind of a value by its first byte.
func KindOf(b byte) string {
	switch b {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}
