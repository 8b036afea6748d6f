package record_test

import (
	"encoding/json"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
)

// What differs between two audits is told of the audit, by field where it is the result.
func TestCompareTellsWhereAuditsPart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*record.Audit)
		want   record.Difference
		field  string
	}{
		"nothing": {func(*record.Audit) {}, record.Difference{}, ""},
		"result": {
			func(a *record.Audit) {
				a.Result = json.RawMessage(`{"case_id":"a","global_score":2.5}`)
				a.ResultDigest = record.DigestOf(a.Result)
			},
			record.Difference{Audit: true, Event: -1, Call: -1, Where: "the audit", What: "result"},
			"global_score",
		},
		"court": {
			func(a *record.Audit) { a.Court = "another" },
			record.Difference{Audit: true, Event: -1, Call: -1, Where: "the audit", What: "name of the court"},
			"",
		},
		"call": {
			func(a *record.Audit) { a.Events[0].Call.Output = record.DigestOf([]byte("other")) },
			record.Difference{Audit: true, Event: 0, Call: 0, Where: "judge call of warden at judge", What: "output"},
			"",
		},
		"state": {
			func(a *record.Audit) { a.Events[1].Merge = record.DigestOf([]byte("other")) },
			record.Difference{Audit: true, Event: 1, Call: -1, Where: "the state after a merge", What: "what happened"},
			"",
		},
	} {
		was, is := audited("a"), audited("a")
		c.change(is.Audit)
		d, err := record.Compare(was, is)
		if err != nil {
			t.Fatal(err)
		}
		if name == "nothing" {
			if d != nil {
				t.Errorf("%+v", d)
			}
			continue
		}
		if d == nil || d.Audit != c.want.Audit || d.Event != c.want.Event || d.Call != c.want.Call || d.Where != c.want.Where || d.What != c.want.What {
			t.Errorf("%s: %+v", name, d)
			continue
		}
		if c.field != "" && (len(d.Fields) != 1 || d.Fields[0].Path != c.field) {
			t.Errorf("%s: %+v", name, d.Fields)
		}
	}
}
