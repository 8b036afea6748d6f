package gotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
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
	in := stream.NewText(line)
	var problems []abi.Problem
	err := in.Object(func(key string) error {
		b, err := in.Next()
		if err == nil && b != '"' && b != 'n' && slices.Contains(fields, key) {
			problems = append(problems, abi.Problem{Path: abi.Path{abi.Field(key)}, Code: abi.CodeWrongType, Detail: "is " + stream.KindOf(b) + ", expected a string"})
		}
		return errors.Join(err, in.Skip())
	})
	if more, _ := in.More(); err == nil && more {
		return []abi.Problem{{Code: abi.CodeTrailingBytes, Detail: "something follows the event"}}
	}
	if fault, ok := errors.AsType[*stream.TextError](err); ok {
		return []abi.Problem{{Code: fault.Code, Detail: fault.Error()}}
	}
	if len(problems) == 0 {
		problems = []abi.Problem{{Code: docket.CodeNotJSON, Detail: "is no event of go test -json"}}
	}
	return problems
}

// fields are those of an event that are read.
var fields = []string{"Action", "Package", "ImportPath", "Test", "Output", "FailedBuild"}
