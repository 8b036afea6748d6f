package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// These write what is too large, or too hostile to an editor, to stand in a script.

// bigLog writes `go test -json` of one failing test with a log of 100 MB.
func bigLog() {
	w := bufio.NewWriter(os.Stdout)
	event := func(action, output string) {
		fmt.Fprintf(w, `{"Action":%q,"Package":"example.com/big","Test":"TestBig","Output":%q}`+"\n", action, output)
	}
	event("run", "")
	event("output", "=== RUN   TestBig\n")
	event("output", "    big_test.go:7: the first line that counts\n")
	filler := strings.Repeat("0123456789abcdef", 250) + "\n"
	for written := 0; written < 100<<20; written += len(filler) {
		event("output", filler)
	}
	event("output", "panic: runtime error: invalid memory address or nil pointer dereference\n")
	event("output", "--- FAIL: TestBig (1.00s)\n")
	event("fail", "")
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// longLine writes one line of 100 MB, and then what stands in the standard input.
func longLine() {
	w := bufio.NewWriter(os.Stdout)
	_, err := w.WriteString(`{"id":"` + strings.Repeat("x", 100<<20) + "\"}\n")
	if err == nil {
		_, err = io.Copy(w, os.Stdin)
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bigDocument writes a docket of one case with a document of 30 MB.
func bigDocument() {
	fmt.Fprintf(os.Stdout, `{"id":"big","subject":"s","labels":["a","b"],"light":{"classification":"a","confidence":0.7,"reasoning":""},`+
		`"evidence":[],"documents":[{"name":"log","text":"%s"}]}`+"\n", strings.Repeat("line of a log\\n", 2<<20))
}

const (
	// attack is markup, a colour, a title, a link, a right-to-left override, a carriage return, and what a C1 control is in UTF-8.
	attack = "<script>alert(1)</script> <img src=x onerror=alert(1)> \x1b[31mred \x1b]0;owned\x07 \x1b]8;;http://evil\x1b\\link" +
		" \u202egnol\u2066 \r# owned \u009b2J ![x](http://evil) s3cret token abcdef"
	// badPattern matches what may be in no output.
	badPattern = "[\x1b\x07\r\u202e\u2066\u009b]"
	// secretPattern matches what is redacted.
	secretPattern = "s3cret|abcdef"
)

// hostile writes a docket in which every text attacks its reader, or with an
// argument a docket with a fault that quotes one, or a pipeline.
func hostile() {
	quoted, err := json.Marshal(attack)
	if err != nil {
		panic(err)
	}
	text := string(quoted)
	switch what := strings.Join(os.Args[1:], " "); what {
	case "fault":
		fmt.Fprintf(os.Stdout, `{"id":"f","subject":%s,"labels":["a","b"],"light":{"classification":%s,"confidence":0.7,"reasoning":""},"evidence":[],"documents":[],%s:1}`+"\n",
			text, text, text)
	case "pipeline":
		fmt.Fprintf(os.Stdout, "pipeline: %s\nnodes:\n  - name: %s\n    family: %s\nedges: []\nstart: %s\n", text, text, text, text)
	default:
		fmt.Fprintf(os.Stdout, `{"id":"h","group":%s,"subject":%s,"labels":["a","b"],"light":{"classification":"a","confidence":0.7,"reasoning":%s},`+
			`"evidence":[{"source_ref":%s,"content":%s,"relevance_confidence":0.9,"supports":"b","element":"water"}],"documents":[{"name":%s,"text":%s}]}`+"\n",
			text, text, text, text, text, text, text)
	}
}
