package model_test

import (
	"encoding/json"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/model"
)

// What is left of a JSON text without the key is JSON, and nothing else goes.
func TestScrub(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, text, want string }{
		{"secret-1", "SeCrEt-1", "[key]"},
		{"secret-1", "secret-2 secret- 1 secret-", "secret-2 secret- 1 secret-"},
		{"secret-1", `"\u0073e\u0063RET\u002d1secret-1"`, `"[key][key]"`},
		{"secret-1", `"\\secret-1"`, `"\\[key]"`},
		{"newkey-1", `"a\newkey-1"`, `"a[key]"`}, // a line break and another word, or the key behind a backslash
		{"newkey-1", `"a\\\u006eewkey-1"`, `"a\\[key]"`},
		{`a"b\c/d-1`, `"A\"B\\C\/D-1"`, `"[key]"`},
		{`a"b\c/d-1`, `a"b\c/d-1`, "[key]"},
		{"aaaaaaaa", "aaaaaaaaaaaaaaaaab", "[key][key]ab"},
		{"", "nothing", "nothing"},
	} {
		got := model.Scrub(c.key, c.text)
		if got != c.want || json.Valid([]byte(c.text)) && !json.Valid([]byte(got)) {
			t.Errorf("%s without %s: %s, want %s", c.text, c.key, got, c.want)
		}
	}
}
