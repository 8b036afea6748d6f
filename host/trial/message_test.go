package trial

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
)

// told are texts of failures with what is said of them, and where they failed. Those of Go, Python, JavaScript, Java and Rust are of the
// frameworks themselves; those of C++, .NET, Ruby and PHP are written after their documentation. Whole reports of the former: the golden
// files of the readers in host/docket.
var told = []struct{ name, text, want, place string }{
	{
		"testify", "    cart_test.go:10: \n        \tError Trace:\t/src/cart_test.go:10\n        \t            \t/src/help.go:3\n        \tError:      \tNot equal: \n        \t            \texpected: 3\n        \t            \tactual  : 2\n        \tTest:       \tTestTotal",
		"cart_test.go:10: Not equal: expected: 3, actual: 2", "cart_test.go",
	},
	{
		"testify with a message", "    a_test.go:9: \n\tError Trace:\ta_test.go:9\n\tError:      \tNot equal: \n\t            \texpected: \"a\"\n\t            \tactual  : \"b\"\n\t            \t\n\t            \tDiff:\n\t            \t--- Expected\n\t            \t+++ Actual\n\tTest:       \tTestA\n\tMessages:   \tthe name",
		`a_test.go:9: Not equal: expected: "a", actual: "b" (the name)`, "a_test.go",
	},
	{"testify without values", "    a_test.go:9: \n\tError Trace:\ta_test.go:9\n\tError:      \tShould be true\n\tTest:       \tTestA", "a_test.go:9: Should be true", "a_test.go"},
	{"Go", "    cart_test.go:15: Discount(100) = 90,\n        want 80", "cart_test.go:15: Discount(100) = 90, want 80", "cart_test.go"},
	{"Go, values on lines of their own", "    cart_test.go:15: total:\n        got:  3\n        want: 4\n", "cart_test.go:15: total: got: 3, want: 4", "cart_test.go"},
	{
		"go-cmp", "    shop_test.go:32: cart mismatch (-want +got):\n          shop.cart{\n          \tItems: {\"pen\"},\n        - \tTotal: 3,\n        + \tTotal: 4,\n          }\n--- FAIL: TestB (0.00s)\n",
		"shop_test.go:32: cart mismatch (-want +got): -Total: 3, +Total: 4", "shop_test.go",
	},
	{"go-cmp alone", "    shop_test.go:37:   string(\n        -\u00a0\t\"a\",\n        +\u00a0\t\"b\",\n          )\n        \n", `shop_test.go:37: -"a", +"b"`, "shop_test.go"},
	{"gomega", "    shop_test.go:41: \n        the total\n        Expected\n            <int>: 3\n        to equal\n            <int>: 4\n", "shop_test.go:41: the total Expected 3 to equal 4", "shop_test.go"},
	{
		"panic of Go", "panic: runtime error: index out of range [3] with length 2 [recovered, repanicked]\n\ngoroutine 7 [running]:\ntesting.tRunner.func1.2({0x1, 0x2})\n\t/usr/local/go/src/testing/testing.go:1974 +0x232\nexample.com/shop.At(...)\n\t/src/shop/cart.go:9\nexample.com/shop.TestAt(0x1)\n\t/src/shop/cart_test.go:12 +0x2\n",
		"panic: runtime error: index out of range [3] with length 2", "/src/shop/cart_test.go",
	},
	{"jest", "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 6\nReceived: 5\n    at Object.toBe (/src/cart.test.js:3:47)\n", "Expected: 6, received: 5", "/src/cart.test.js"},
	{"jest, a difference", "Error: expect(received).toEqual(expected) // deep equality\n\n- Expected  - 1\n+ Received  + 1\n\n  Object {\n-   \"a\": 1,\n+   \"a\": 0,\n    \"b\": 2,\n  }", `expected: "a": 1, received: "a": 0`, ""},
	{"jest, one value", "Error: expect(received).toBeTruthy()\n\nReceived: 0\n", "expect(received).toBeTruthy(), received: 0", ""},
	{"jest, no value", "Error: expect(received).toThrow(expected)\n\nExpected substring: \"no\"\n\nReceived function did not throw\n", `Expected substring: "no", received function did not throw`, ""},
	{"jest in colours", "Error: \x1b[2mexpect(\x1b[22m\x1b[31mreceived\x1b[39m\x1b[2m).\x1b[22mtoBe\x1b[2m(\x1b[22m\x1b[32mexpected\x1b[39m\x1b[2m)\x1b[22m\n\nExpected: \x1b[32m4\x1b[39m\nReceived: \x1b[31m3\x1b[39m", "Expected: 4, received: 3", ""},
	{"vitest", "AssertionError: expected 3 to be 4 // Object.is equality\n\n- Expected\n+ Received\n\n- 4\n+ 3\n\n ❯ vt/shop.test.ts:5:47\n", "expected 3 to be 4", "vt/shop.test.ts"},
	{"node", "AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal:\n+ actual - expected\n\n  {\n+   a: 1\n-   a: 2\n  }\n    at TestContext.<anonymous> (file:///src/nt.test.mjs:7:31)\n", "Expected values to be strictly deep-equal: expected: a: 2, actual: a: 1", "/src/nt.test.mjs"},
	{"pytest", "    def test_total():\n>       assert total([1, 2, 3]) == 6\nE       assert 5 == 6\nE        +  where 5 = total([1, 2, 3])\n\ntests/test_cart.py:5: AssertionError", "assert 5 == 6, where 5 = total([1, 2, 3])", "tests/test_cart.py"},
	{"pytest with a message", "E       AssertionError: one price\nE       assert 0 == 1\nE       \nE       Full diff:\nE       - 0", "one price, assert 0 == 1", ""},
	{"pytest, an error of an error", "    def test_a():\n>       shop.price('ink')\n\ntest_a.py:3: \nshop.py:4: KeyError\nE   KeyError: 'ink'\n\nThe above exception was the direct cause of the following exception:\n\n    def test_a():\nE       RuntimeError: no such article\n\ntest_a.py:5: RuntimeError", "RuntimeError: no such article", "test_a.py"},
	{
		"Python", "Traceback (most recent call last):\n  File \"/src/test_shop.py\", line 28, in test_dict\n    self.assertEqual({\"a\": 1}, {\"a\": 2})\nAssertionError: {'a': 1} != {'a': 2}\n- {'a': 1}\n?       ^\n\n+ {'a': 2}\n",
		"{'a': 1} != {'a': 2}", "/src/test_shop.py",
	},
	{"JUnit 5", "org.opentest4j.AssertionFailedError: expected: <6> but was: <7>\n\tat org.junit.jupiter.api.AssertEquals.assertEquals(AssertEquals.java:150)\n\tat com.example.CartTest.total(CartTest.java:9)\n", "expected: <6> but was: <7>", "com/example/CartTest.java"},
	{"AssertJ", "org.opentest4j.AssertionFailedError: \n[the total] \nexpected: 4\n but was: 3\n\tat com.example.CartTest.total(CartTest.java:9)\n", "[the total], expected: 4, but was: 3", "com/example/CartTest.java"},
	{"exception of Java", "java.lang.IllegalStateException: no stock\n\tat com.example.Cart.add(Cart.java:9)\n\tat com.example.CartTest.total(CartTest.java:12)\nCaused by: java.io.IOException: no\n", "java.lang.IllegalStateException: no stock", "com/example/CartTest.java"},
	{"Rust", "thread 'tests::total' (4711) panicked at src/lib.rs:10:9:\nassertion `left == right` failed: the total\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n", "assertion `left == right` failed: the total, left: 3, right: 4", "src/lib.rs"},
	{"Rust before 1.73", "thread 'tests::total' panicked at 'no stock', src/lib.rs:10:9\nnote: run with `RUST_BACKTRACE=1`\n", "no stock", "src/lib.rs"},
	{"googletest", "cart_test.cc:5: Failure\nExpected equality of these values:\n  total()\n    Which is: 3\n  4\n", "Expected equality of these values: total(), Which is: 3, 4", "cart_test.cc"},
	{"googletest, a condition", "cart_test.cc:9: Failure\nValue of: empty()\n  Actual: false\nExpected: true\n", "Value of: empty(), actual: false, expected: true", "cart_test.cc"},
	{"Catch2", "cart.cpp:7: FAILED:\n  REQUIRE( total() == 4 )\nwith expansion:\n  3 == 4\n", "REQUIRE( total() == 4 ) with expansion: 3 == 4", "cart.cpp"},
	{"xUnit.net", "Assert.Equal() Failure: Values differ\nExpected: 4\nActual:   3\n   at Shop.Tests.CartTests.Total() in /src/Shop.Tests/CartTests.cs:line 12\n", "Assert.Equal() Failure: Values differ, expected: 4, actual: 3", "/src/Shop.Tests/CartTests.cs"},
	{"MSTest", "Assert.AreEqual failed. Expected:<4>. Actual:<3>. the total\n", "Assert.AreEqual failed. Expected:<4>. Actual:<3>. the total", ""},
	{"NUnit", "  the total\n  Expected: 4\n  But was:  3\n", "the total, expected: 4, but was: 3", ""},
	{"RSpec", "\n  expected: 4\n       got: 3\n\n  (compared using ==)\n", "expected: 4, got: 3", ""},
	{"PHPUnit", "CartTest::testTotal\nFailed asserting that 3 matches expected 4.\n\n/src/tests/CartTest.php:9\n", "CartTest::testTotal Failed asserting that 3 matches expected 4.", "/src/tests/CartTest.php"},
	{"Perl", "  Failed test 'total'\n  at t/cart.t line 3.\n         got: '3'\n    expected: '4'\n", "Failed test 'total', got: '3', expected: '4'", "t/cart.t"},
	{"nothing", " \n\n", "", ""},
	{"nothing but a class", "AssertionError\n", "AssertionError", ""},
}

func TestAccept_IG4_MessagesAndPlacesOfFailures(t *testing.T) {
	t.Parallel()
	for _, tc := range told {
		if got := message(tc.text); got != tc.want {
			t.Errorf("%s:\ngot  %q\nwant %q", tc.name, got, tc.want)
		}
		for name, subject := range map[string]abi.Case{
			"document": {Documents: []abi.Document{{Name: "failure", Text: tc.text}}},
			"excerpt":  {Evidence: []abi.Evidence{{SourceRef: "log:L1", Content: tc.text, RelevanceConfidence: 0.6}}},
		} {
			tr := Trial{Case: subject}
			if file, line := tr.Place(); file != tc.place || file != "" && line == 0 {
				t.Errorf("%s, %s: place %s:%d, want %q", tc.name, name, file, line, tc.place)
			}
			if got := tr.Message(); got != tc.want {
				t.Errorf("%s, %s:\ngot  %q\nwant %q", tc.name, name, got, tc.want)
			}
		}
	}
}

// What a test printed comes after what it says of its failure, and the file that the report names stands where nothing names a line.
func TestPlaceOfATest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		group string
		docs  []abi.Document
		file  string
		line  int
	}{
		"own before others":   {"com.example.CartTest", []abi.Document{{Name: "error", Text: "\tat com.example.Cart.add(Cart.java:9)\n\tat com.example.UtilTest.help(UtilTest.java:3)\n\tat com.example.CartTest.total(CartTest.java:12)\n"}}, "com/example/CartTest.java", 12},
		"reported file":       {"cart total", []abi.Document{{Name: "failure", Text: "at x (/src/help.test.js:3:1)\nat y (/src/a/cart.test.js:7:1)\n"}, {Name: "testcase", Text: "file=a/cart.test.js\n"}}, "/src/a/cart.test.js", 7},
		"no line":             {"cart", []abi.Document{{Name: "failure", Text: "no"}, {Name: "testcase", Text: "file=a/cart.test.js\ntime=3.0\n"}}, "a/cart.test.js", 0},
		"a group is a file":   {"a/cart.spec.ts", []abi.Document{{Name: "failure", Text: "no"}}, "a/cart.spec.ts", 0},
		"installed":           {"", []abi.Document{{Name: "failure", Text: "at x (/src/node_modules/jest/x.js:3:1)\n"}}, "", 0},
		"printed":             {"", []abi.Document{{Name: "failure", Text: "no"}, {Name: "system-out", Text: "at x (/src/x.js:3:1)\n"}}, "", 0},
		"a later run":         {"", []abi.Document{{Name: "failure", Text: "no"}, {Name: "rerunFailure", Text: "at x (/src/x.js:3:1)\n"}}, "/src/x.js", 3},
		"bats":                {"", []abi.Document{{Name: "failure", Text: "(in test file cart.bats, line 3)\n"}}, "cart.bats", 3},
		"a helper of the log": {"example.com/a", []abi.Document{{Name: "log", Text: "    a_test.go:1: one\n    b_test.go:9: got 1, want 2\n"}}, "b_test.go", 9},
	} {
		tr := Trial{Case: abi.Case{Group: tc.group, Documents: tc.docs}}
		if tc.docs[0].Name == "log" {
			tr.Case.Evidence = []abi.Evidence{{SourceRef: "log:L2", Content: "    b_test.go:9: got 1, want 2", RelevanceConfidence: 0.6}}
		}
		if file, line := tr.Place(); file != tc.file || line != tc.line {
			t.Errorf("%s: %s:%d, want %s:%d", name, file, line, tc.file, tc.line)
		}
	}
}

// Whatever a failure says, it is said on one line of bounded length.
func FuzzMessage(f *testing.F) {
	for _, tc := range told {
		f.Add(tc.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tr := Trial{Case: abi.Case{Group: "a.b", Documents: []abi.Document{{Name: "failure", Text: text}}}}
		said := tr.Message()
		file, line := tr.Place()
		if len(said) > maxSaidBytes || !utf8.ValidString(said) || strings.ContainsAny(said, "\n\r\t") || line < 0 || file == "" && line != 0 {
			t.Errorf("%q at %q:%d", said, file, line)
		}
	})
}
