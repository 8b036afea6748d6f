package docket

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const goodLine = `{"id":"a","group":"g","subject":"s","labels":["x","y"],` +
	`"light":{"classification":"x","confidence":0.7,"reasoning":"r"},` +
	`"evidence":[{"source_ref":"log","content":"c","relevance_confidence":1,"supports":"y","element":"water"}],` +
	`"documents":[{"name":"log","text":"t"}],"truth":{"classification":"y","expected_verdict":"amend"}}`

// readAll gives the cases and the line errors of a docket.
func readAll(t *testing.T, r *Reader, name string, in io.Reader) ([]Entry, []*LineError) {
	t.Helper()
	var entries []Entry
	var problems []*LineError
	for e, err := range r.JSONL(name, in) {
		var le *LineError
		switch {
		case err == nil:
			entries = append(entries, e)
		case errors.As(err, &le):
			problems = append(problems, le)
		default:
			t.Fatalf("reading: %v", err)
		}
	}
	return entries, problems
}

func TestReaderReadsACase(t *testing.T) {
	t.Parallel()
	got, problems := readAll(t, &Reader{}, "d.jsonl", strings.NewReader("\xef\xbb\xbf"+goodLine+"\r\n\r\n"))
	if len(problems) > 0 {
		t.Fatal(problems[0])
	}
	want := []Entry{{
		Case: abi.Case{
			ID: "a", Group: "g", Subject: "s", Labels: []string{"x", "y"},
			Light:     &abi.LightAnswer{Classification: "x", Confidence: 0.7, Reasoning: "r"},
			Evidence:  []abi.Evidence{{SourceRef: "log", Content: "c", RelevanceConfidence: 1, Supports: "y", Element: abi.Water}},
			Documents: []abi.Document{{Name: "log", Text: "t"}},
		},
		Truth:  &trial.Truth{Classification: "y", ExpectedVerdict: abi.Amend},
		Source: "d.jsonl", Line: 1,
	}}
	check.Same(t, cmp.Diff(want, got))
}

// Each case breaks goodLine by one replacement and names the problems that must come of it, as `path code`.
func TestAccept_CLI2_ReaderNamesEveryProblemOfALine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, from, to string
		want           []string
	}{
		{"no JSON", `"subject"`, `subject`, []string{" not_json"}},
		{"cut off", `"text":"t"}],"truth":{"classification":"y","expected_verdict":"amend"}}`, `"text":"t`, []string{" not_json"}},
		{"comma at the end", `"amend"}}`, `"amend"},}`, []string{" not_json"}},
		{"raw control character", `"s"`, "\"a\x01\"", []string{" not_json"}},
		{"unknown escape", `"s"`, `"\x41"`, []string{" not_json"}},
		{"NaN", `0.7`, `NaN`, []string{" not_json"}},
		{"nested too deep", `"s"`, strings.Repeat("[", 40) + strings.Repeat("]", 40), []string{"subject wrong_type"}},
		{"an array", goodLine, `[` + goodLine + `]`, []string{" wrong_type"}},
		{"two cases", goodLine, goodLine + ` ` + goodLine, []string{" trailing_bytes"}},
		{"unknown field", `"subject"`, `"colour":{"a":[1,"x",true,null]},"subject"`, []string{"colour unknown_field"}},
		{"unknown field, odd key", `"subject"`, `"a b\u001b":1,"subject"`, []string{`["a b\x1b"] unknown_field`}},
		{"key in another case", `"subject":"s"`, `"Subject":"s"`, []string{"Subject unknown_field", "subject missing_field"}},
		{"duplicate key", `"subject":"s"`, `"subject":"s","subject":"s"`, []string{"subject duplicate_key"}},
		{"duplicate key by escape", `"subject":"s"`, `"subject":"s","sub\u006aect":"s"`, []string{"subject duplicate_key"}},
		{"missing field", `"subject":"s",`, ``, []string{"subject missing_field"}},
		{"missing labels", `"labels":["x","y"],`, ``, []string{"labels missing_field"}},
		{"one label", `["x","y"]`, `["x"]`, []string{"labels bad_count"}},
		{"empty label", `["x","y"]`, `["x","y",""]`, []string{"labels[2] empty"}},
		{"duplicate label", `["x","y"]`, `["x","y","x"]`, []string{"labels[2] duplicate_label"}},
		{"label no string", `["x","y"]`, `["x",1]`, []string{"labels[1] wrong_type"}},
		{"empty id", `"id":"a"`, `"id":""`, []string{"id empty"}},
		{"id no string", `"id":"a"`, `"id":7`, []string{"id wrong_type"}},
		{"null", `"subject":"s"`, `"subject":null`, []string{"subject nil_value"}},
		{"light null", `{"classification":"x","confidence":0.7,"reasoning":"r"}`, `null`, []string{"light nil_value"}},
		{"number as string", `0.7`, `"0.7"`, []string{"light.confidence wrong_type"}},
		{"boolean for a number", `0.7`, `true`, []string{"light.confidence wrong_type"}},
		{"above 1", `0.7`, `1.0000001`, []string{"light.confidence out_of_range"}},
		{"below 0", `0.7`, `-0.1`, []string{"light.confidence out_of_range"}},
		{"light names no label", `"classification":"x"`, `"classification":"z"`, []string{"light.classification not_a_label"}},
		{"item supports no label", `"supports":"y"`, `"supports":"z"`, []string{"evidence[0].supports not_a_label"}},
		{"unknown element", `"water"`, `"wood"`, []string{"evidence[0].element invalid_value"}},
		{"empty source", `"source_ref":"log"`, `"source_ref":""`, []string{"evidence[0].source_ref empty"}},
		{"an item of the host's", `"source_ref":"log"`, `"source_ref":"casebook:7"`, []string{"evidence[0].source_ref identity"}},
		{
			"names of the host's beside others", `"evidence":[{"source_ref":"log"`, `"evidence":[{"source_ref":"casebook","content":"","relevance_confidence":0},{"source_ref":"casebook#1"`,
			[]string{"evidence[0].source_ref identity", "evidence[1].source_ref identity"},
		},
		{"a document of the host's", `"name":"log"`, `"name":"casebook:log"`, []string{"documents[0].name identity"}},
		{"two documents of a name", `[{"name":"log","text":"t"}]`, `[{"name":"log","text":"t"},{"name":"log","text":"u"}]`, []string{"documents[1].name duplicate_name"}},
		{"truth is no label", `"truth":{"classification":"y"`, `"truth":{"classification":"z"`, []string{"truth.classification not_a_label"}},
		{"unknown expected verdict", `"amend"`, `"convict"`, []string{"truth.expected_verdict invalid_value"}},
		{"truth says nothing", `{"classification":"y","expected_verdict":"amend"}`, `{}`, []string{"truth empty"}},
		{"invalid UTF-8", `"text":"t"`, "\"text\":\"ab\xff\"", []string{"documents[0].text invalid_utf8"}},
		{"lone high surrogate", `"text":"t"`, `"text":"\ud83d!"`, []string{"documents[0].text invalid_utf8"}},
		{"lone low surrogate", `"text":"t"`, `"text":"\udc00"`, []string{"documents[0].text invalid_utf8"}},
		{"invalid UTF-8 in what is skipped", `"subject"`, "\"colour\":{\"a\":[1,\"\xff\"]},\"subject\"", []string{"colour unknown_field"}},
		{
			"all at once", goodLine,
			`{"id":"","labels":["x","y"],"light":{"confidence":2},"evidence":[{"source_ref":"s","content":"c","relevance_confidence":0},7,{"content":null,"supports":"z"}],"documents":{},"why":0}`,
			[]string{
				"id empty", "light.confidence out_of_range", "light.classification missing_field", "light.reasoning missing_field",
				"evidence[1] wrong_type", "evidence[2].content nil_value", "evidence[2].source_ref missing_field",
				"evidence[2].relevance_confidence missing_field", "documents wrong_type", "why unknown_field", "subject missing_field",
				"evidence[2].supports not_a_label",
			},
		},
		{"rules of sound parts beside others", `"documents":[`, `"documents":[{"name":"d","text":1},{"name":"d","text":""},`, []string{"documents[0].text wrong_type", "documents[1].name duplicate_name"}},
		{"rules beside others", `"labels":["x","y"],"light":{"classification":"x"`, `"labels":["x","y"],"colour":1,"light":{"classification":"z"`, []string{"colour unknown_field", "light.classification not_a_label"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(goodLine, tc.from, tc.to, 1)
			if bad == goodLine {
				t.Fatal("the case changes nothing")
			}
			after := strings.Replace(goodLine, `"id":"a"`, `"id":"b"`, 1)
			entries, problems := readAll(t, &Reader{}, "d.jsonl", strings.NewReader("\n"+bad+"\n"+after+"\n"))
			if len(entries) != 1 || entries[0].Case.ID != "b" || entries[0].Line != 3 {
				t.Fatalf("the line after it was not read: %v", entries)
			}
			must.Len(t, problems, 1, "one error")
			var got []string
			for _, p := range problems[0].Problems {
				got = append(got, p.Path.String()+" "+string(p.Code))
			}
			check.Same(t, cmp.Diff(tc.want, got), problems[0])
			for line := range strings.Lines(problems[0].Error()) {
				if !strings.HasPrefix(line, "d.jsonl:2: ") {
					t.Errorf("no place in %q", line)
				}
			}
		})
	}
}

func TestReaderFindsDuplicateIDsAcrossFiles(t *testing.T) {
	t.Parallel()
	r := &Reader{}
	entries, problems := readAll(t, r, "one.jsonl", strings.NewReader("\n"+goodLine))
	if len(entries) != 1 || len(problems) != 0 {
		t.Fatal(entries, problems)
	}
	entries, problems = readAll(t, r, "two.jsonl", strings.NewReader(goodLine))
	if len(entries) != 0 || len(problems) != 1 {
		t.Fatal(entries, problems)
	}
	want := "two.jsonl:1: id: the case at one.jsonl:2 has this id (duplicate_id)"
	check.Equal(t, problems[0].Error(), want)
}

func TestReaderSaysThatAFileIsNoDocket(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   string
		want abi.Code
	}{
		"empty":         {"", CodeEmptyDocket},
		"only blanks":   {"\n \r\n\t", CodeEmptyDocket},
		"only a mark":   {"\xef\xbb\xbf", CodeEmptyDocket},
		"UTF-16":        {"\xff\xfe{\x00\n\x00", CodeNotText},
		"compressed":    {"\x1f\x8b\x08\n\n\n", CodeNotText},
		"pretty object": {"{", CodeNotJSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries, problems := readAll(t, &Reader{}, "d", strings.NewReader(tc.in))
			if len(entries) != 0 || len(problems) != 1 || len(problems[0].Problems) != 1 || problems[0].Problems[0].Code != tc.want {
				t.Fatalf("got %v, %v", entries, problems)
			}
		})
	}
}

func TestAccept_CLI2_LineOf100MBIsOneMessage(t *testing.T) {
	t.Parallel()
	entries, problems := readAll(t, &Reader{}, "d.jsonl", strings.NewReader(strings.Repeat("x", 100<<20)+"\n"+goodLine))
	if len(entries) != 1 || entries[0].Line != 2 {
		t.Fatalf("the line after it was not read: %v", entries)
	}
	want := "d.jsonl:1: the line has 104857600 bytes, at most 67108864 are allowed (too_large)"
	if len(problems) != 1 || problems[0].Error() != want {
		t.Errorf("got %v", problems)
	}
}

func TestReaderHoldsLinesToTheLimitExactly(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"", "\n", "\r\n"} {
		entries, problems := readAll(t, &Reader{MaxLineBytes: len(goodLine)}, "d", strings.NewReader(goodLine+end))
		if len(entries) != 1 || len(problems) != 0 {
			t.Errorf("end %q: a line of the limit's length is rejected: %v", end, problems)
		}
		_, problems = readAll(t, &Reader{MaxLineBytes: len(goodLine) - 1}, "d", strings.NewReader(goodLine+end))
		if len(problems) != 1 || problems[0].Problems[0].Code != abi.CodeTooLarge {
			t.Errorf("end %q: a line above the limit is taken: %v", end, problems)
		}
	}
}

func TestReaderCountsProblemsBeyondTheMost(t *testing.T) {
	t.Parallel()
	line := strings.Replace(goodLine, `"evidence":[`, `"evidence":[`+strings.Repeat(`{},`, 5000), 1)
	_, problems := readAll(t, &Reader{}, "d", strings.NewReader(line))
	if len(problems) != 1 || len(problems[0].Problems) != abi.MaxProblems || problems[0].Omitted != 15000-abi.MaxProblems {
		t.Fatalf("got %d errors, %d problems, %d omitted", len(problems), len(problems[0].Problems), problems[0].Omitted)
	}
}

func TestReaderPassesOnReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	var got []error
	for _, err := range (&Reader{}).JSONL("d", io.MultiReader(strings.NewReader(goodLine+"\n{"), iotest.ErrReader(broken))) {
		got = append(got, err)
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], broken) {
		t.Errorf("got %v", got)
	}
}

func TestReaderCutsLongDocuments(t *testing.T) {
	t.Parallel()
	line := strings.Replace(goodLine, `"text":"t"`, `"text":"HEAD`+strings.Repeat("x", 2<<20)+`TAIL"`, 1)
	entries, problems := readAll(t, &Reader{}, "d", strings.NewReader(line))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	text := entries[0].Case.Documents[0].Text
	if len(text) > abi.DefaultDocumentBytes || !strings.HasPrefix(text, "HEAD") || !strings.HasSuffix(text, "TAIL") || !strings.Contains(text, "bytes cut here") {
		t.Errorf("cut to %d bytes", len(text))
	}
}

func TestAccept_CLI5_LineErrorsAreInert(t *testing.T) {
	t.Parallel()
	const name = "d\x1b[2J\u202e.jsonl"
	bad := strings.Replace(goodLine, `"supports":"y"`, `"supports":"\u001b]0;\u202e","\u009b\u200b":1`, 1)
	_, problems := readAll(t, &Reader{}, name, strings.NewReader(goodLine+"\n"+goodLine+"\n"+bad+"\nx\x1b"))
	must.Len(t, problems, 3)
	for _, p := range problems {
		for line := range strings.SplitSeq(p.Error(), "\n") {
			check.Equal(t, sanitize.Line(line), line)
		}
	}
}

// An opinion is read as JSON has it, or rejected with all that is wrong.
func FuzzReadOpinion(f *testing.F) {
	for _, seed := range []string{
		`{"text":"it is so","case_id":"7","court_name":"Shadow","metadata":{"a":"b"}}`,
		`{"text":"x","evidence":[{"source_ref":"log","content":"x","relevance_confidence":1}],"documents":[{"name":"log","text":"x"},{"name":"log","text":"y"}]}`,
		`{"text":"","metadata":{"a":1,"a":2}}`, `{"text":"\ud800"}`, `[]`, `{"text":"x"} {`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		entry, invalid := readOpinion(text)
		if invalid != nil {
			if len(invalid.Problems) == 0 || !utf8.ValidString(invalid.Error()) {
				t.Errorf("rejected with %q", invalid.Error())
			}
			return
		}
		var standard struct {
			Text string `json:"text"`
		}
		must.Do(t, json.Unmarshal(text, &standard), "read, and the standard library says")
		if entry.Opinion.Text == "" || entry.Opinion.Text != standard.Text {
			t.Errorf("%q is read of %q", entry.Opinion.Text, text)
		}
	})
}

// A document is cut to its limit and is text, or is rejected.
func FuzzReadDocument(f *testing.F) {
	f.Add([]byte("a\nb\n"), 100)
	f.Add(bytes.Repeat([]byte("line\n"), 300), 600)
	f.Add([]byte("\xff\xfe"), 0)
	f.Add([]byte("a\x00b"), 10)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		if limit > abi.DefaultDocumentBytes {
			return
		}
		d, cut, replaced, err := ReadDocument("log", bytes.NewReader(data), limit)
		if err != nil {
			if problem := (*LineError)(nil); !errors.As(err, &problem) {
				t.Errorf("error %v", err)
			}
			return
		}
		if !utf8.ValidString(d.Text) || (cut == nil && replaced == 0 && d.Text != string(data)) {
			t.Errorf("%q is read of %q", d.Text, data)
		}
		if cut != nil && (cut.Bytes != len(data) || cut.Kept >= cut.Bytes || cut.Kept < 0) {
			t.Errorf("%+v of %d bytes", cut, len(data))
		}
	})
}

// What the reader takes, the standard library takes too, and reads the same texts from it; what is no JSON it rejects.
func FuzzJSONL(f *testing.F) {
	f.Add(goodLine)
	f.Add(goodLine + "\r\n" + goodLine)
	f.Add("\xef\xbb\xbf{\"id\":\"\\ud83d\\ude00\\u0000\",\"x\":[1e5,-0.0,{\"a\":null}]}")
	f.Add(strings.Replace(goodLine, `"t"`, `"\ud800\"`, 1))
	f.Fuzz(func(t *testing.T, docket string) {
		lines := strings.Split(docket, "\n")
		for e, err := range (&Reader{MaxLineBytes: 1 << 16}).JSONL("d", strings.NewReader(docket)) {
			var problem *LineError
			if err != nil {
				if !errors.As(err, &problem) || len(problem.Problems) == 0 || !utf8.ValidString(err.Error()) {
					t.Fatalf("error %v", err)
				}
				continue
			}
			checkAgainstStandard(t, &e, strings.TrimPrefix(lines[e.Line-1], "\xef\xbb\xbf"))
		}
	})
}

func checkAgainstStandard(t *testing.T, e *Entry, line string) {
	t.Helper()
	var want struct {
		ID, Subject string
		Labels      []string
		Evidence    []struct {
			Content    string
			Confidence float64 `json:"relevance_confidence"`
		}
	}
	if err := json.Unmarshal([]byte(line), &want); err != nil { //nolint:musttag // names are matched in any case
		t.Fatalf("taken, and yet %v: %q", err, line)
	}
	c := &e.Case
	if c.ID != want.ID || c.Subject != want.Subject || len(c.Labels) != len(want.Labels) || len(c.Evidence) != len(want.Evidence) {
		t.Fatalf("read differently: %+v and %+v", c, want)
	}
	for i := range c.Evidence {
		if c.Evidence[i].Content != want.Evidence[i].Content || c.Evidence[i].RelevanceConfidence != want.Evidence[i].Confidence {
			t.Fatalf("item %d is read differently", i)
		}
	}
}
