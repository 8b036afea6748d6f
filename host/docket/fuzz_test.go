package docket

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

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

// The scanner's grammar is JSON's: it finds a syntax error exactly where the standard library finds the text invalid.
func FuzzScannerGrammar(f *testing.F) {
	for _, seed := range []string{goodLine, `[1,2.5e-3,"a\n",true,false,null,{}]`, `{"a":}`, `[01]`, `"\u12"`, "\"\x01\"", `-`, `{"a":1,}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := newScanner([]byte(text))
		ok := s.skip()
		if ok {
			_, more := s.more()
			ok = !more
		}
		if valid := json.Valid([]byte(text)); ok != valid {
			t.Fatalf("%q: %v, the standard library says %v (%v)", text, ok, valid, s.syntax)
		}
	})
}
