package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/internal/disk"
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

// Near offers the ids that contain the one that no case has.
func Near(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	quoted := make([]string, len(ids))
	for n, id := range ids {
		quoted[n] = strconv.Quote(id)
	}
	return "; did you mean " + OrList(quoted) + "?"
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

// ListStyle is for 80 columns: the rest `plugin inspect` tells.
func ListStyle() table.Style {
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	return style
}

// NamedFile is a file and what it is on the command line.
type NamedFile struct{ What, Path string }

// File is a file with what it is on the command line. An empty path stands for none.
func File(what, path string) NamedFile { return NamedFile{what, path} }

// CheckOverwrites rejects an output that is also an input, and two outputs to one file, whether the files exist yet or not.
// Terminals, pipes and devices may be both.
func CheckOverwrites(inputs, outputs []NamedFile) error {
	var faults []error
	outputs = slices.DeleteFunc(outputs, func(f NamedFile) bool { return f.Path == "" })
	for i, out := range outputs {
		for _, in := range inputs {
			if in.Path != "" && !disk.Device(out.Path) && disk.Same(out.Path, in.Path) {
				faults = append(faults, fmt.Errorf("%s %q would write over %s that is read", out.What, out.Path, in.What))
			}
		}
		for _, other := range outputs[:i] {
			if disk.Same(other.Path, out.Path) {
				faults = append(faults, fmt.Errorf("%s and %s are the same file, %q", other.What, out.What, other.Path))
			}
		}
	}
	return errors.Join(faults...)
}
