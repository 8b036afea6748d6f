package gotest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/shadowcourt/shadowcourt/abi"
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
func parseEvent(line []byte) (event, *abi.Problem) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return e, &abi.Problem{Code: codeOf(err), Detail: "is no event of go test -json: " + err.Error()}
	}
	if e.Action == "" {
		return e, &abi.Problem{Code: abi.CodeMissingField, Detail: "is no event of go test -json: it has no Action"}
	}
	return e, nil
}

func codeOf(err error) abi.Code {
	if wrongType := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrongType) {
		return abi.CodeWrongType
	}
	return codeNotJSON
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
