package experiment_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/host/experiment"
)

const (
	assertion = "=== RUN   TestA\n    cart_test.go:12: Total is 2, want 3\n--- FAIL: TestA (0.00s)\n"
	crash     = `=== RUN   TestA
--- FAIL: TestA (0.00s)
panic: runtime error: index out of range [3] with length 2 [recovered, repanicked]

goroutine 18 [running]:
testing.tRunner.func1.2({0x54b4a0, 0xc000012345})
	/usr/local/go/src/testing/testing.go:1974 +0x23a
example.com/shop/cart.Total({0xc000010101, 0x2, 0x2})
	/home/runner/work/shop/shop/cart/cart.go:7 +0x1d
example.com/shop/cart.TestA(0xc0000b8a88)
	/home/runner/work/shop/shop/cart/cart_test.go:12 +0x45
`
	pytest = "    def test_home():\n>       assert os.environ.get('MYVAR') == '1'\nE       AssertionError: assert None == '1'\n" +
		"E        +  where None = get('MYVAR')\nE        +    where get = environ({'PATH': '/home/me/bin', 'A': 'b'}).get\n\ntests/test_cart.py:9: AssertionError\n"
	rust   = "thread 'total' (412) panicked at shop/tests/cart.rs:2:13:\nassertion `left == right` failed\n  left: 4\n right: 3\n"
	frames = `stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/panicking.rs:689:5
   1: cart::total
             at ./tests/cart.rs:2:13
note: Some details are omitted, run with ` + "`RUST_BACKTRACE=full` for a verbose backtrace.\n"
	timeout = `=== RUN   TestA
panic: test timed out after 10m0s
	running tests:
		TestA (10m0s)

goroutine 34 [running]:
testing.(*M).startAlarm.func1()
	/usr/local/go/src/testing/testing.go:2802 +0x605

goroutine 1 [chan receive, 9 minutes]:
example.com/shop/cart.Wait()
	/home/runner/work/shop/shop/cart/cart.go:7 +0x1d
`
)

func TestTheSameFailure(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"other figures and lines", assertion, strings.NewReplacer("12", "400", "is 2", "is 7", "0.00", "1.20").Replace(assertion), true},
		{"another message", assertion, strings.ReplaceAll(assertion, "Total is 2, want 3", "nothing was added"), false},
		{"a further message", assertion, strings.ReplaceAll(assertion, "want 3\n", "want 3\n    cart_test.go:13: Average is 1, want 2\n"), true},
		{"output of others", assertion, "warming up abc\nconnected as xyz\n" + assertion, true},
		{"a crash in another folder", crash, strings.NewReplacer("/home/runner/work/shop/shop/", "/tmp/shadowcourt-lab-1/tree0/tree/", "0xc0000b8a88", "0xc000111111", "goroutine 18", "goroutine 7").Replace(crash), true},
		{"a crash with trimmed paths", crash, strings.ReplaceAll(crash, "/home/runner/work/shop/shop/", "example.com/shop/"), true},
		{"a crash of another kind", crash, strings.ReplaceAll(crash, "index out of range [3] with length 2", "invalid memory address or nil pointer dereference"), false},
		{"a crash elsewhere", crash, strings.NewReplacer("cart.Total(", "cart.Average(", "cart.go", "average.go").Replace(crash), false},
		{"a crash and an assertion", crash, assertion, false},
		{"a timeout elsewhere", timeout, strings.NewReplacer("10m0s", "20s", "cart.Wait()", "cart.Close()", "cart.go:7", "close.go:9").Replace(timeout), true},
		{"a timeout and an assertion", timeout, assertion, false},
		{"a panic of Rust without frames", rust + frames, strings.ReplaceAll(rust, "(412)", "(7)") + "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n", true},
		{"a panic of Rust elsewhere", rust + frames, strings.ReplaceAll(rust, "left == right", "total > 0") + frames, false},
		{"what pytest tells of a value", pytest, strings.ReplaceAll(pytest, "/home/me/bin", "/usr/bin"), true},
		{"another assertion of pytest", pytest, strings.ReplaceAll(pytest, "None == '1'", "None == 'open'"), false},
		{"nothing but the end", "--- FAIL: TestA (0.00s)\n", "--- FAIL: TestA (0.50s)\n", true},
		{"nothing but the end, and an assertion", "--- FAIL: TestA (0.00s)\n", assertion, false},
		{"the last words", "no luck today\n--- FAIL: TestA (0.00s)\n", "out of paper\n--- FAIL: TestA (0.00s)\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := experiment.Same(c.a, c.b); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// What differs between runs of one tree is no part of the failure; an assertion that the case does not have is.
func TestAccept_FZ3_WhatDiffersFromRunToRunIsNoOtherFailure(t *testing.T) {
	end := "--- FAIL: TestA (0.00s)\n"
	note := func(name string) string { return "    cart_test.go:9: session " + name + " opened\n" }
	total := "    cart_test.go:12: Total is 2, want 3\n"
	random := func(line, name string) string { return "    cart_test.go:" + line + ": no price of " + name + "\n" }
	for _, c := range []struct {
		name, failed string
		runs         []string
		same         int
	}{
		{"a log beside it", note("abc") + total + end, []string{note("def") + total + end, note("ghi") + total + end, note("jkl") + total + end}, 3},
		{"within the message", random("12", "abc") + end, []string{random("12", "def") + end, random("12", "ghi") + end}, 2},
		{"nothing else", "abc is def\n" + end, []string{"ghi is jkl\n" + end, "mno is pqr\n" + end}, 2},
		{"a message elsewhere", random("12", "abc") + end, []string{random("20", "def") + end, random("20", "ghi") + end}, 0},
		{"another assertion beside the same log", note("abc") + total + end, []string{note("def") + random("20", "ghi") + end, note("jkl") + random("20", "mno") + end}, 0},
		{"now and then another assertion", total + end, []string{total + end, random("20", "ghi") + end, random("20", "jkl") + end}, 1},
		{"one run is no comparison", random("12", "abc") + end, []string{random("12", "def") + end}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := experiment.Rerun(c.failed, c.runs...); got != c.same {
				t.Errorf("%d of %d", got, len(c.runs))
			}
		})
	}
}

// A failure of a later step may be the only one: what the first step had in common says whether it is the same.
func TestALaterStepKnowsWhatDiffers(t *testing.T) {
	t.Parallel()
	price := func(line, name string) string {
		return "    cart_test.go:" + line + ": no price of " + name + "\n--- FAIL: TestA (0.00s)\n"
	}
	before := []string{price("12", "def"), price("12", "ghi")}
	for want, runs := range map[int][]string{1: {price("12", "jkl")}, 2: {price("12", "jkl"), price("12", "mno")}, 0: {price("20", "jkl")}} {
		if got := experiment.Later(price("12", "abc"), before, runs...); got != want {
			t.Errorf("%q: %d are the same", runs, got)
		}
	}
}

func TestARaceIsRunWithTheRaceDetector(t *testing.T) {
	race := "==================\nWARNING: DATA RACE\nRead at 0x00c000012345 by goroutine 8:\n"
	if got := experiment.Flags(race); !slices.Equal(got, []string{"-race"}) {
		t.Errorf("got %v", got)
	}
	if got := experiment.Flags(assertion); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestDetailsAreBounded(t *testing.T) {
	for name, text := range map[string]string{"long": strings.Repeat("äöü\n", 1000), "one line": strings.Repeat("ä", 3000), "invalid": strings.Repeat("a\xff", 1500)} {
		if got := experiment.FirstLines(text); len(got) > 2000 || len(got) < 1990 || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, %.20q", name, len(got), got)
		}
	}
	if got := experiment.FirstLines("=== RUN   TestA\n    a_test.go:1: no\n--- FAIL: TestA\n"); got != "a_test.go:1: no\n--- FAIL: TestA" {
		t.Errorf("got %q", got)
	}
}
