// Package check reports what is not as it must be, and lets the test go on. What stands last says of which value this is.
package check

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Equal reports a value that is not the wanted one.
func Equal[T comparable](t testing.TB, got, want T, what ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%sgot:  %+v\nwant: %+v", fmt.Sprintln(what...), got, want)
	}
}

// Same reports what cmp.Diff found.
func Same(t testing.TB, diff string, what ...any) {
	t.Helper()
	if diff != "" {
		t.Errorf("%s%s", fmt.Sprintln(what...), diff)
	}
}

// Len reports a list of another length.
func Len[T any](t testing.TB, list []T, want int, what ...any) {
	t.Helper()
	if len(list) != want {
		t.Errorf("%sgot %d, want %d: %+v", fmt.Sprintln(what...), len(list), want, list)
	}
}

// Contains reports a text that lacks a part.
func Contains[T ~string](t testing.TB, text T, part string, what ...any) {
	t.Helper()
	if !strings.Contains(string(text), part) {
		t.Errorf("%sno %q in:\n%s", fmt.Sprintln(what...), part, text)
	}
}

// Fails reports an error that is missing, or says something else.
func Fails(t testing.TB, err error, part string, what ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%sgot error %v, want %q", fmt.Sprintln(what...), err, part)
	}
}

// Is reports an error that is not the wanted one.
func Is(t testing.TB, err, want error, what ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%sgot error %v, want %v", fmt.Sprintln(what...), err, want)
	}
}

// Err gives only the error of a call: check.Fails(t, check.Err(os.ReadFile(name)), "no such file").
func Err[T any](_ T, err error) error { return err }
