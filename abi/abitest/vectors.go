package abitest

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/testdata"
)

// Problem is one thing that a decoder must find.
type Problem struct {
	// Path of the value, as abi.Path writes it; empty for the message itself.
	Path string   `json:"path"`
	Code abi.Code `json:"code"`
}

// Vector is one message, with what a decoder must make of it.
type Vector struct {
	// Name says what the message shows, and is the only one in its set.
	Name string `json:"name"`
	// Hex is the message.
	Hex string `json:"hex"`
	// Limit is the size cap to decode under, in bytes; 0 is the default.
	Limit int `json:"limit"`
	// Valid messages have Canonical, the others Problems.
	Valid bool `json:"valid"`
	// Canonical is what a decoder and an encoder make of the message, in hex.
	Canonical string `json:"canonical"`
	// Problems stand in the order in which they must be reported.
	Problems []Problem `json:"problems"`
	// Omitted counts the problems beyond abi.MaxProblems.
	Omitted int `json:"omitted"`
}

// Message gives the bytes of the message.
func (v *Vector) Message() ([]byte, error) { return hex.DecodeString(v.Hex) }

// Set holds the vectors of one type.
type Set struct {
	// Type is the wire name, such as "node_request".
	Type    string   `json:"type"`
	Vectors []Vector `json:"vectors"`
}

// Sets gives the vectors of all types, in order of the type's name.
func Sets() ([]Set, error) {
	names, err := fs.Glob(testdata.Vectors, "vectors/*.json")
	if err != nil {
		return nil, err
	}
	sets := make([]Set, len(names))
	for i, name := range names {
		content, err := testdata.Vectors.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(content, &sets[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return sets, nil
}

// RequestSet gives the vectors of a request's type. A program that needs no
// others does not carry them.
func RequestSet(typeName string) (Set, error) {
	var set Set
	content, err := testdata.Requests.ReadFile("vectors/" + typeName + ".json")
	if err == nil {
		err = json.Unmarshal(content, &set)
	}
	return set, err
}
