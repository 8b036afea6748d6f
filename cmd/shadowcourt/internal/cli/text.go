package cli

import (
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// OrList joins words as "a, b or c".
func OrList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Count is a number with the noun that it counts.
func Count(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, Plural(n, one, many))
}

// Plural is the form of a word for so many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Words are strings of any type as plain ones.
func Words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// Join joins words with spaces, fit for one line.
func Join[T ~string](list []T) string { return sanitize.Line(strings.Join(Words(list), " ")) }

// ChangeLine says what a swap did to a module.
func ChangeLine(name, before, after string) string {
	switch before {
	case after:
		return fmt.Sprintf("%s: %s, as before", name, after)
	case "":
		before = "none"
	}
	return fmt.Sprintf("%s: %s -> %s", name, before, after)
}
