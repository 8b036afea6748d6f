package quotes_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/quotes"
)

func TestWhatStands(t *testing.T) {
	t.Parallel()
	d := quotes.Of([]abi.Document{{Name: "log", Text: "one\n  two\tthree   four \nfive six seven eight\n"}})
	for name, tc := range map[string]struct {
		source, content string
		want            abi.QuoteStatus
	}{
		"a line of it, in other white space": {"log:L2", "two three  four\nand more", abi.QuoteStands},
		"it claims the document":             {"log#2", "two three five", abi.QuoteAbsent},
		"a reading of the document":          {"frame:log:L2", "two three five", abi.QuoteAbsent},
		"it claims nothing":                  {"rerun", "it passed three times", abi.QuoteUnclaimed},
	} {
		if got, _ := d.Quote(tc.source, tc.content); got != tc.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for ref, content := range map[string]string{"log": "one", "log:L2": "two three four\nfive"} {
		if !d.Cites(ref, content) {
			t.Errorf("%s does not cite %q", ref, content)
		}
	}
	for ref, content := range map[string]string{"log": "one\nand more", "logs": "one", "scanner": "one", "frame:log:L1": "one", "log:L1": " \n"} {
		if d.Cites(ref, content) {
			t.Errorf("%s cites %q", ref, content)
		}
	}
	if known, stands := d.Contains("log", "four five six"); !known || !stands {
		t.Error("a quote over two lines does not stand")
	}
	if known, _ := d.Contains("other", "one"); known {
		t.Error("a document that is not there is known")
	}
}

func TestQuotesAreLookedUpAsTheContractSays(t *testing.T) {
	t.Parallel()
	d := quotes.Of([]abi.Document{{Name: "log", Text: "a  first\tline\r\nshort\nthe\u00a0last line\n"}, {Name: "x", Text: "elsewhere it stands\n"}})
	for _, test := range []struct {
		ref, content string
		status       abi.QuoteStatus
		document     string
	}{
		{"log:L1", "a first line", abi.QuoteStands, "log"},
		{"witness", "  the last\n line", abi.QuoteStands, "log"}, // `the last` has 8 characters
		{"witness", "the first\nelsewhere   it", abi.QuoteStands, "x"},
		{"witness", "short", abi.QuoteStands, "log"}, // no line of 8 characters: as a whole
		{"witness", "short\nnot there at all", abi.QuoteUnclaimed, ""},
		{"log", "not there at all", abi.QuoteAbsent, "log"},
		{"log#3", "not there at all", abi.QuoteAbsent, "log"},
		{"frame:log:L3", "not there at all", abi.QuoteAbsent, "log"},
		{"frame:log", "not there at all", abi.QuoteUnclaimed, ""},
		{"logs", "not there at all", abi.QuoteUnclaimed, ""},
		{"log", "", abi.QuoteAbsent, "log"},
	} {
		if status, document := d.Quote(test.ref, test.content); status != test.status || document != test.document {
			t.Errorf("%s %q: %s in %q, want %s in %q", test.ref, test.content, status, document, test.status, test.document)
		}
	}
}

func TestTheLineOfAQuote(t *testing.T) {
	t.Parallel()
	d := quotes.Of([]abi.Document{{Name: "log", Text: "one\n  two\tthree   four \nfive six\n"}})
	for quote, want := range map[string]int{"one": 1, "two three": 2, "\n two three four\nfive": 2, "six": 3, "seven": 0, "": 0} {
		if got := d.Line("log", quote); got != want {
			t.Errorf("%q is on line %d, want %d", quote, got, want)
		}
	}
}
