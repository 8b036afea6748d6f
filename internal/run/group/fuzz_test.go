package group_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/run/group"
)

// Rules that are accepted give every case the same key again, whatever they and its log are.
func FuzzParse(f *testing.F) {
	f.Add([]byte("- name: a\n  words: [x]\n  pattern: 'x(.)'\n  after: '(y)'\n"), "x1 y")
	f.Add([]byte("- name: a\n  words: ['']\n  pattern: ''\n"), "panic: x\n")
	f.Fuzz(func(t *testing.T, yaml []byte, log string) {
		rules, err := group.Parse(yaml)
		if err != nil {
			return
		}
		c := failure(log)
		first := rules.Key(c)
		if again := rules.Key(c); again != first {
			t.Error("two keys of one case")
		}
		group.Shipped().Key(c)
	})
}
