package codec_test

import (
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// pair is a type with the codecs of host and guest, without its type
// parameter so that all fit in one list.
type pair struct {
	name string
	// fresh gives a pointer to a new zero value.
	fresh func() any
	// host and guest encode what fresh gave.
	host, guest func(v any) []byte
	// decodeHost and decodeGuest give a pointer to the value.
	decodeHost, decodeGuest func(data []byte) (any, error)
}

func pairOf[T any](
	name string,
	hostAppend func([]byte, *T) []byte, hostDecode func([]byte, int) (T, error),
	guestAppend func([]byte, *T) []byte, guestDecode func([]byte, *T) error,
) pair {
	return pair{
		name:  name,
		fresh: func() any { return new(T) },
		host:  func(v any) []byte { return hostAppend(nil, v.(*T)) },
		guest: func(v any) []byte { return guestAppend(nil, v.(*T)) },
		decodeHost: func(data []byte) (any, error) {
			v, err := hostDecode(data, 0)
			return &v, err
		},
		decodeGuest: func(data []byte) (any, error) {
			v := new(T)
			return v, guestDecode(data, v)
		},
	}
}

// agree decodes data on both sides, demands the same answer of both, and
// gives it: the canonical bytes, or the problems.
func (p pair) agree(t testing.TB, data []byte) ([]byte, *abi.ValidationError) {
	t.Helper()
	before := string(data)
	host, hostErr := p.decodeHost(data)
	guest, guestErr := p.decodeGuest(data)
	if string(data) != before {
		t.Fatalf("%s: decoding changed the message", p.name)
	}
	hostProblems, guestProblems := problems(t, hostErr), problems(t, guestErr)
	if !reflect.DeepEqual(hostProblems, guestProblems) {
		t.Fatalf("%s: %x\nhost: %v\nguest: %v", p.name, data, hostErr, guestErr)
	}
	if hostProblems != nil {
		if !reflect.ValueOf(host).Elem().IsZero() || !reflect.ValueOf(guest).Elem().IsZero() {
			t.Fatalf("%s: something of a rejected message was given back", p.name)
		}
		return nil, hostProblems
	}
	out := p.host(host)
	if other := p.guest(guest); string(out) != string(other) {
		t.Fatalf("%s: %x\nhost:  %x\nguest: %x", p.name, data, out, other)
	}
	return out, nil
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

func pairNamed(t testing.TB, name string) pair {
	t.Helper()
	for _, p := range pairs {
		if p.name == name {
			return p
		}
	}
	t.Fatalf("no type %q", name)
	return pair{}
}

var readModel = sync.OnceValues(func() (*model.Model, error) { return model.Load("") })

func loadModel(t testing.TB) *model.Model {
	t.Helper()
	m, err := readModel()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
