package codec_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// decode reads a message with the strict decoder and by layout, as guests do,
// checks that the two agree, and returns the canonical bytes or the problems.
func decode(t testing.TB, m codec.Message, data []byte) ([]byte, *abi.ValidationError) {
	t.Helper()
	before := bytes.Clone(data)
	v, err := m.Decode(data)
	if !bytes.Equal(data, before) {
		t.Fatalf("%s: decoding changed the message", m.Name)
	}
	byLayout, ok := m.ReadByLayout(data)
	if rejected := problems(t, err); rejected != nil {
		if ok {
			t.Fatalf("%s: %x is read by layout, but the decoder reports %v", m.Name, data, err)
		}
		if !reflect.ValueOf(v).Elem().IsZero() {
			t.Fatalf("%s: a part of a rejected message was returned", m.Name)
		}
		return nil, rejected
	}
	canonical := m.Encode(v)
	if ok && !bytes.Equal(m.Encode(byLayout), canonical) {
		t.Fatalf("%s: %x\nstrict:    %x\nby layout: %x", m.Name, data, canonical, m.Encode(byLayout))
	}
	if !ok && m.HasLayout && bytes.Equal(data, canonical) {
		t.Fatalf("%s: %x is canonical, but not read by layout", m.Name, data)
	}
	return canonical, nil
}

// decodeTwice requires in addition that an accepted message has one canonical form.
func decodeTwice(t testing.TB, m codec.Message, data []byte) {
	t.Helper()
	canonical, rejected := decode(t, m, data)
	if rejected != nil {
		return
	}
	again, rejected := decode(t, m, canonical)
	if rejected != nil || !bytes.Equal(again, canonical) {
		t.Fatalf("%s: canonical form %x is read as %x (%v)", m.Name, canonical, again, rejected)
	}
}

func problems(t testing.TB, err error) *abi.ValidationError {
	t.Helper()
	if err == nil {
		return nil
	}
	var v *abi.ValidationError
	if !errors.As(err, &v) || len(v.Problems) == 0 {
		t.Fatalf("error is %T: %v", err, err)
	}
	return v
}

func messageNamed(t testing.TB, name string) codec.Message {
	t.Helper()
	for _, m := range codec.Messages {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no type %q", name)
	return codec.Message{}
}

var readVectors = sync.OnceValues(abitest.Sets)

// samples gives up to n valid messages of a type in canonical form, of those that are not large, the richest last.
func samples(t testing.TB, name string, n int) [][]byte {
	t.Helper()
	sets, err := readVectors()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var list [][]byte
	for _, v := range sets[slices.IndexFunc(sets, func(s abitest.Set) bool { return s.Type == name })].Vectors {
		canonical, err := hex.DecodeString(v.Canonical)
		if err != nil {
			t.Fatal(err)
		}
		if v.Valid && len(canonical) < 1<<12 && !seen[v.Canonical] {
			seen[v.Canonical] = true
			list = append(list, canonical)
		}
	}
	slices.SortStableFunc(list, func(a, b []byte) int { return len(a) - len(b) })
	step := max(1, len(list)/n)
	var out [][]byte
	for i := len(list) - 1; i >= 0 && len(out) < n; i -= step {
		out = append(out, list[i])
	}
	slices.Reverse(out)
	return out
}
