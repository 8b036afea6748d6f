package record_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
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
				a.Result = json.RawMessage(bytes.Replace(a.Result, []byte("3.5"), []byte("2.5"), 1))
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

// Long lists are told from the first item that differs on, and not as a whole.
func TestCompareTellsPartsOfLongLists(t *testing.T) {
	t.Parallel()
	list := func(change int) *record.Trial {
		one := trial("a")
		one.Events[0].Call.Uses = nil
		for i := range 20_000 {
			digest := record.DigestOf([]byte("q"))
			if i >= change {
				digest = record.DigestOf([]byte("another"))
			}
			one.Events[0].Call.Uses = append(one.Events[0].Call.Uses, record.Use{Capability: "recall", Request: digest, Answer: digest})
			if i >= change {
				one.Over = append(one.Over, i)
			}
		}
		return one
	}
	d, err := record.Compare(list(20_000), list(10_000))
	if err != nil || d == nil || d.What != "what it asked" || d.Was == d.Is {
		t.Fatalf("%v, %+v", err, d)
	}
	for _, text := range []string{d.Was, d.Is} {
		if len(text) > 3000 || !strings.HasPrefix(text, "[10000 the same, recall sha256:") || !strings.HasSuffix(text, " and 9992 more]") {
			t.Errorf("%d bytes: %.200s", len(text), text)
		}
	}
	was, is := list(20_000), list(10_000)
	is.Events = was.Events
	d, err = record.Compare(was, is)
	if err != nil || d == nil || d.Was != "[]" || d.Is != "[10000 10001 10002 10003 10004 10005 10006 10007 and 9992 more]" {
		t.Errorf("%v, %+v", err, d)
	}
}

// Each content is found by its digest, and no other.
func TestContentIsFoundByItsDigest(t *testing.T) {
	t.Parallel()
	one := trial("a")
	var kept []record.Content
	for i := range 1000 {
		content := []byte(strconv.Itoa(i))
		kept = append(kept, record.Content{Digest: record.DigestOf(content), Bytes: content})
	}
	one.Attach(audited("a").Audit, kept)
	if len(one.Contents) != 1001 {
		t.Errorf("%d contents", len(one.Contents))
	}
	for _, c := range append(kept, one.Contents...) {
		if content, there := one.Content(c.Digest); !there || string(content) != string(c.Bytes) {
			t.Fatalf("%q for %q", content, c.Bytes)
		}
	}
	if _, there := one.Content(record.DigestOf([]byte("none"))); there {
		t.Error("a content that is not there was found")
	}
}
