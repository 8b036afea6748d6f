package experiment

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
)

// TestWhatIsNoTraceTellsNothing: tests can write to the files of a trace.
func TestWhatIsNoTraceTellsNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]abi.ChangedCode{
		"": "",
		`{"executed": 1, "missed": 2, "unknown": 3, "processes": true}`:               abi.CodeExecuted,
		`{"executed": 0, "missed": 2, "unknown": 0, "processes": false}`:              abi.CodeNotExecuted,
		`{"executed": 0, "missed": 2, "unknown": 1, "processes": false}`:              "",
		`{"executed": 0, "missed": 2, "unknown": 0, "processes": true}`:               "",
		`{"executed": 0, "missed": 2}` + "\n" + `{"executed": 1, "missed": 0}` + "\n": abi.CodeExecuted,
		`{"executed": 1, "more": 2}`:                                                  "",
		`{"executed": 1}{"executed": -1}`:                                             "",
		`{"executed": 1e99}`:                                                          "",
		`{"executed": 1} x`:                                                           "",
		strings.Repeat(`{"executed": 1}`, maxProcesses+1):                             "",
		`[1]`: "",
		strings.Repeat(`{"executed": 9223372036854775807, "missed": 0, "unknown": 0, "processes": false}`+"\n", 100): "",
	} {
		if got := pytestSeen([]byte(text)).changed(); got != want {
			t.Errorf("%.100q: got %q, want %q", text, got, want)
		}
	}
	c := changes{"a.js": {{first: 2, last: 2}}}
	for text, want := range map[string]abi.ChangedCode{
		"":                                "",
		"{}":                              "",
		`{"/tree/a.js": 1}`:               "",
		`{"/tree/a.js": {}}`:              "",
		`{"/tree/a.js": {"s": {"0": 1}}}`: "",
		`{"/tree/a.js": {"statementMap": {"0": {"start": {"line": 2}, "end": {"line": 2}}}, "s": {"0": 1}, "fnMap": {"0": {"decl": {"start": {"line": 1}}, "loc": {"start": {"line": 1}, "end": {"line": 3}}}}, "f": {"0": 1}}}`: abi.CodeExecuted,
		`{"/tree/a.js": {"statementMap": {"0": {"start": {"line": 2}, "end": {"line": 2}}}, "s": {"0": 0}}}`:                                                                                                                     abi.CodeNotExecuted, // it was not loaded
		`{"/tree/a.js": {"statementMap": {"0": {"start": {"line": 9}, "end": {"line": -2}}}, "s": {"0": 1}}}`:                                                                                                                    "",
	} {
		if got := jestSeen([]byte(text), "/tree", c).changed(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	r := &defined{source: &origin{Top: "/tree"}}
	for _, text := range []string{"", "{", `["a"]`, `{"a": 1}`, `{"../../a": "/etc/passwd"}`, `{"a": "relative.py"}`, `{"a": "/tree/../a.py"}`} {
		if got := r.loadedModules([]byte(text), "/tree", environment{}); got.code != abi.NotCertified {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

func FuzzTraces(f *testing.F) {
	f.Add([]byte("mode: set\nexample.com/m/a.go:3.20,5.2 2 7\n"))
	f.Add([]byte(`{"/tree/a.go": {"statementMap": {"0": {"start": {"line": 2}, "end": {"line": 2}}}, "s": {"0": 1}}}`))
	f.Add([]byte(`{"shop.cart": "/tree/shop/cart.py"}`))
	f.Add([]byte(`{"executed": 1, "missed": 2, "unknown": 3, "processes": true}`))
	g := &goTests{modules: []module{{folder: ".", path: "example.com/m"}}}
	c, r := changes{"a.go": {{first: 1, last: 4}}}, &defined{source: &origin{Top: "/tree"}}
	f.Fuzz(func(t *testing.T, written []byte) {
		for name := range g.readProfile(written) {
			if strings.HasPrefix(name, "/") {
				t.Errorf("a profile has %q", name)
			}
		}
		if l := r.loadedModules(written, "/tree", environment{Tree: &tree.Tree{}}); l.code == abi.Contradicted {
			t.Errorf("an empty tree is contradicted: %+v", l)
		}
		for _, s := range []*seen{pytestSeen(written), jestSeen(written, "/tree", c)} {
			if min(s.Executed, s.Missed, s.Unknown) < 0 {
				t.Errorf("%+v", s)
			}
		}
		if lines := parseLines(written); lines != nil {
			lines.sight([]block{{1, 2, true}})(1)
		}
	})
}
