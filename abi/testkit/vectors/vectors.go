// Package vectors reads the test vectors of the contract, and checks a codec against them: every message is accepted or rejected as
// SPEC.md says, with the same canonical bytes or the same problems in the same order.
package vectors

import (
	"encoding/hex"
	"encoding/json"
	"errors"
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

// Decode is the codec under test: it decodes a message of the type with this wire name strictly, under a size cap in bytes (0 is the
// codec's own), and encodes it again. The error of a rejected message is an *abi.ValidationError.
type Decode func(typeName string, data []byte, limit int) (canonical []byte, err error)

// T is what Run needs of a *testing.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Run checks decode against the vectors of every type.
func Run(t T, decode Decode) {
	t.Helper()
	sets, err := Sets()
	if err != nil {
		t.Errorf("%v", err)
	}
	for i := range sets {
		set := &sets[i]
		for j := range set.Vectors {
			v := &set.Vectors[j]
			if err := Check(set.Type, v, decode); err != nil {
				t.Errorf("%s: %s: %v\n  message %.160s", set.Type, v.Name, err, v.Hex)
			}
		}
	}
}

// Check runs decode on one vector. The error says what is different.
func Check(typeName string, v *Vector, decode Decode) error {
	message, err := v.Message()
	if err != nil {
		return err
	}
	canonical, err := decode(typeName, message, v.Limit)
	if v.Valid {
		return checkValid(typeName, v, decode, canonical, err)
	}
	if err == nil {
		return fmt.Errorf("is accepted as %x, want %v", canonical, v.Problems)
	}
	var rejected *abi.ValidationError
	if !errors.As(err, &rejected) {
		return fmt.Errorf("gives %w, which is no *abi.ValidationError", err)
	}
	return checkProblems(v, rejected)
}

func checkValid(typeName string, v *Vector, decode Decode, canonical []byte, err error) error {
	if err != nil {
		return fmt.Errorf("is rejected: %w", err)
	}
	if got := hex.EncodeToString(canonical); got != v.Canonical {
		return fmt.Errorf("is written as\n  %s, want\n  %s", got, v.Canonical)
	}
	again, err := decode(typeName, canonical, 0)
	if err != nil {
		return fmt.Errorf("its canonical form is rejected: %w", err)
	}
	if string(again) != string(canonical) {
		return fmt.Errorf("its canonical form is written as %x", again)
	}
	return nil
}

func checkProblems(v *Vector, rejected *abi.ValidationError) error {
	got := make([]Problem, len(rejected.Problems))
	for i, p := range rejected.Problems {
		got[i] = Problem{Path: p.Path.String(), Code: p.Code}
		if p.Detail == "" {
			return fmt.Errorf("problem %d has no detail", i)
		}
	}
	same := len(got) == len(v.Problems) && rejected.Omitted == v.Omitted
	for i := range got {
		same = same && got[i] == v.Problems[i]
	}
	if !same {
		return fmt.Errorf("has problems\n  %v and %d more, want\n  %v and %d more", got, rejected.Omitted, v.Problems, v.Omitted)
	}
	return nil
}
