package docket

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi"
)

func TestAccept_CLI6_CutDocumentKeepsHeadAndTail(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("head line\n", 1000) + strings.Repeat("m", 100_000) + strings.Repeat("tail line\n", 1000)
	got := CutDocument(text, 2000)
	if len(got) > 2000 {
		t.Errorf("%d bytes are left", len(got))
	}
	head, tail, found := strings.Cut(got, " bytes cut here ...]\n")
	if !found || !strings.HasPrefix(head, "head line\n") || !strings.HasPrefix(tail, "tail line\n") || !strings.HasSuffix(tail, "tail line\n") {
		t.Errorf("got %q", got)
	}
	if CutDocument(text, len(text)) != text {
		t.Error("a text within the limit was changed")
	}
}

func TestCutDocumentHoldsTheLimitAndTheBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "é", "😀", "\n", "line\n", "\xff"})
		text := strings.Join(rapid.SliceOfN(part, 0, 600).Draw(t, "text"), "")
		limit := rapid.IntRange(0, 1500).Draw(t, "limit")
		got := CutDocument(text, limit)
		if len(text) <= max(limit, 128) {
			if got != text {
				t.Fatal("changed though within the limit")
			}
			return
		}
		head, rest, _ := strings.Cut(got, "\n[... ")
		_, tail, found := strings.Cut(rest, " bytes cut here ...]\n")
		if !found || len(got) > max(limit, 128) || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Fatalf("limit %d: %q", limit, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("cut inside a character: %q", got)
		}
	})
}

func TestCutDocumentsSharesTheRoom(t *testing.T) {
	t.Parallel()
	documents := []abi.Document{
		{Name: "small", Text: strings.Repeat("a", 1000)},
		{Name: "large", Text: strings.Repeat("b", 9000)},
		{Name: "larger", Text: strings.Repeat("c", 20_000)},
	}
	CutDocuments(documents, 15_000, 11_000)
	if len(documents[0].Text) != 1000 {
		t.Error("a document within its share was cut")
	}
	total := 0
	for _, d := range documents {
		total += len(d.Text)
	}
	if total > 11_000 || len(documents[1].Text) < 4000 || len(documents[2].Text) < 4000 {
		t.Errorf("%d and %d bytes are left, %d in all", len(documents[1].Text), len(documents[2].Text), total)
	}
	documents[1].Text = strings.Repeat("b", 9000)
	CutDocuments(documents, 8000, 1<<20)
	if len(documents[1].Text) > 8000 {
		t.Error("the bound of each document does not hold")
	}
}
