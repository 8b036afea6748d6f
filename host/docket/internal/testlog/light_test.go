package testlog

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

var logs = []struct {
	name, log, label string
	confidence       float64
}{
	{"it passed when run again", "flakyFailure:\njava.net.ConnectException: Connection refused\n", NoDefect, 0.90},
	{"Java's network", "java.net.UnknownHostException: db\n\tat com.example.Db.open(Db.java:3)\n", SystemIssue, 0.78},
	{"Node's network", "Error: connect ECONNREFUSED 127.0.0.1:1\n    at TCPConnectWrap.afterConnect (node:net:1:2)\n", SystemIssue, 0.78},
	{"Python's disk", "E   OSError: [Errno 28] No space left on device\n\nshop.py:3: OSError\n", SystemIssue, 0.78},
	{"Java's memory", "java.lang.OutOfMemoryError: Java heap space\n", SystemIssue, 0.78},
	{"Node's files", "Error: EMFILE: too many open files, open 'a'\n", SystemIssue, 0.78},
	{"no such program", `Cannot run program "git": error=2` + "\n", SystemIssue, 0.78},
	{"race", "==================\nWARNING: DATA RACE\n", NoDefect, 0.80},
	{"Java's timeout", "java.util.concurrent.TimeoutException: await() timed out after 5 seconds\n", NoDefect, 0.62},
	{"jest's timeout", `Error: thrown: "Exceeded timeout of 5000 ms for a test.` + "\n", NoDefect, 0.62},
	{"a parameter that is named so", "def connect(timeout=None):\n>       assert connect() == 1\nE       assert 0 == 1\n", ProductBug, 0.60},
	{"a fixture", "E       fixture 'db' not found\n", AutomationBug, 0.74},
	{"the test does not compile", "./a_test.go:3:1: undefined: x\n", AutomationBug, 0.74},
	{"the product does not compile", "./a.go:3:1: undefined: x\n", ProductBug, 0.80},
	{"something does not build", "FAIL\texample.com/shop [build failed]\n", ProductBug, 0.55},
	{"Java's comparison", "org.opentest4j.AssertionFailedError: expected: <6> but was: <7>\n\tat com.example.CartTest.totals(CartTest.java:20)\n", ProductBug, 0.60},
	{"an assertion without values", "java.lang.AssertionError\n\tat com.example.CartTest.totals(CartTest.java:20)\n", ProductBug, 0.52},
	{"Java's crash in the product", "java.lang.NullPointerException\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)\n\tat com.example.Cart.add(Cart.java:9)\n\tat com.example.CartTest.adds(CartTest.java:23)\n", ProductBug, 0.72},
	{"Java's crash in the test", "java.lang.IllegalStateException: no stock\n\tat com.example.CartTest.adds(CartTest.java:23)\n", AutomationBug, 0.58},
	{"Python's crash in the product", "Traceback (most recent call last):\n  File \"/src/tests/test_cart.py\", line 3, in test_a\n    clean(None)\n  File \"/src/shop.py\", line 9, in clean\n    return name.strip()\nAttributeError: 'NoneType' object has no attribute 'strip'\n", ProductBug, 0.72},
	{"Python's crash in a library that the test called", "  File \"/src/tests/test_cart.py\", line 3, in test_a\n    loads('x')\n  File \"/usr/lib/python3.11/json/__init__.py\", line 346, in loads\n    return 1\njson.decoder.JSONDecodeError: Expecting value\n", AutomationBug, 0.58},
	{"JavaScript's crash in the product", "TypeError: x is not a function\n    at clean (/src/shop.js:4:32)\n    at Object.<anonymous> (/src/shop.test.js:10:10)\n", ProductBug, 0.72},
	{"Go's crash in the product", "panic: boom\n\ngoroutine 7 [running]:\nexample.com/shop/a.Do(...)\n\t/src/a.go:3\n", ProductBug, 0.72},
	{"a crash without frames", "java.lang.StackOverflowError\n", ProductBug, 0.52},
	{"silence", "bye\n", SystemIssue, 0.40},
}

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, tt := range logs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := Classify("example.com/shop/a", []abi.Document{{Name: "failure", Text: tt.log}}, nil)
			if got.Classification != tt.label || got.Confidence != tt.confidence || got.Reasoning == "" {
				t.Errorf("got %+v, want %s %.2f", got, tt.label, tt.confidence)
			}
		})
	}
}

func TestClassifyLooksAtWhatWasReportedFirst(t *testing.T) {
	t.Parallel()
	reported := []abi.Document{{Name: "failure", Text: "AssertionError: got 1, want 2\n"}}
	printed := []abi.Document{{Name: "system-out", Text: "retrying: connection refused\n"}}
	if got := Classify("", reported, printed); got.Classification != ProductBug {
		t.Errorf("got %+v", got)
	}
	if got := Classify("", nil, printed); got.Classification != SystemIssue {
		t.Errorf("got %+v without a report", got)
	}
}

// TestWordsHideNothing holds that every line that an expression matches has one of its words.
func TestWordsHideNothing(t *testing.T) {
	t.Parallel()
	patterns := []pattern{flakyText, crashText, assertionText, timeoutText, javaFrame, scriptFrame, pythonFrame, goFrame}
	for _, r := range append(systemRules(), symptomRules("", "", 0)...) {
		if p, ok := r.Match.(pattern); ok {
			patterns = append(patterns, p)
		}
	}
	matched := map[string]bool{}
	for _, tt := range logs {
		for line := range strings.SplitSeq(tt.log, "\n") {
			for _, p := range patterns {
				if !p.Regexp.MatchString(line) {
					continue
				}
				matched[p.String()] = true
				if !p.MatchString(line) {
					t.Errorf("%s matches %q, which has none of %q", p, line, p.words)
				}
			}
		}
	}
	if len(matched) < 15 {
		t.Errorf("only %d of the expressions were tried", len(matched))
	}
}

func TestMessageEndsWithTheMessage(t *testing.T) {
	t.Parallel()
	tests := []struct{ log, want string }{
		{"E   assert 7 == 6\nE    +  where 7 = f()\n\nx.py:3: AssertionError", "E   assert 7 == 6\nE    +  where 7 = f()"},
		{"    a_test.go:3: got\n        1\n    a_test.go:4: next", "    a_test.go:3: got\n        1"},
		{"Error: expect(a).toBe(b)\n\nExpected: 1\n    at x (/a.js:1:2)", "Error: expect(a).toBe(b)\n\nExpected: 1"},
		{"AssertionError: got 1\nwant 2\n\nmore", "AssertionError: got 1\nwant 2"},
	}
	for _, tt := range tests {
		lines := strings.Split(tt.log, "\n")
		if got := strings.Join(lines[:message(lines, 0)], "\n"); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
