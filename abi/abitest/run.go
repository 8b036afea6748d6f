package abitest

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Decode is the codec under test: it decodes a message of the type with this
// wire name strictly, under a size cap in bytes (0 is the codec's own), and
// encodes it again. The error of a rejected message is an *abi.ValidationError.
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
