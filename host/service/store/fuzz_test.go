package store

import "testing"

// IDs of trials and events have one form each: what is read is written again as the same.
func FuzzIDs(f *testing.F) {
	f.Add("1-2")
	f.Add("01-2")
	f.Add("-1--2")
	f.Add("docket:7")
	f.Add("docket:")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := ParseTrialID(text); err == nil && id.String() != text {
			t.Errorf("%q is read as %q", text, id)
		}
		if e, ok := parseEvent(text); ok {
			if again, ok := parseEvent(e.String()); !ok || again != e {
				t.Errorf("%q is read as %v, and then as %v", text, e, again)
			}
		}
	})
}
