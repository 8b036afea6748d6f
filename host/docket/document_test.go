package docket_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

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

func TestALightLineIsReadAsStrictlyAsACase(t *testing.T) {
	t.Parallel()
	const answer = `"classification":"red","confidence":0.5,"reasoning":""`
	got, err := docket.ParseLightLine([]byte(`{"id":"a",` + answer + `,"evidence":[{"source_ref":"s","content":"c","relevance_confidence":1,"element":"fire"}],` +
		`"remand":{"answers":[{"question_id":"q","status":"found","evidence":[]}],"challenged":[{"evidence_index":2,"status":"stands"}]}}` + "\n"))
	if err != nil || got.ID != "a" || got.Answer.Confidence != 0.5 || len(got.Evidence) != 1 || got.Evidence[0].Element != abi.Fire ||
		got.Remand.Answers[0].Status != abi.Found || got.Remand.Challenged[0].EvidenceIndex != 2 {
		t.Errorf("%+v (%v)", got, err)
	}
	for line, want := range map[string]string{
		`red`: "is not valid JSON at column 1: invalid character 'r' at start of value",
		`{"classification":"red","Confidence":2,"sure":true}`:        "Confidence: is no field of an answer\nsure: is no field of an answer\nconfidence: is missing\nreasoning: is missing",
		`{` + answer + `,"confidence":1}`:                            "confidence: occurs twice",
		`{` + answer + `,"evidence":null}`:                           "evidence: is null, expected a list: leave out what is not there",
		`{` + answer + `,"evidence":[{"source_ref":"","weight":1}]}`: "evidence[0].source_ref: is empty\nevidence[0].weight: is no field of evidence\nevidence[0].content: is missing\nevidence[0].relevance_confidence: is missing",
		`{` + answer + `} {}`:                                        "something follows the answer at column 58: an answer is one object",
		`{"classification":"","confidence":1e999,"reasoning":3}`:     "classification: is empty\nconfidence: 1e999 is outside [0, 1]\nreasoning: is a number, expected a string",
		`{` + answer + `,"remand":{"answers":[{"question_id":"q","status":"maybe","evidence":[]}],"challenged":[{"evidence_index":-1,"status":"Stands"}]}}`: "remand.answers[0].status: \"maybe\" is no status (found, not_found, withdrawn)\n" +
			"remand.challenged[0].evidence_index: -1 is no index: a whole number from 0\nremand.challenged[0].status: \"Stands\" is no status (stands, withdrawn)",
	} {
		if _, err := docket.ParseLightLine([]byte(line)); err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", line, err, want)
		}
	}
}

// A docket is read line by line; an invalid line is reported in full and does not stop the others.
func ExampleReader_JSONL() {
	const cases = `{"id":"a","subject":"TestA fails","labels":["pb001","ab001"],"evidence":[],"documents":[]}
{"id":"b","subject":"TestB fails","labels":["pb001"],"evidence":[],"colour":"red"}
`
	var reader docket.Reader
	for entry, err := range reader.JSONL("cases.jsonl", strings.NewReader(cases)) {
		var wrong *docket.LineError
		switch {
		case errors.As(err, &wrong):
			fmt.Println(wrong)
		case err != nil:
			fmt.Println("reading:", err)
		default:
			fmt.Println(entry.Case.ID, entry.Case.Subject)
		}
	}
	// Output:
	// a TestA fails
	// cases.jsonl:2: labels: has 1 label, at least 2 are needed (bad_count)
	// cases.jsonl:2: colour: is no field of a case (unknown_field)
	// cases.jsonl:2: documents: is missing (missing_field)
}

// No name of a test has it taken for a failure that no test tells of.
func TestBesideOf(t *testing.T) {
	t.Parallel()
	beside := docket.Beside{What: "the exit code is 2", Next: "see the output", Output: "exit status 2"}
	c := beside.Case()
	got, ok := docket.BesideOf(&c)
	if beside.Output = "> exit status 2\n"; !ok || got != beside {
		t.Errorf("got %+v, %t", got, ok)
	}
	for _, c := range []abi.Case{
		{Subject: docket.BesideID + ": the exit code is 2 fails"},
		{Subject: docket.BesideID + ": the exit code is 2. fails in shop.", Group: "shop."},
		{Subject: "TestTotal fails in shop", Group: "shop"},
	} {
		if got, ok := docket.BesideOf(&c); ok {
			t.Errorf("%q: got %+v", c.Subject, got)
		}
	}
}
