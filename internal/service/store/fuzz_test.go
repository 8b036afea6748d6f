package store

import "testing"

// IDs of trials have one form; events and cursors are read again as what they were.
func FuzzIDs(f *testing.F) {
	f.Add("1-2")
	f.Add("01-2")
	f.Add("-1--2")
	f.Add("docket:7")
	f.Add("docket:")
	f.Add("12.5_group_of")
	f.Add("Inf_")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := ParseTrialID(text); err == nil && id.String() != text {
			t.Errorf("%q is read as %q", text, id)
		}
		if e, ok := parseEvent(text); ok {
			if again, ok := parseEvent(e.String()); !ok || again != e {
				t.Errorf("%q is read as %v, and then as %v", text, e, again)
			}
		}
		if g, ok := parseInboxCursor(text); ok {
			if again, ok := parseInboxCursor(g.cursor()); !ok || again.Key != g.Key || again.rank != g.rank {
				t.Errorf("%q is read as %v, and then as %v", text, g, again)
			}
		}
	})
}
