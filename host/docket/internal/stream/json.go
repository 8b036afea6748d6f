// Package stream has what readers of long texts share: lines, of which those that are too long are not held, logs of which the head and the
// tail are kept, and faults with their places.
package stream

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/shadowcourt/shadowcourt/abi"
)

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
	switch kind {
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
