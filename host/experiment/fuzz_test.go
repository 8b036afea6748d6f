package experiment

import (
	"bytes"
	"errors"
	"go/parser"
	"go/token"
	"testing"
)

// FuzzReadStream: whatever a test writes, it came out in one of the known ways, and only a failure has a log.
func FuzzReadStream(f *testing.F) {
	f.Add(`{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: got 1\n"}` +
		"\n" + `{"Action":"fail","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"p"}`)
	f.Add(`{"Action":"pass","Package":"p","Test":"TestA"}`)
	f.Fuzz(func(t *testing.T, stream string) {
		kind, log := readStream("p", "TestA", []byte(stream))
		switch kind {
		case kindPassed, kindSkipped, kindAbsent, kindEnded:
			if log != "" {
				t.Errorf("%s with the log %q", kind, log)
			}
		case kindFailed:
		default:
			t.Errorf("it came out as %q", kind)
		}
	})
}

// FuzzNeeds: what is left of test files is Go with as many lines, and has the test.
func FuzzNeeds(f *testing.F) {
	f.Add("package p\nimport (\"testing\"; x \"y/v2\")\nfunc TestA(t *testing.T) { help(x.Y) }\nvar _ = 1\n", "package p\nfunc (t *T[K]) help() {}\ntype T[K any] struct{}\n")
	f.Add("package p\nfunc () TestA() {}\nfunc TestA() {}\n", "package p\nconst (a = iota; b)\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		files := map[string][]byte{"a_test.go": []byte(a), "b_test.go": []byte(b)}
		n, err := needsOf(files, "TestA/x")
		if err != nil {
			return
		}
		some := false
		for name, text := range n.files {
			if text == nil {
				continue
			}
			some = true
			if bytes.Count(text, []byte("\n")) != bytes.Count(files[name], []byte("\n")) {
				t.Errorf("%s has other lines:\n%s", name, text)
			}
			// A semicolon may stand behind a comment.
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil && !bytes.Contains(text, []byte(";")) {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
		}
		if again, err := needsOf(files, "TestA"); !some || errors.Is(err, errNoSuchTest) || again.digest != n.digest || again.process != n.process {
			t.Error("the test is gone")
		}
	})
}
