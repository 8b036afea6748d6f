package model

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// minKeyBytes is the shortest key that can be found in other text and removed from it.
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

// scrub removes the key from a text, in capital and small letters, and with any of its characters written as an escape of JSON: a text may
// be JSON that is decoded later.
func (k Key) scrub(text string) string {
	key := k.value()
	if key == "" {
		return text
	}
	var b strings.Builder
	kept := 0
	for at := 0; at < len(text); at++ {
		n := keyBytes(text[at:], key)
		if n == 0 {
			continue
		}
		before := text[kept:at]
		if rest := strings.TrimRight(before, `\`); (len(before)-len(rest))%2 == 1 {
			before = before[:len(before)-1] // it would escape the mark, and JSON has no such escape
		}
		b.WriteString(before + keyMark)
		kept = at + n
		at = kept - 1
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}

// keyBytes is how many bytes at the beginning of a text are the key; 0 if it does not begin with it.
func keyBytes(text, key string) int {
	if len(text) >= len(key) && strings.EqualFold(text[:len(key)], key) {
		return len(key)
	}
	at := 0
	for i := range len(key) {
		c, n := unescaped(text[at:])
		if n == 0 || lower(c) != lower(key[i]) {
			return 0
		}
		at += n
	}
	return at
}

// unescaped is the first character of a JSON text, if it is one of ASCII, and how many bytes it takes; none otherwise.
func unescaped(text string) (c byte, n int) {
	switch {
	case text == "":
		return 0, 0
	case text[0] != '\\' || len(text) == 1:
		return text[0], 1
	case strings.IndexByte(`"\/`, text[1]) >= 0:
		return text[1], 2
	case text[1] == 'u' && len(text) >= 6:
		if v, err := strconv.ParseUint(text[2:6], 16, 7); err == nil {
			return byte(v), 6
		}
	}
	return text[0], 1
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
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
