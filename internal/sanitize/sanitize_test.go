package sanitize_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

func TestAccept_CLI5_PlaceholdersAreVisible(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, line, block string }{
		{"plain text stays", "Grüße, 世界 😀 ❤️ a\u00a0b", "Grüße, 世界 😀 ❤️ a\u00a0b", "Grüße, 世界 😀 ❤️ a\u00a0b"},
		{"right to left letters stay", "שלום", "שלום", "שלום"},
		{"escape", "\x1b[2J", "␛[2J", "␛[2J"},
		{"OSC with bell", "\x1b]0;x\x07", "␛]0;x␇", "␛]0;x␇"},
		{"C1 introducer", "\u009b31m", "<U+009B>31m", "<U+009B>31m"},
		{"C1 as a raw byte", "a\x9b31m", "a<0x9B>31m", "a<0x9B>31m"},
		{"null, backspace, delete", "\x00\b\x7f", "␀␈␡", "␀␈␡"},
		{"bidi override", "\u202eabc\u202c", "<U+202E>abc<U+202C>", "<U+202E>abc<U+202C>"},
		{"bidi isolate and marks", "\u2066\u2069\u200e\u200f\u061c", "<U+2066><U+2069><U+200E><U+200F><U+061C>", "<U+2066><U+2069><U+200E><U+200F><U+061C>"},
		{"zero width", "a\u200bb\u200c\u200d\u2060\ufeff", "a<U+200B>b<U+200C><U+200D><U+2060><U+FEFF>", "a<U+200B>b<U+200C><U+200D><U+2060><U+FEFF>"},
		{"soft hyphen", "a\u00adb", "a<U+00AD>b", "a<U+00AD>b"},
		{"tags", "\U000e0041", "<U+E0041>", "<U+E0041>"},
		{"variation selectors", "a\ufe00\U000e0100", "a<U+FE00><U+E0100>", "a<U+FE00><U+E0100>"},
		{"fillers", "\u3164\u115f\u034f", "<U+3164><U+115F><U+034F>", "<U+3164><U+115F><U+034F>"},
		{"line separators", "a\u2028b\u2029", "a<U+2028>b<U+2029>", "a<U+2028>b<U+2029>"},
		{"line break and tab", "a\n\tb", "a␊␉b", "a\n\tb"},
		{"carriage return", "a\rb\r\nc\r", "a␍b␍␊c␍", "a␍b\nc␍"},
		{"cut character", "a\xe2\x82", "a<0xE2><0x82>", "a<0xE2><0x82>"},
		{"private use, noncharacter", "\ue000\uffff", "<U+E000><U+FFFF>", "<U+E000><U+FFFF>"},
		{"a replacement character stays", "\ufffd\x1b", "\ufffd␛", "\ufffd␛"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			check.Equal(t, sanitize.Line(tc.in), tc.line, "line")
			check.Equal(t, sanitize.Block(tc.in), tc.block, "block")
		})
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Plain prose, with a dot. And: more.": "Plain prose, with a dot. And: more.",
		"a_b *c*":                             `a\_b \*c\*`,
		"<b>&amp;":                            "&lt;b&gt;&amp;amp;",
		"# head":                              "`#` head",
		"- item":                              `\- item`,
		"1. item":                             `1\. item`,
		"[x](y) ![z](w)":                      `\[x\]\(y\) \!\[z\](w)`,
		"see http://a.b www.c.d":              "see http`://`a.b www`.`c.d",
		"@team me@x #12 @@a":                  "`@`team me`@`x `#`12 `@@`a",
		"a | b":                               `a \| b`,
		"`code`":                              "\\`code\\`",
		"two\n\nlines\n    here":              "two lines here",
		":rocket: 10:30":                      `\:rocket: 10:30`,
		"\x1b[1m":                             `␛\[1m`,
	} {
		check.Equal(t, sanitize.Markdown(in), want, in)
	}
}

func TestMarkdownCode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":            "",
		"a":           "`a`",
		"a`b":         "``a`b``",
		"`a``b":       "``` `a``b ```",
		"a\nb":        "`a b`",
		"  a ":        "`a`", //nolint:gocritic // the blanks are what is tested
		"<b>|":        "`<b>|`",
		"\u202e":      "`<U+202E>`",
		"\n\n":        "",
		"back\\slash": "`back\\slash`",
	} {
		check.Equal(t, sanitize.MarkdownCode(in), want, in)
	}
}

func TestMarkdownBlock(t *testing.T) {
	t.Parallel()
	check.Equal(t, sanitize.MarkdownBlock("a\n```\n````x\n<b>"), "`````text\na\n```\n````x\n<b>\n`````")
}

func TestMarkdownCell(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a|b": `a\|b`, `a\|b`: `a\|b`, `a\\|b`: `a\\\|b`, `\\\|`: `\\\|`, "||": `\|\|`} {
		check.Equal(t, sanitize.MarkdownCell(in), want, in)
	}
}

func FuzzSanitize(f *testing.F) {
	f.Add("a\x1b\u202e\xff\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		line, block := sanitize.Line(in), sanitize.Block(in)
		for _, r := range line {
			if !sanitize.Visible(r) {
				t.Fatalf("Line lets %U through", r)
			}
		}
		for _, r := range block {
			if r != '\n' && r != '\t' && !sanitize.Visible(r) {
				t.Fatalf("Block lets %U through", r)
			}
		}
		if !utf8.ValidString(line) || sanitize.Line(line) != line || sanitize.Block(block) != block {
			t.Fatal("twice is not once")
		}
		if code := sanitize.MarkdownCode(in); strings.ContainsAny(code, "\n\r") {
			t.Fatal("a code span has lines")
		}
	})
}

func TestLog(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a::b\nc": "a::b\nc", "x\n \t::add-mask::y\n::": "x\n|  \t::add-mask::y\n| ::", "a ##[error]b": "a # #[error]b", "##[##[": "# #[# #[",
	} {
		if got := sanitize.Log(text); got != want || sanitize.Log(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd…", "abcé": "abc…", "abc d": "abc…"} {
		check.Equal(t, sanitize.Cut(text, 4), want, text)
	}
}

// A long key around many values costs about as much as the text has bytes.
func TestUniqueKeysIsLinear(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	long := strings.Repeat("k", 100_000)
	text := `{"` + long + `":[` + strings.Repeat("0,", 20_000) + `{"a":[{"b":1,"B":2}]}]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := sanitize.UniqueKeys(json.NewDecoder(strings.NewReader(text)), true)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 || err == nil || !strings.HasPrefix(err.Error(), `the key "kkkk`) {
		t.Errorf("%d bytes for %d: %.200v", n, len(text), err)
	}
	for text, want := range map[string]string{
		`[{"a":1,"A":2}]`: "", `{"a":{"b":[0,{"c":1,"c":2}]}}`: `the key "a.b[1].c" occurs twice`, `[[],{"":1,"":2}]`: `the key "[1]." occurs twice`,
	} {
		err := sanitize.UniqueKeys(json.NewDecoder(strings.NewReader(text)), false)
		check.Equal(t, fmt.Sprint(err), cmp.Or(want, "<nil>"), text, want)
	}
}
