package abitest

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func TestQuotesAreLookedUpAsTheContractSays(t *testing.T) {
	t.Parallel()
	d := newDocuments([]abi.Document{{Name: "log", Text: "a  first\tline\r\nshort\nthe\u00a0last line\n"}, {Name: "x", Text: "elsewhere it stands\n"}})
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
		if status, document := d.quote(test.ref, test.content); status != test.status || document != test.document {
			t.Errorf("%s %q: %s in %q, want %s in %q", test.ref, test.content, status, document, test.status, test.document)
		}
	}
	if known, stands := d.contains("x", "it\n stands"); !known || !stands {
		t.Error("a quote across white space does not stand")
	}
	if known, _ := d.contains("y", "it"); known {
		t.Error("a document is known that is not there")
	}
}
