package tap_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/tap"
)

// TestAccept_IG4_TAPRejectsByName: what is no stream, or too much of one, is rejected with a code and a line.
func TestAccept_IG4_TAPRejectsByName(t *testing.T) {
	t.Parallel()
	var deep strings.Builder
	for i := range 100 {
		deep.WriteString(strings.Repeat(" ", 4*i) + "not ok 1 - a\n")
	}
	for name, tc := range map[string]struct{ stream, want string }{
		"empty":       {"", "x.tap: is no TAP: it has no version, no plan and no test point (not_tap)"},
		"a text":      {"hello\n  world\n", "x.tap: is no TAP: it has no version, no plan and no test point (not_tap)"},
		"a deep one":  {deep.String(), "x.tap:66: subtests nest deeper than 64 (too_deep)"},
		"a long line": {"1..1\n" + strings.Repeat("x", 5000) + "\n", "x.tap:2: has 5000 bytes, the limit is 4096 (too_large)"},
		"compressed":  {"\x1f\x8b\x08\n", "x.tap: is compressed (gzip), TAP is UTF-8 text (not_text)"},
	} {
		cases, problems := readers.Cases(&tap.Reader{MaxLineBytes: 4096}, "x.tap", strings.NewReader(tc.stream))
		if len(problems) != 1 || !strings.Contains(problems[0], tc.want) {
			t.Errorf("%s: %d cases, %q, want %q", name, len(cases), problems, tc.want)
		}
	}
}

func TestPoints(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ stream, want string }{
		"nothing fails":                {"TAP version 14\n1..2\nok 1 - a\nok 2 - b # SKIP\n", ""},
		"no number and no name":        {"1..2\nnot ok\nnot ok 2\n", "test,test 2"},
		"to do and skipped":            {"1..3\nnot ok 1 - a # TODO b\nnot ok 2 # skip\nnot ok 3 - c \\# todo\n", "c # todo"},
		"a hash in a name":             {"1..1\nnot ok 1 - issue #12\n", "issue #12"},
		"subtests":                     {"# Subtest: a\n    not ok 1 - b\n    1..1\nnot ok 1 - a\n1..1\n", "a.b"},
		"subtests without a heading":   {"    not ok 1 - b\n    1..1\nnot ok 1 - a\n1..1\n", "b"},
		"subtests in braces":           {"1..1\nnot ok 1 - a {\n    1..2\n    ok 1 - b\n    not ok 2 - c\n}\n", "a.c"},
		"a parent that fails itself":   {"# Subtest: a\n    not ok 1 - b\n    1..1\nnot ok 1 - a\n  ---\n  failureType: 'hookFailed'\n  ...\n1..1\n", "a.b,a"},
		"its subtests are to do":       {"# Subtest: a\n    not ok 1 - b # TODO\n    1..1\nnot ok 1 - a\n1..1\n", "a"},
		"one after the other":          {"1..1\nnot ok 1 - a\nTAP version 13\n1..1\nnot ok 1 - a\n", "a,a#2"},
		"too few":                      {"1..3\nok 1\n", "run"},
		"too few and given up":         {"1..3\nok 1\nBail out! no\nBail out! no\n", "run"},
		"given up in a subtest":        {"1..1\n# Subtest: a\n    not ok 1 - b\n    Bail out!\n", "a.b,run"},
		"YAML that does not end":       {"1..2\nnot ok 1 - a\n  ---\n  error: no\nok 2 - b\n", "a"},
		"output that looks like YAML":  {"1..1\n---\nok 1 - a\n...\n", ""},
		"files of prove":               {"t/a.t .. \n1..1\nnot ok 1 - a\nt/b.t .. \n1..1\nnot ok 1 - a\n", "t/a.t.a,t/b.t.a"},
		"a comment is no heading here": {"1..1\n# seed 4711\nnot ok 1 a\n", "a"},
	} {
		cases, problems := readers.Cases(&tap.Reader{}, "x.tap", strings.NewReader(tc.stream))
		var ids []string
		for i := range cases {
			ids = append(ids, cases[i].ID)
			readers.Check(t, &cases[i])
		}
		if got := strings.Join(ids, ","); got != tc.want || len(problems) > 0 {
			t.Errorf("%s: %s, want %s (%q)", name, got, tc.want, problems)
		}
	}
}

// What stands in the way of YAML's rules is read all the same: texts in quotes over lines, lists, names in quotes.
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	stream := "1..1\nnot ok 1 - a\n  ---\n  error:\n      name: \"TypeError\"\n      message: \"one\ntwo \\\"three\\\"\n\"\n  at: \"/src/a.test.js:5:7\"\n" +
		"  list:\n    - b\n  'found': 'it''s'\n  wanted: >-\n    that\n  stack: |-\n    f (/src/a.js:3:1)\n    g (/src/a.test.js:5:7)\n  ...\n"
	cases, problems := readers.Cases(&tap.Reader{}, "x.tap", strings.NewReader(stream))
	if len(cases) != 1 || len(problems) > 0 {
		t.Fatalf("%d cases, %q", len(cases), problems)
	}
	const want = "TypeError: one\ntwo \"three\"\nexpected: that\nactual: it's\n    at f (/src/a.js:3:1)\n    at g (/src/a.test.js:5:7)\n"
	if got := cases[0].Documents[0].Text; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestStopsAndFaults(t *testing.T) {
	t.Parallel()
	const stream = "1..3\nnot ok 1\nnot ok 2\nnot ok 3\n"
	reader := tap.Reader{}
	for _, err := range reader.Read("x.tap", strings.NewReader(stream)) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if reader.Tests != 2 {
		t.Errorf("%d points were read, want 2", reader.Tests)
	}
	broken := errors.New("the disk is gone")
	cases, problems := readers.Cases(&tap.Reader{}, "x.tap", io.MultiReader(strings.NewReader(stream), iotest.ErrReader(broken)))
	if len(cases) != 3 || len(problems) != 1 || !strings.Contains(problems[0], broken.Error()) {
		t.Errorf("%d cases, %q", len(cases), problems)
	}
}

// The YAML of a point, what stands behind it, and the output have limits.
func TestBigStreams(t *testing.T) {
	for name, stream := range map[string]io.Reader{
		"output":  io.MultiReader(readers.Repeat("a long line of a log that is printed again and again\n", 60<<20), strings.NewReader("not ok 1 - a\n")),
		"behind":  io.MultiReader(strings.NewReader("not ok 1 - a\n"), readers.Repeat("# a long line of a log that is printed again and again\n", 60<<20)),
		"YAML":    io.MultiReader(strings.NewReader("not ok 1 - a\n  ---\n"), readers.Repeat("  a: a long line of a log that is printed again and again\n", 60<<20)),
		"a quote": io.MultiReader(strings.NewReader("not ok 1 - a\n  ---\n  a: \"\n"), readers.Repeat("  a: a long line of a log that is printed again and again\n", 60<<20)),
	} {
		cases, problems, held := readers.Big(&tap.Reader{HeadBytes: 1 << 10, TailBytes: 1 << 10}, "x.tap", stream)
		if len(cases) != 1 || len(problems) > 0 || held > 10<<20 {
			t.Errorf("%s: %d cases, %q, %d bytes held", name, len(cases), problems, held)
		}
	}
}
