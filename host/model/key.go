package model

import (
	"fmt"
	"io"
	"strings"
)

// minKeyBytes is the length from which a key can be told from other text, so that it can be removed from it.
const minKeyBytes = 8

const maxKeyBytes = 4096

// Key is the secret of a provider. It prints as nothing but a mark: no formatting verb and no encoder shows it.
type Key struct {
	reveal func() string // a closure: reflection does not look into it
}

// keyMark is printed in place of a key.
const keyMark = "[key]"

func newKey(value string) Key { return Key{func() string { return value }} }

func (k Key) value() string {
	if k.reveal == nil {
		return ""
	}
	return k.reveal()
}

// Format prints the mark, whatever the verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, keyMark) }

// MarshalText gives the mark.
func (k Key) MarshalText() ([]byte, error) { return []byte(keyMark), nil }

// scrub removes the key from a text.
func (k Key) scrub(text string) string {
	if k.value() == "" {
		return text
	}
	return strings.ReplaceAll(text, k.value(), keyMark)
}

// keyFault says what is wrong with the value of a key, without showing it; empty if nothing is.
func keyFault(value string) string {
	switch {
	case value == "":
		return "is not set"
	case len(value) < minKeyBytes || len(value) > maxKeyBytes:
		return fmt.Sprintf("does not hold a key: a key has %d to %d characters", minKeyBytes, maxKeyBytes)
	case strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "does not hold a key: a key has no blanks, no line breaks and no characters beyond ASCII"
	}
	return ""
}
