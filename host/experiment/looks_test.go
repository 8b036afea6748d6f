package experiment_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
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

// A failure of the base is that of the case if it has all of its lines literally, but for what runners print themselves.
func TestAccept_AK4_TheSameFailure(t *testing.T) {
	t.Parallel()
	row := func(rows ...string) string {
		return "=== RUN   TestA\n    cart_test.go:12: " + strings.Join(rows, "\n    cart_test.go:12: ") + "\n--- FAIL: TestA (0.00s)\n"
	}
	testify := "    cart_test.go:12: \n        \tError Trace:\t/tree/cart_test.go:12\n        \tError:      \tNot equal: \n        \t            \t\n        \tMessages:   \trow two\n"
	loop := "    for row in rows:\n>           assert valid(row)\nE           assert False\nE            +  where False = valid('two')\n\ntests/test_cart.py:9: AssertionError\n"
	jest := "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 3\nReceived: 2\n    at Object.toBe (/tree/src/cart.test.js:5:17)\n" +
		"    at new Promise (<anonymous>)\n    at run (/tree/node_modules/jest-circus/build/utils.js:231:10)\n"
	java := "java.lang.AssertionError: expected:<1> but was:<2>\n\tat org.junit.Assert.fail(Assert.java:89)\n\tat com.example.CartTest.total(CartTest.java:6)\n"
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"another number", assertion, strings.ReplaceAll(assertion, "is 2", "is 7"), false},
		{"another sign", assertion, strings.ReplaceAll(assertion, "is 2", "is -2"), false},
		{"another line", assertion, strings.ReplaceAll(assertion, ":12:", ":400:"), false},
		{"another time", assertion, strings.ReplaceAll(assertion, "0.00", "1.20"), true},
		{"another message", assertion, strings.ReplaceAll(assertion, "Total is 2, want 3", "nothing was added"), false},
		{"a further row of the base", row("one: 1"), row("one: 1", "two: 2"), true},
		{"a further row of head", row("one: 1", "two: 2"), row("one: 1"), false},
		{"the rows in another order", row("one: 1", "two: 2"), row("two: 2", "one: 1"), true},
		{"a row that fails twice", row("bad", "bad"), row("bad"), false},
		{"another order within a message", row("rows:\n        a\n        b"), row("rows:\n        b\n        a"), false},
		{"behind an empty line of a message", testify, strings.ReplaceAll(testify, "row two", "row one"), false},
		{"output of others", assertion, "warming up abc\nconnected as xyz\n" + assertion, true},
		{"a crash in another folder", crash, strings.NewReplacer("/home/runner/work/shop/shop/", "/tmp/shadowcourt-lab-1/tree0/tree/", "0xc0000b8a88", "0xc000111111", "goroutine 18", "goroutine 7", "+0x1d", "+0x2e").Replace(crash), true},
		{"a crash with GOTRACEBACK=system", crash, strings.ReplaceAll(crash, "+0x45", "+0x45 fp=0x2f0e66dfc620 sp=0x2f0e66dfc600 pc=0x483a2e"), true},
		{"a crash with trimmed paths", crash, strings.ReplaceAll(crash, "/home/runner/work/shop/shop/", "example.com/shop/"), true},
		{"a crash of another kind", crash, strings.ReplaceAll(crash, "index out of range [3] with length 2", "invalid memory address or nil pointer dereference"), false},
		{"a crash at another index", crash, strings.ReplaceAll(crash, "[3]", "[4]"), false},
		{"a crash elsewhere", crash, strings.NewReplacer("cart.Total(", "cart.Average(", "cart.go", "average.go").Replace(crash), false},
		{"a crash of another row", crash, strings.ReplaceAll(crash, "cart_test.go:12", "cart_test.go:13"), false},
		{"a crash and an assertion", crash, assertion, false},
		{"a timeout elsewhere", timeout, strings.NewReplacer("10m0s", "20s", "cart.Wait()", "cart.Close()", "cart.go:7", "close.go:9").Replace(timeout), true},
		{"a timeout and an assertion", timeout, assertion, false},
		{"a panic of Rust without frames", rust + frames, strings.ReplaceAll(rust, "(412)", "(7)") + "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n", true},
		{"a panic of Rust elsewhere", rust + frames, strings.ReplaceAll(rust, "left == right", "total > 0") + frames, false},
		{"another number in Rust", rust + frames, strings.ReplaceAll(rust, "left: 4", "left: 5") + frames, false},
		{"what pytest tells of the environment", pytest, strings.ReplaceAll(pytest, "/home/me/bin", "/usr/bin"), true},
		{"another assertion of pytest", pytest, strings.ReplaceAll(pytest, "None == '1'", "None == 'open'"), false},
		{"another row of pytest", loop, strings.ReplaceAll(loop, "'two'", "'one'"), false},
		{"another line of pytest", loop, strings.ReplaceAll(loop, "py:9", "py:10"), false},
		{"pytest with --tb=short", loop, "tests/test_cart.py:9: in test_rows\n    assert valid(row)\nE   assert False\nE    +  where False = valid('two')\n", true},
		{"another number in jest", jest, strings.ReplaceAll(jest, "Received: 2", "Received: 4"), false},
		{"another assertion in jest", jest, strings.ReplaceAll(jest, ":5:17", ":6:17"), false},
		{"another library of jest", jest, strings.ReplaceAll(jest, "utils.js:231", "utils.js:7"), true},
		{"another number in Java", java, strings.ReplaceAll(java, "<2>", "<4>"), false},
		{"another assertion in Java", java, strings.ReplaceAll(java, "CartTest.java:6", "CartTest.java:7"), false},
		{"another library of Java", java, strings.ReplaceAll(java, "Assert.java:89", "Assert.java:87"), true},
		{"nothing but the end", "--- FAIL: TestA (0.00s)\n", "--- FAIL: TestA (0.50s)\n", true},
		{"nothing but the end, and an assertion", "--- FAIL: TestA (0.00s)\n", assertion, false},
		{"the last words", "no luck today\n--- FAIL: TestA (0.00s)\n", "out of paper\n--- FAIL: TestA (0.00s)\n", false},
		{"the blanks of go-cmp", row("(-want +got):\n          map[string]int{\n        - \t\"V\": 1,"), row("(-want +got):\n        \u00a0\u00a0map[string]int{\n        -\u00a0\t\"V\": 1,"), true},
		{"a folder of the run", row("open /tmp/TestA123/001/x.json: no such file"), row("open /tmp/TestA987/001/x.json: no such file"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := experiment.Differs(c.a, c.b); (got == "") != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestAccept_AK4_WhatOnlyStandsBesideTheFailure is quoted apart: what a refactoring adds is no other failure, and no equal one either.
func TestAccept_AK4_WhatOnlyStandsBesideTheFailure(t *testing.T) {
	t.Parallel()
	jest := func(frames ...string) string {
		return "Error: octal\n    at " + strings.Join(frames, "\n    at ") + "\n    at Object.parse (/tree/p.test.js:1:62)\n"
	}
	py := "E       ValueError: bad: 'x'\n\nshop.py:18: ValueError\n"
	order := func(value string) string { return "    cart_test.go:7: got " + value + "\n--- FAIL: TestA (0.00s)\n" }
	where := func(value string) string {
		return "E       AssertionError: assert 5 == 6\nE        +  where 5 = " + value + ".total\n\ntest_shop.py:3: AssertionError\n"
	}
	between := strings.Replace(crash, "\t/home/runner/work/shop/shop/cart/cart.go:7", "\t/home/runner/work/shop/shop/cart/at.go:5 +0x1d\n"+
		"example.com/shop/cart.Sum({0xc000010101, 0x2, 0x2})\n\t/home/runner/work/shop/shop/cart/cart.go:7", 1)
	for _, c := range []struct{ name, head, base, only string }{
		{"a frame of Go between others", between, crash, "at.go:5, example.com/shop/cart.Sum()"},
		{"a frame of another crash", between, strings.ReplaceAll(crash, "[3]", "[4]"), ""},
		{"a frame of a crash elsewhere", between, strings.ReplaceAll(crash, "cart.go:7", "cart.go:9"), ""},
		{"a frame of jest", jest("check (/tree/p.js:2:27)", "check (/tree/p.js:5:3)"), jest("Object.parse (/tree/p.js:2:27)"), "at check (p.js:5:3)"},
		{"a frame of jest in place of another", jest("check (/tree/p.js:5:3)"), jest("Object.parse (/tree/p.js:2:27)"), ""},
		{"a frame of pytest", "shop.py:15: in parse\n    return number(s)\n" + py, py, "shop.py:15"},
		{"a frame of pytest with another message", "shop.py:15: in parse\n    return number(s)\n" + py, strings.Replace(py, "'x'", "'y'", 1), ""},
		{"a field of Go", order("{ID:1 Total:5 Note:}"), order("{ID:1 Total:5}"), "cart_test.go:7: got {ID:1 Total:5 Note:}"},
		{"a first field", order("{Note:a ID:1 Total:5}"), order("{ID:1 Total:5}"), "cart_test.go:7: got {Note:a ID:1 Total:5}"},
		{"a field and another number", order("{ID:1 Total:4 Note:}"), order("{ID:1 Total:5}"), ""},
		{"other numbers of a value", order("{1 2}"), order("{12}"), ""},
		{"a key of a map", order("map[a:1 b:2]"), order("map[a:1]"), ""},
		{"a number of a message", order("a=1, b=2"), order("a=1"), ""},
		{"a field of Python", where("Order(id=1, currency='EUR')"), strings.Replace(where("Order(id=1)"), "AssertionError: assert", "assert", 1), "E +  where 5 = Order(id=1, currency='EUR').total"},
		{"a row", order("a bad") + order("b bad"), order("a bad"), ""},
	} {
		got, besides := strings.CutPrefix(experiment.Differs(c.head, c.base), plan.Besides)
		if besides != (c.only != "") || besides && got != c.only || got == "" {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// What differs between runs of head is no part of the failure; an assertion that the case does not have is.
func TestAccept_FZ3_WhatDiffersFromRunToRunIsNoOtherFailure(t *testing.T) {
	t.Parallel()
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
		{"a name of letters or digits", random("12", "a1x9") + end, []string{random("12", "b2_z7") + end, random("12", "qwerty") + end, random("12", "c3y") + end}, 3},
		{"nothing else", "abc is def\n" + end, []string{"ghi is jkl\n" + end, "mno is pqr\n" + end}, 2},
		{"another number each time", total + end, []string{strings.ReplaceAll(total, "2,", "4,") + end, strings.ReplaceAll(total, "2,", "-5,") + end}, 2},
		{"one other number each time", total + end, []string{strings.ReplaceAll(total, "2,", "4,") + end, strings.ReplaceAll(total, "2,", "4,") + end}, 0},
		{"one of some names", random("12", "pears") + end, []string{random("12", "plums") + end, random("12", "pears") + end, random("12", "plums") + end}, 1},
		{"a message elsewhere", random("12", "abc") + end, []string{random("20", "def") + end, random("20", "ghi") + end}, 0},
		{"another assertion beside the same log", note("abc") + total + end, []string{note("def") + random("20", "ghi") + end, note("jkl") + random("20", "mno") + end}, 0},
		{"now and then another assertion", total + end, []string{total + end, random("20", "ghi") + end, random("20", "jkl") + end}, 1},
		{"a further assertion each time", total + end, []string{total + random("20", "ghi") + end, total + random("20", "jkl") + end}, 0},
		{"a further log now and then", total + end, []string{total + note("ghi") + end, total + end}, 2},
		{"a run that took too long", random("12", "abc") + end, []string{random("12", "def") + end, timeout, random("12", "ghi") + end}, 2},
		{"one run is no comparison", random("12", "abc") + end, []string{random("12", "def") + end}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := experiment.Rerun(c.failed, nil, c.runs...); got != c.same {
				t.Errorf("%d of %d", got, len(c.runs))
			}
		})
	}
}

// A failure of a later step may be the only one: what the first step has shown says whether it is the same.
func TestALaterStepKnowsWhatDiffers(t *testing.T) {
	t.Parallel()
	price := func(line, name string) string {
		return "    cart_test.go:" + line + ": no price of " + name + "\n--- FAIL: TestA (0.00s)\n"
	}
	before := []string{price("12", "def"), price("12", "ghi")}
	for want, runs := range map[int][]string{1: {price("12", "jkl")}, 2: {price("12", "jkl"), price("12", "mno")}, 0: {price("20", "jkl")}} {
		if got := experiment.Rerun(price("12", "abc"), before, runs...); got != want {
			t.Errorf("%q: %d are the same", runs, got)
		}
	}
}

// What differs between runs of head may differ on the base, too, and nothing else may.
func TestAccept_AK4_OnlyWhatDiffersHereMayDifferThere(t *testing.T) {
	t.Parallel()
	order := func(id, total string) string {
		return "    cart_test.go:12: order " + id + ": total = " + total + "\n--- FAIL: TestA (0.00s)\n"
	}
	for _, c := range []struct{ name, base, want string }{
		{"the same", order("a1", "-1"), ""},
		{"of another order", order("f9", "-1"), ""},
		{"another total", order("a1", "0"), "it does not fail with: cart_test.go:12: order a1: total = -1"},
	} {
		if got := experiment.Differs(order("a1", "-1"), c.base, order("b2", "-1"), order("c3", "-1")); got != c.want {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
	if got := experiment.Differs(order("admin-a1", "-1"), order("user-f9", "-1"), order("admin-b2", "-1"), order("admin-c3", "-1")); got == "" {
		t.Error("another part of a word that is drawn: no difference")
	}
	if got := experiment.Differs(order("a1", "0.91s at 2026-11-30T23:08:58.1Z"), order("a1", "1.02s at 2026-11-30T23:09:00.2Z"), order("a1", "0.92s at 2026-11-30T23:08:58.3Z"), order("a1", "0.95s at 2026-11-30T23:08:59.2Z")); got != "" {
		t.Errorf("measured: got %q", got)
	}
	// Reruns that drew one word alike differ in it from the report, which is a run of head as well.
	if got := experiment.Differs(order("a1", "-1"), order("a7", "-4"), order("b2", "-3"), order("c3", "-3")); got != "" {
		t.Errorf("drawn twice: got %q", got)
	}
}

// A search for a commit compares failures without numbers and lines.
func TestSearchesCompareLoosely(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run  string
		want bool
	}{
		"other numbers and lines": {strings.NewReplacer("12", "400", "is 2", "is 7").Replace(assertion), true},
		"a further message":       {strings.ReplaceAll(assertion, "want 3\n", "want 3\n    cart_test.go:13: Average is 1, want 2\n"), true},
		"another message":         {strings.ReplaceAll(assertion, "Total is 2, want 3", "nothing was added"), false},
		"nothing":                 {"--- FAIL: TestA (0.00s)\n", false},
	} {
		if got := experiment.Loosely(assertion, c.run); got != c.want {
			t.Errorf("%s: got %v", name, got)
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

// shop is a module of one package, by its tests and its product.
func shop(product, tests string) map[string]string {
	return map[string]string{
		"go.mod":       "module example.com/shop\n\ngo 1.26\n",
		"shop.go":      "package shop\n\n" + product,
		"shop_test.go": "package shop\n\nimport (\"math/rand/v2\"; \"testing\")\n\nvar _ = rand.Int\n\n" + tests,
	}
}

// TestAccept_AK4_WhatOnlyHeadFailsWith: each failing line of head needs its like on the base, wherever it stands there.
func TestAccept_AK4_WhatOnlyHeadFailsWith(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/experiment")
	const (
		sum  = "func Sum(p ...int) (s int) { for _, x := range p { s += x }; return s }\n"
		more = "func Sum(p ...int) (s int) { for _, x := range p { s += x }; if len(p) == 2 { s++ }; return s }\n"
		last = "func Sum(p ...int) (s int) { return p[len(p)] }\n"
		rows = `func TestShop(t *testing.T) {
	for name, c := range map[string]struct { in []int; want int }{"none": {nil, 1}, "one": {[]int{5}, 5}, "two": {[]int{1, 2}, 3}} {
		if got := Sum(c.in...); got != c.want {
			t.Errorf("%s: Sum is %d, want %d", name, got, c.want)
		}
	}
}
`
		twice  = "func TestShop(t *testing.T) {\n\tif Sum() != 1 {\n\t\tt.Error(\"wrong\")\n\t}\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n"
		panics = "func TestShop(t *testing.T) { Sum(1) }\n"
		log    = "type T interface{ Log(...any); Error(...any) }\nfunc Check(t T) {\n\tt.Log(\"begin\")\n\tt.Error(\"bad\")\n}\n"
		checks = "func TestShop(t *testing.T) { Check(t) }\n"
		random = "func TestShop(t *testing.T) { t.Errorf(\"order %d: Sum is %d, want 5\", rand.Int64(), Sum(1, 2)) }\n"
	)
	for _, c := range []struct {
		name, base, baseTests, head, headTests string
		want                                   abi.ExperimentOutcome
		detail                                 string
	}{
		{"a further row", sum, rows, more, rows, abi.OutcomeOther, "it does not fail with: shop_test.go:10: two: Sum is 4, want 3\n"},
		{"a further assertion", sum, twice, more, twice, abi.OutcomeOther, "it does not fail with: shop_test.go:12: wrong\n"},
		{"another assertion", sum, twice, "func Sum(p ...int) (s int) { return 1 }\n", twice, abi.OutcomeOther, "it does not fail with: shop_test.go:12: wrong\n"},
		{
			"another number", sum, "func TestShop(t *testing.T) { if got := Sum(1, 2); got != 5 { t.Errorf(\"got %d\", got) } }\n", more,
			"func TestShop(t *testing.T) { if got := Sum(1, 2); got != 5 { t.Errorf(\"got %d\", got) } }\n", abi.OutcomeOther, "it does not fail with: shop_test.go:7: got 4\n",
		},
		{"the lines of the test have moved", sum, rows, sum, "// Of a shop.\n\n" + rows + "\n// The end.\n", abi.OutcomeSame, ""},
		{"the lines of the product have moved", "// Sum sums.\n" + last, panics, last, panics, abi.OutcomeSame, ""},
		{"the failing line has changed", sum, twice, sum, strings.Replace(twice, "t.Error(\"wrong\")", "t.Error(\"wrong\") // none", 1), abi.OutcomeSame, ""},
		{"there are more lines", sum, twice, sum, strings.Replace(twice, "t.Error(\"wrong\")", "{\n\t\t\tt.Error(\"wrong\")\n\t\t}", 1), abi.OutcomeSame, ""},
		{"a log that is new", log, checks, strings.Replace(log, "\tt.Error", "\tt.Log(\"end\")\n\tt.Error", 1), checks, abi.OutcomeOther, plan.Besides + "shop.go:6: end\n"},
		{"a log of the test", log, checks, log, strings.Replace(checks, "Check(t)", "t.Log(1); Check(t)", 1), abi.OutcomeOther, plan.Besides + "shop_test.go:7: 1\n"},
		{"an error that is new", log, checks, strings.Replace(log, "\tt.Error", "\tt.Error(\"end\")\n\tt.Error", 1), checks, abi.OutcomeOther, "it does not fail with: shop.go:6: end\n"},
		{"what differs each time", sum, random, sum, random, abi.OutcomeSame, ""},
		{"a number beside what differs each time", sum, random, more, random, abi.OutcomeOther, "it does not fail with: shop_test.go:7: order "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.Git(t, dir, "init", "-q", "-b", "main")
			must.Write(t, dir, shop(c.base, c.baseTests))
			must.Git(t, dir, "add", ".")
			must.Git(t, dir, "commit", "-qm", "base")
			must.Write(t, dir, shop(c.head, c.headTests))
			l := open(t, experiment.Config{Source: dir, Base: "HEAD", Mode: experiment.All, Budget: time.Hour})
			subject := docket(t, dir)["TestShop"]
			if r, err := l.Run(t.Context(), subject, parse(t, again)); err != nil || r.Same != 5 {
				t.Errorf("head: %+v, %v\n%s", r, err, subject.Documents[0].Text)
			}
			r, err := l.Run(t.Context(), subject, parse(t, onlyGreen))
			if err != nil || r.Outcome != c.want || !strings.HasPrefix(r.Detail, c.detail) {
				t.Errorf("base: %+v, %v", r, err)
			}
		})
	}
}

// TestAccept_AK4_AnotherFailureInTheLaboratory is none of the case, in neither tree.
func TestAccept_AK4_AnotherFailureInTheLaboratory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, shop("func Total() int { return 0 }\n", "func TestShop(t *testing.T) { if got := Total(); got != 3 { t.Errorf(\"total = %d\", got) } }\n"))
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "base")
	must.Write(t, dir, map[string]string{"notes.go": "package shop\n"})
	l := open(t, experiment.Config{Source: dir, Base: "HEAD", Mode: experiment.All, Budget: time.Hour})
	subject := &abi.Case{Subject: "TestShop fails in example.com/shop", Documents: []abi.Document{{Name: "log", Text: "    shop_test.go:7: total = -1\n"}}}
	const differs = "it does not fail with: shop_test.go:7: total = -1\n"
	if r, err := l.Run(t.Context(), subject, parse(t, again)); err != nil || r.Outcome != abi.OutcomeNotRun || !strings.Contains(r.Detail, differs) {
		t.Errorf("head: %+v, %v", r, err)
	}
	if r, err := l.Run(t.Context(), subject, parse(t, onlyGreen)); err != nil || r.Outcome != abi.OutcomeOther || !strings.HasPrefix(r.Detail, differs) {
		t.Errorf("base: %+v, %v", r, err)
	}
}

// TestAccept_AK12_WhatTheLaboratoryTakesAway: a failure of the base that it may have made counts only where the report has its text, of the same address or
// path; a server of the test's own that refuses is nothing that is taken away.
func TestAccept_AK12_WhatTheLaboratoryTakesAway(t *testing.T) {
	t.Parallel()
	if !isolate.CanView() {
		t.Skip("the system allows no user namespaces")
	}
	const gone = "\tl, err := net.Listen(\"tcp\", \"127.0.0.1:0\")\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tl.Close()\n\t_, err = net.Dial(\"tcp\", l.Addr().String())\n"
	whole := tier.Whole("host/experiment")
	for i, c := range []struct {
		name, body, log string // of the test, and of the report
		head, base      abi.ExperimentOutcome
		why             string
	}{
		{"an own server", gone + "\tt.Error(err)\n", "15: dial tcp 127.0.0.1:45123: connect: connection refused", abi.OutcomeSame, abi.OutcomeSame, ""},
		{"an own server that is not named", gone + "\tt.Error(\"no order\")\n", "15: no order", abi.OutcomeSame, abi.OutcomeSame, ""},
		{"a service", "\t_, err := net.Dial(\"tcp\", \"127.0.0.1:5999\")\n\tt.Error(err)\n", "10: dial tcp 127.0.0.1:5999: connect: connection refused", abi.OutcomeSame, abi.OutcomeSame, ""},
		{"a service that is not named", "\tnet.Dial(\"tcp\", \"127.0.0.1:5999\")\n\tt.Error(\"no order\")\n", "10: no order", abi.OutcomeSame, abi.OutcomeNotRun, "out of reach"},
		{
			"an error without its port", "\tnet.Dial(\"tcp\", \"127.0.0.1:5999\")\n\tt.Error(\"connection refused\")\n", "10: connection refused",
			abi.OutcomeSame, abi.OutcomeNotRun, "out of reach",
		},
		{
			"no network", "\t_, err := net.Dial(\"tcp\", \"192.0.2.1:80\")\n\tt.Error(err)\n", "10: dial tcp 192.0.2.1:80: connect: network is unreachable",
			abi.OutcomeSame, abi.OutcomeSame, "",
		},
		{
			"no network here", "\t_, err := net.Dial(\"tcp\", \"192.0.2.1:80\")\n\tt.Error(err)\n", "10: dial tcp 192.0.2.1:80: i/o timeout",
			abi.OutcomeNotRun, abi.OutcomeNotRun, "out of reach",
		},
		{
			"read-only", "\terr := os.WriteFile(\"/usr/none\", nil, 0o600)\n\tt.Error(err)\n", "10: open /usr/none: read-only file system",
			abi.OutcomeSame, abi.OutcomeSame, "",
		},
		{
			"read-only without the path", "\tos.WriteFile(\"/usr/none\", nil, 0o600)\n\tt.Error(\"read-only file system\")\n", "10: read-only file system",
			abi.OutcomeSame, abi.OutcomeNotRun, "read-only in experiments",
		},
	} {
		if i%3 != 0 && !whole {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.Git(t, dir, "init", "-q", "-b", "main")
			files := shop("", "var _ = os.Stdin\nfunc TestShop(t *testing.T) {\n"+c.body+"}\n")
			files["shop_test.go"] = strings.Replace(files["shop_test.go"], "import (\"math/rand/v2\";", "import (\"math/rand/v2\"; \"net\"; \"os\";", 1) + "var _ net.Conn\n"
			must.Write(t, dir, files)
			must.Git(t, dir, "add", ".")
			must.Git(t, dir, "commit", "-qm", "base")
			must.Write(t, dir, map[string]string{"notes.go": "package shop\n"})
			l := open(t, experiment.Config{Source: dir, Base: "HEAD", Mode: experiment.All, Budget: time.Hour})
			subject := &abi.Case{Subject: "TestShop fails in example.com/shop", Documents: []abi.Document{{Name: "log", Text: "    shop_test.go:" + c.log + "\n"}}}
			if r, err := l.Run(t.Context(), subject, parse(t, again)); err != nil || r.Outcome != c.head {
				t.Errorf("head: %+v, %v", r, err)
			}
			if r, err := l.Run(t.Context(), subject, parse(t, onlyGreen)); err != nil || r.Outcome != c.base || !strings.Contains(r.Detail, c.why) {
				t.Errorf("base: %+v, %v", r, err)
			}
		})
	}
}
