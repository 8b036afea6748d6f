package quarantine

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// pytest has no option that leaves out one test: --deselect takes the beginning of a name, and so every name that goes on behind it.
//
//go:embed pytest_plugin.py
var pytestPlugin string

func writePytest(tests []test) (string, []error) {
	var b strings.Builder
	for _, t := range tests {
		fmt.Fprintf(&b, "    (%s, %s),\n", pythonText(t.group), pythonText(t.name))
	}
	return strings.Replace(pytestPlugin, "    # TESTS\n", b.String(), 1), nil
}

// pythonText is a literal of ASCII alone.
func pythonText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < ' ' || r >= utf8.RuneSelf-1 || slices.Contains([]rune{'"', '\\'}, r) {
			fmt.Fprintf(&b, `\U%08x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
