package docket_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/shadowcourt/shadowcourt/host/docket"
)

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
			d, cut, replaced, err := docket.ReadDocument("log", iotest.HalfReader(strings.NewReader(text)), limit)
			if err != nil || replaced > 0 {
				t.Fatal(err, replaced)
			}
			want := docket.CutDocument(text, limit)
			if d.Text != want || d.Name != "log" {
				t.Errorf("%d bytes cut to %d: %d bytes, want %d", len(text), limit, len(d.Text), len(want))
			}
			if (cut == nil) != (want == text) || cut != nil && (cut.Bytes != len(text) || cut.Kept > limit || cut.Kept < limit/2) {
				t.Errorf("%d bytes cut to %d: %+v", len(text), limit, cut)
			}
		}
	}
}

func TestWhatIsNoDocument(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"zeros":   {strings.Repeat("a", 100_000) + "\x00", "is no text: byte 100000 is zero (not_text)"},
		"UTF-16":  {"\xff\xfea\x00", "is UTF-16"},
		"bytes":   {strings.Repeat("\xe9\xe8a", 50), "is no UTF-8 text (invalid_utf8)"},
		"a mark":  {"\xef\xbb\xbfabc", ""},
		"nothing": {"", ""},
	} {
		_, _, _, err := docket.ReadDocument("f", strings.NewReader(tc.text), 1000)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("the disk is gone")
	if _, _, _, err := docket.ReadDocument("f", io.MultiReader(strings.NewReader("a"), iotest.ErrReader(broken)), 1000); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	d, _, replaced, err := docket.ReadDocument("f", bytes.NewReader([]byte("a fine text with one \xe9 in it")), 1000)
	if err != nil || replaced != 1 || d.Text != "a fine text with one \uFFFD in it" {
		t.Errorf("%q, %d, %v", d.Text, replaced, err)
	}
	endless := io.MultiReader(strings.NewReader("a"), strings.NewReader(strings.Repeat("b", 3<<20)), zeros{})
	if _, _, _, err := docket.ReadDocument("f", endless, 1000); err == nil {
		t.Error("an endless file was read")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
