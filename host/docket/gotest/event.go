package gotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

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
	err := json.Unmarshal(line, &e)
	if err == nil {
		return e, nil
	}
	problem := abi.Problem{Code: docket.CodeNotJSON, Detail: "is no event of go test -json"}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		problem = abi.Problem{Path: abi.Path{abi.Field(wrong.Field)}, Code: abi.CodeWrongType, Detail: "is " + kinds[wrong.Value] + ", expected a string"}
	} else if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		_, column := stream.Place(line[:max(0, min(int(syntax.Offset)-1, len(line)))])
		problem.Detail = "is not valid JSON at column " + strconv.Itoa(column) + ": " + syntax.Error()
	}
	return event{}, []abi.Problem{problem}
}

// kinds are those of values as encoding/json calls them.
var kinds = map[string]string{"object": "an object", "array": "a list", "bool": "a boolean", "number": "a number"}

// damagedEvent says whether a line with problems is an event, and not something else that begins with a brace.
func damagedEvent(line []byte, problems []abi.Problem) bool {
	return problems != nil && (bytes.Contains(line, []byte(`"Action"`)) || bytes.HasPrefix(line, []byte(`{"Time":`)))
}
