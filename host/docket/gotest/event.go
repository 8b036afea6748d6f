package gotest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsonstream"
)

// DefaultLineBytes is the longest line of a stream. The go command writes a line for each line of output, and cuts those
// beyond a few KiB.
const DefaultLineBytes = 16 << 20

// event is a line of `go test -json`, see `go doc test2json` and `go help buildjson`. Fields that later versions of Go
// add are ignored.
type event struct {
	Action      string `json:"Action"`
	Package     string `json:"Package"`
	ImportPath  string `json:"ImportPath"`
	Test        string `json:"Test"`
	Output      string `json:"Output"`
	FailedBuild string `json:"FailedBuild"`
}

// parseEvent reads a line that begins with a brace. Invalid UTF-8 becomes U+FFFD.
func parseEvent(line []byte) (event, []abi.Problem) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return event{}, problemsOf(line)
	}
	return e, nil
}

// damagedEvent says whether a line with problems is an event, and not something else that begins with a brace.
func damagedEvent(line []byte, problems []abi.Problem) bool {
	return problems != nil && (bytes.Contains(line, []byte(`"Action"`)) || bytes.HasPrefix(line, []byte(`{"Time":`)))
}

// problemsOf is all that is wrong with a line that is no event.
func problemsOf(line []byte) []abi.Problem {
	in := jsonstream.New(bytes.NewReader(line))
	var problems []abi.Problem
	err := in.Object(func(key string) error {
		b, err := in.Next()
		if err == nil && b != '"' && b != 'n' && slices.Contains(fields(), key) {
			problems = append(problems, abi.Problem{Path: abi.Path{abi.Field(key)}, Code: abi.CodeWrongType, Detail: "is " + kindOf(b) + ", expected a string"})
		}
		return errors.Join(err, in.Skip())
	})
	if err == nil {
		var more bool
		if more, err = in.More(); more {
			return []abi.Problem{{Code: abi.CodeTrailingBytes, Detail: "something follows the event"}}
		}
	}
	if _, problem, ok := jsonstream.Problem(err, codeNotJSON); ok {
		return []abi.Problem{problem}
	}
	if len(problems) == 0 {
		problems = []abi.Problem{{Code: codeNotJSON, Detail: "is no event of go test -json"}}
	}
	return problems
}

// fields are those of an event that are read.
func fields() []string {
	return []string{"Action", "Package", "ImportPath", "Test", "Output", "FailedBuild"}
}

// kindOf names the kind of a value by its first byte.
func kindOf(b byte) string {
	switch b {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "a boolean"
	default:
		return "a number"
	}
}

// lines reads a stream line by line. It holds one line, and of a line beyond the limit nothing but its length.
type lines struct {
	in    *bufio.Reader
	limit int
	buf   []byte
}

// next gives the next line without its line break, valid until the next call. A line beyond the limit is nil, and length
// is above the limit. At the end err is io.EOF.
func (l *lines) next() (line []byte, length int, err error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		length += len(part)
		if length <= l.limit+len("\r\n") {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil, errors.Is(err, io.EOF) && length > 0:
			line := bytes.TrimSuffix(bytes.TrimSuffix(l.buf, []byte("\n")), []byte("\r"))
			if length > l.limit+len("\r\n") || len(line) > l.limit {
				l.buf = nil
				return nil, length, nil
			}
			return line, len(line), nil
		default:
			return nil, length, err
		}
	}
}
