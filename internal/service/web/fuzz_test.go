package web

import "testing"

// The ID of an entry has one form: what is read is written again as the same.
func FuzzParseEntryID(f *testing.F) {
	f.Add("1-2")
	f.Add("01-2")
	f.Add("-1--2")
	f.Add("9223372036854775808-1")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := ParseEntryID(text); err == nil && id.String() != text {
			t.Errorf("%q is read as %q", text, id)
		}
	})
}
