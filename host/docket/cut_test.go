package docket

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

func TestAccept_CLI6_CutDocumentKeepsHeadAndTail(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("head line\n", 1000) + strings.Repeat("m", 100_000) + strings.Repeat("tail line\n", 1000)
	got, _ := cutText(text, 2000, 0)
	if len(got) > 2000 {
		t.Errorf("%d bytes are left", len(got))
	}
	head, tail, found := strings.Cut(got, " bytes cut here ...]\n")
	if !found || !strings.HasPrefix(head, "head line\n") || !strings.HasPrefix(tail, "tail line\n") || !strings.HasSuffix(tail, "tail line\n") {
		t.Errorf("got %q", got)
	}
}

func TestCutDocumentHoldsTheLimitAndTheBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "é", "😀", "\n", "line\n", "\xff"})
		text := strings.Join(rapid.SliceOfN(part, 0, 600).Draw(t, "text"), "")
		limit := rapid.IntRange(0, 1500).Draw(t, "limit")
		got, _ := cutText(text, limit, 0)
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
	check.Equal(t, len(documents[0].Text), 1000, "a document within its share was cut")
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

// A file that is read piece by piece is cut as one that is there as a whole.
func TestALongDocumentIsCutAsItIsRead(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := 0; b.Len() < 1_500_000; i++ {
		fmt.Fprintf(&b, "line %d, with a ü in it\n", i)
	}
	for _, bytes := range []int{0, 1, 999, 1000, 1001, 1999, 2000, 2001, 2064, 70_000, 131_072, 300_001, b.Len()} {
		text := strings.ToValidUTF8(b.String()[:bytes], "")
		for _, limit := range []int{1000, 100_000} {
			d, cut, replaced, err := ReadDocument("log", iotest.HalfReader(strings.NewReader(text)), limit)
			if err != nil || replaced > 0 {
				t.Fatal(err, replaced)
			}
			want, _ := cutText(text, limit, 0)
			if d.Text != want || d.Name != "log" {
				t.Errorf("%d bytes cut to %d: %d bytes, want %d", len(text), limit, len(d.Text), len(want))
			}
			if (cut == nil) != (want == text) || cut != nil && (cut.Bytes != len(text) || cut.Kept > limit || cut.Kept < limit/2) {
				t.Errorf("%d bytes cut to %d: %+v", len(text), limit, cut)
			}
		}
	}
}
