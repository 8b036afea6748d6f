// Package jsonstream reads JSON texts of any length in bounded memory: the caller walks them, and long strings are clipped
// head and tail while they are read.
package jsonstream

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// MaxNesting is how deep objects and arrays may nest.
const MaxNesting = 64

// The most of a key, and of a number or another word.
const (
	maxKeyBytes  = 1 << 10
	maxWordBytes = 64
)

// SyntaxError is a fault of the text, with its place.
type SyntaxError struct {
	Line, Column int // from 1; a column is a character
	// TooDeep says that it is not the syntax but the nesting, End that the text ends too early.
	TooDeep, End bool
	Detail       string
}

func (e *SyntaxError) Error() string { return "column " + strconv.Itoa(e.Column) + ": " + e.Detail }

// Reader walks a stream of JSON texts. Not safe for concurrent use.
type Reader struct {
	in           *bufio.Reader
	line, column int // of the next character
	depth        int
}

// New makes a reader.
func New(in io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 64<<10), line: 1, column: 1}
}

// Line is that of the next character.
func (r *Reader) Line() int { return r.line }

// Head gives up to n bytes that come next, without taking them.
func (r *Reader) Head(n int) []byte {
	head, _ := r.in.Peek(n)
	return head
}

// Drop takes n bytes that are no characters of the text, such as a byte order mark.
func (r *Reader) Drop(n int) { _, _ = r.in.Discard(n) }

func (r *Reader) fail(detail string) error {
	return &SyntaxError{Line: r.line, Column: r.column, Detail: detail}
}

// peek gives the next byte; its end is a SyntaxError.
func (r *Reader) peek() (byte, error) {
	b, err := r.in.ReadByte()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return 0, &SyntaxError{Line: r.line, Column: r.column, End: true, Detail: "the text ends here, and is not complete"}
		}
		return 0, err
	}
	return b, r.in.UnreadByte()
}

// take steps over a byte that peek gave.
func (r *Reader) take(b byte) {
	_, _ = r.in.ReadByte()
	switch {
	case b == '\n':
		r.line, r.column = r.line+1, 1
	case b&0xC0 != 0x80:
		r.column++
	}
}

// Next gives the first byte of the next value, which tells what it is: one of {["tfn-0123456789. Anything else is a
// SyntaxError.
func (r *Reader) Next() (byte, error) {
	b, err := r.space()
	if err != nil {
		return 0, err
	}
	if !strings.ContainsRune(`{["tfn-0123456789`, rune(b)) {
		return 0, r.fail("found " + quote(b) + " where a value is expected")
	}
	return b, nil
}

// More says whether another text follows in the stream.
func (r *Reader) More() (bool, error) {
	_, err := r.space()
	if syntax := (*SyntaxError)(nil); errors.As(err, &syntax) && syntax.End {
		return false, nil
	}
	return err == nil, err
}

// space steps over white space and gives what stands behind it.
func (r *Reader) space() (byte, error) {
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
func (r *Reader) Object(each func(key string) error) error {
	return r.list('{', '}', func() error {
		if b, err := r.space(); err != nil {
			return err
		} else if b != '"' {
			return r.fail("found " + quote(b) + " where a key is expected")
		}
		key, err := r.String(maxKeyBytes, 1)
		if err != nil {
			return err
		}
		if b, err := r.space(); err != nil {
			return err
		} else if b != ':' {
			return r.fail("found " + quote(b) + " where a colon is expected")
		}
		r.take(':')
		return each(key)
	})
}

// Array reads an array; each is called before each value, and has to read it.
func (r *Reader) Array(each func() error) error { return r.list('[', ']', each) }

func (r *Reader) list(open, end byte, each func() error) error {
	if b, err := r.space(); err != nil {
		return err
	} else if b != open {
		return r.fail("found " + quote(b) + " where " + quote(open) + " is expected")
	}
	if r.depth++; r.depth > MaxNesting {
		return &SyntaxError{Line: r.line, Column: r.column, TooDeep: true, Detail: "values nest deeper than " + strconv.Itoa(MaxNesting)}
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
			return r.fail("found " + quote(b) + " where a comma or " + quote(end) + " is expected")
		}
		r.take(b)
		if b, err = r.space(); err != nil {
			return err
		}
		if b == end {
			return r.fail("there is " + quote(b) + " behind a comma")
		}
	}
	r.take(end)
	r.depth--
	return nil
}

// Word reads a number, true, false or null, as it is written.
func (r *Reader) Word() (string, error) {
	if _, err := r.space(); err != nil {
		return "", err
	}
	var word []byte
	line, column := r.line, r.column
	for {
		b, err := r.peek()
		if syntax := (*SyntaxError)(nil); errors.As(err, &syntax) && len(word) > 0 {
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
	switch w := string(word); w {
	case "true", "false", "null":
		return w, nil
	default:
		if !isNumber(w) {
			return "", &SyntaxError{Line: line, Column: column, Detail: strconv.QuoteToASCII(w) + " is no value"}
		}
		return w, nil
	}
}

// isNumber goes by RFC 8259.
func isNumber(w string) bool {
	if len(w) > maxWordBytes {
		return false
	}
	w = strings.TrimPrefix(w, "-")
	whole := digits(w)
	if whole == 0 || whole > 1 && w[0] == '0' {
		return false
	}
	w = w[whole:]
	if strings.HasPrefix(w, ".") {
		n := digits(w[1:])
		if n == 0 {
			return false
		}
		w = w[1+n:]
	}
	if w == "" {
		return true
	}
	if w[0] != 'e' && w[0] != 'E' {
		return false
	}
	if w = w[1:]; w != "" && (w[0] == '+' || w[0] == '-') {
		w = w[1:]
	}
	return w != "" && digits(w) == len(w)
}

func digits(w string) int {
	n := 0
	for n < len(w) && w[n] >= '0' && w[n] <= '9' {
		n++
	}
	return n
}

// Skip steps over a value.
func (r *Reader) Skip() error {
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
		_, err := r.String(1, 1)
		return err
	default:
		_, err := r.Word()
		return err
	}
}

// Problem is a SyntaxError as a problem of a docket; others are none.
func Problem(err error, notJSON abi.Code) (line int, problem abi.Problem, ok bool) {
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		return 0, abi.Problem{}, false
	}
	code, detail := notJSON, "is not valid JSON at "+syntax.Error()
	switch {
	case syntax.TooDeep:
		code, detail = abi.CodeTooDeep, syntax.Error()
	case syntax.End:
		code, detail = abi.CodeTruncated, syntax.Error()
	}
	return syntax.Line, abi.Problem{Code: code, Detail: detail}, true
}

func quote(b byte) string {
	if b >= 0x80 {
		return "a character that is not ASCII"
	}
	return strconv.QuoteRuneToASCII(rune(b))
}

// String reads a string, of which the head and the tail are kept.
func (r *Reader) String(head, tail int) (string, error) {
	if b, err := r.space(); err != nil {
		return "", err
	} else if b != '"' {
		return "", r.fail("found " + quote(b) + " where a string is expected")
	}
	r.take('"')
	kept := testlog.NewClip(head, tail)
	if err := r.characters(&kept); err != nil {
		return "", err
	}
	return kept.Text(), nil
}
