package trial

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

// told are texts of failures with what is said of them. Those of Go, Python, JavaScript, Java and Rust are of the
// frameworks themselves; those of C++, .NET, Ruby and PHP are written after their documentation. Whole reports of the former: the golden
// files of the readers in host/docket.
var told = []struct{ name, text, want string }{
	{
		"testify", "    cart_test.go:10: \n        \tError Trace:\t/src/cart_test.go:10\n        \t            \t/src/help.go:3\n        \tError:      \tNot equal: \n        \t            \texpected: 3\n        \t            \tactual  : 2\n        \tTest:       \tTestTotal",
		"cart_test.go:10: Not equal: expected: 3, actual: 2",
	},
	{
		"testify with a message", "    a_test.go:9: \n\tError Trace:\ta_test.go:9\n\tError:      \tNot equal: \n\t            \texpected: \"a\"\n\t            \tactual  : \"b\"\n\t            \t\n\t            \tDiff:\n\t            \t--- Expected\n\t            \t+++ Actual\n\tTest:       \tTestA\n\tMessages:   \tthe name",
		`a_test.go:9: Not equal: expected: "a", actual: "b" (the name)`,
	},
	{"testify without values", "    a_test.go:9: \n\tError Trace:\ta_test.go:9\n\tError:      \tShould be true\n\tTest:       \tTestA", "a_test.go:9: Should be true"},
	{"Go", "    cart_test.go:15: Discount(100) = 90,\n        want 80", "cart_test.go:15: Discount(100) = 90, want 80"},
	{"Go, values on lines of their own", "    cart_test.go:15: total:\n        got:  3\n        want: 4\n", "cart_test.go:15: total: got: 3, want: 4"},
	{
		"go-cmp", "    shop_test.go:32: cart mismatch (-want +got):\n          shop.cart{\n          \tItems: {\"pen\"},\n        - \tTotal: 3,\n        + \tTotal: 4,\n          }\n--- FAIL: TestB (0.00s)\n",
		"shop_test.go:32: cart mismatch (-want +got): -Total: 3, +Total: 4",
	},
	{"go-cmp alone", "    shop_test.go:37:   string(\n        -\u00a0\t\"a\",\n        +\u00a0\t\"b\",\n          )\n        \n", `shop_test.go:37: -"a", +"b"`},
	{"gomega", "    shop_test.go:41: \n        the total\n        Expected\n            <int>: 3\n        to equal\n            <int>: 4\n", "shop_test.go:41: the total Expected 3 to equal 4"},
	{
		"panic of Go", "panic: runtime error: index out of range [3] with length 2 [recovered, repanicked]\n\ngoroutine 7 [running]:\ntesting.tRunner.func1.2({0x1, 0x2})\n\t/usr/local/go/src/testing/testing.go:1974 +0x232\nexample.com/shop.At(...)\n\t/src/shop/cart.go:9\nexample.com/shop.TestAt(0x1)\n\t/src/shop/cart_test.go:12 +0x2\n",
		"panic: runtime error: index out of range [3] with length 2",
	},
	{"jest", "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 6\nReceived: 5\n    at Object.toBe (/src/cart.test.js:3:47)\n", "Expected: 6, received: 5"},
	{"jest, a difference", "Error: expect(received).toEqual(expected) // deep equality\n\n- Expected  - 1\n+ Received  + 1\n\n  Object {\n-   \"a\": 1,\n+   \"a\": 0,\n    \"b\": 2,\n  }", `expected: "a": 1, received: "a": 0`},
	{"jest, one value", "Error: expect(received).toBeTruthy()\n\nReceived: 0\n", "expect(received).toBeTruthy(), received: 0"},
	{"jest, no value", "Error: expect(received).toThrow(expected)\n\nExpected substring: \"no\"\n\nReceived function did not throw\n", `Expected substring: "no", received function did not throw`},
	{"jest in colours", "Error: \x1b[2mexpect(\x1b[22m\x1b[31mreceived\x1b[39m\x1b[2m).\x1b[22mtoBe\x1b[2m(\x1b[22m\x1b[32mexpected\x1b[39m\x1b[2m)\x1b[22m\n\nExpected: \x1b[32m4\x1b[39m\nReceived: \x1b[31m3\x1b[39m", "Expected: 4, received: 3"},
	{"vitest", "AssertionError: expected 3 to be 4 // Object.is equality\n\n- Expected\n+ Received\n\n- 4\n+ 3\n\n ❯ vt/shop.test.ts:5:47\n", "expected 3 to be 4"},
	{"node", "AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal:\n+ actual - expected\n\n  {\n+   a: 1\n-   a: 2\n  }\n    at TestContext.<anonymous> (file:///src/nt.test.mjs:7:31)\n", "Expected values to be strictly deep-equal: expected: a: 2, actual: a: 1"},
	{"pytest", "    def test_total():\n>       assert total([1, 2, 3]) == 6\nE       assert 5 == 6\nE        +  where 5 = total([1, 2, 3])\n\ntests/test_cart.py:5: AssertionError", "assert 5 == 6, where 5 = total([1, 2, 3])"},
	{"pytest with a message", "E       AssertionError: one price\nE       assert 0 == 1\nE       \nE       Full diff:\nE       - 0", "one price, assert 0 == 1"},
	{"pytest, an error of an error", "    def test_a():\n>       shop.price('ink')\n\ntest_a.py:3: \nshop.py:4: KeyError\nE   KeyError: 'ink'\n\nThe above exception was the direct cause of the following exception:\n\n    def test_a():\nE       RuntimeError: no such article\n\ntest_a.py:5: RuntimeError", "RuntimeError: no such article"},
	{
		"Python", "Traceback (most recent call last):\n  File \"/src/test_shop.py\", line 28, in test_dict\n    self.assertEqual({\"a\": 1}, {\"a\": 2})\nAssertionError: {'a': 1} != {'a': 2}\n- {'a': 1}\n?       ^\n\n+ {'a': 2}\n",
		"{'a': 1} != {'a': 2}",
	},
	{"JUnit 5", "org.opentest4j.AssertionFailedError: expected: <6> but was: <7>\n\tat org.junit.jupiter.api.AssertEquals.assertEquals(AssertEquals.java:150)\n\tat com.example.CartTest.total(CartTest.java:9)\n", "expected: <6> but was: <7>"},
	{"AssertJ", "org.opentest4j.AssertionFailedError: \n[the total] \nexpected: 4\n but was: 3\n\tat com.example.CartTest.total(CartTest.java:9)\n", "[the total], expected: 4, but was: 3"},
	{"exception of Java", "java.lang.IllegalStateException: no stock\n\tat com.example.Cart.add(Cart.java:9)\n\tat com.example.CartTest.total(CartTest.java:12)\nCaused by: java.io.IOException: no\n", "java.lang.IllegalStateException: no stock"},
	{"Rust", "thread 'tests::total' (4711) panicked at src/lib.rs:10:9:\nassertion `left == right` failed: the total\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n", "assertion `left == right` failed: the total, left: 3, right: 4"},
	{"Rust before 1.73", "thread 'tests::total' panicked at 'no stock', src/lib.rs:10:9\nnote: run with `RUST_BACKTRACE=1`\n", "no stock"},
	{"googletest", "cart_test.cc:5: Failure\nExpected equality of these values:\n  total()\n    Which is: 3\n  4\n", "Expected equality of these values: total(), Which is: 3, 4"},
	{"googletest, a condition", "cart_test.cc:9: Failure\nValue of: empty()\n  Actual: false\nExpected: true\n", "Value of: empty(), actual: false, expected: true"},
	{"Catch2", "cart.cpp:7: FAILED:\n  REQUIRE( total() == 4 )\nwith expansion:\n  3 == 4\n", "REQUIRE( total() == 4 ) with expansion: 3 == 4"},
	{"xUnit.net", "Assert.Equal() Failure: Values differ\nExpected: 4\nActual:   3\n   at Shop.Tests.CartTests.Total() in /src/Shop.Tests/CartTests.cs:line 12\n", "Assert.Equal() Failure: Values differ, expected: 4, actual: 3"},
	{"MSTest", "Assert.AreEqual failed. Expected:<4>. Actual:<3>. the total\n", "Assert.AreEqual failed. Expected:<4>. Actual:<3>. the total"},
	{"NUnit", "  the total\n  Expected: 4\n  But was:  3\n", "the total, expected: 4, but was: 3"},
	{"RSpec", "\n  expected: 4\n       got: 3\n\n  (compared using ==)\n", "expected: 4, got: 3"},
	{"PHPUnit", "CartTest::testTotal\nFailed asserting that 3 matches expected 4.\n\n/src/tests/CartTest.php:9\n", "CartTest::testTotal Failed asserting that 3 matches expected 4."},
	{"Perl", "  Failed test 'total'\n  at t/cart.t line 3.\n         got: '3'\n    expected: '4'\n", "Failed test 'total', got: '3', expected: '4'"},
	{"nothing", " \n\n", ""},
	{"nothing but a class", "AssertionError\n", "AssertionError"},
}

func TestAccept_IG4_MessagesOfFailures(t *testing.T) {
	t.Parallel()
	for _, tc := range told {
		check.Equal(t, message(tc.text), tc.want, tc.name)
		for name, subject := range map[string]abi.Case{
			"document": {Documents: []abi.Document{{Name: "failure", Text: tc.text}}},
			"excerpt":  {Evidence: []abi.Evidence{{SourceRef: "log:L1", Content: tc.text, RelevanceConfidence: 0.6}}},
		} {
			tr := Trial{Case: subject}
			check.Equal(t, tr.Message(), tc.want, tc.name, name)
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
		if len(said) > maxSaidBytes || !utf8.ValidString(said) || strings.ContainsAny(said, "\n\r\t") {
			t.Errorf("%q", said)
		}
	})
}
