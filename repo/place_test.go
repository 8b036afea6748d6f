package repo_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/repo"
)

func TestAccept_IG2_PlaceOfAFailure(t *testing.T) {
	t.Parallel()
	dir := module(t)
	must.Write(t, dir, map[string]string{
		"ledger_test.go": "package money\n\nimport \"testing\"\n\nfunc TestTop(t *testing.T) {}\n", "py/tests/test_cart.py": "import x\n\nclass TestCart:\n    def test_total(self):\n        assert 1\n",
	})
	tree := openSource(t, dir, "")
	for _, tt := range []struct {
		name string
		of   repo.Failing
		want string
	}{
		{"the line of the message, in the package of three with this file", repo.Failing{Group: "example.com/money/v2/bank", Test: "TestPost", Texts: []string{"ledger_test.go:4: wrong"}}, "bank/ledger_test.go:4"},
		{"the package at the top", repo.Failing{Group: "example.com/money/v2", Test: "TestTop", Texts: []string{"ledger_test.go:5: wrong"}}, "ledger_test.go:5"},
		{"a test's frame after the product's", repo.Failing{Group: "example.com/money/v2/bank", Test: "TestPost", Texts: []string{"panic: x", "bank.Post(1)\n\t/ci/money/bank/ledger.go:8 +0x1\nbank_test.TestPost(2)\n\t/ci/money/bank/ledger_test.go:4 +0x2\n"}}, "bank/ledger_test.go:4"},
		{"no line: the definition", repo.Failing{Group: "example.com/money/v2/bank", Test: "TestPost/a_row", Texts: []string{"exit status 1"}}, "bank/ledger_test.go:3"},
		{"a method of a class in Python", repo.Failing{Group: "py.tests.test_cart.TestCart", Test: "test_total[1-2]"}, "py/tests/test_cart.py:4"},
		{"a file as group", repo.Failing{Group: "web/src/cart.spec.ts", Test: "cart adds"}, "web/src/cart.spec.ts:0"},
		{"a class of Java", repo.Failing{Group: "a.CartTest", Test: "adds"}, "src/test/java/a/CartTest.java:0"},
		{"only the product is named", repo.Failing{Group: "elsewhere", Test: "adds", Texts: []string{"/ci/money/bank/ledger.go:8"}}, "bank/ledger.go:8"},
		{"a line that the file does not have", repo.Failing{Group: "elsewhere", Test: "adds", Texts: []string{"bank/ledger.go:80"}}, ":0"},
		{"nothing", repo.Failing{}, ":0"},
		{"outside", repo.Failing{Group: "../../etc/passwd", Test: "x", Texts: []string{"../../etc/passwd.go:1"}}, ":0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file, line := tree.PlaceOf(tt.of)
			check.Equal(t, fmt.Sprintf("%s:%d", file, line), tt.want)
		})
	}
}

// What runners print, in trees where other files could be meant, too.
func TestAccept_IG2_PlacesThatRunnersPrint(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "src")
	for _, name := range []string{
		"src/test/java/com/example/CartTest.java", "src/test/java/com/example/UtilTest.java", "src/test/java/com/other/CartTest.java",
		"src/main/java/com/example/Cart.java", "a/cart.test.js", "b/cart.test.js", "help.test.js", "x.js", "node_modules/jest/x.js", "cart.bats", "t/cart.t",
		"tests/CartTest.php", "Shop.Tests/CartTests.cs", "src/lib.rs", "cart_test.cc", "test_a.py", "shop.py", "pw.spec.ts",
	} {
		must.Write(t, dir, map[string]string{name: strings.Repeat("\n", 40)})
	}
	must.Write(t, dir, map[string]string{"go.mod": "module example.com/shop\n", "shop_test.go": "package shop\n\n\nfunc TestAt(t *testing.T) {\n\n\n\n}\n", "help_test.go": strings.Repeat("\n", 40)})
	tree := openSource(t, dir, "")
	java := "java.lang.IllegalStateException: no stock\n\tat com.example.Cart.add(Cart.java:9)\n\tat com.example.UtilTest.help(UtilTest.java:3)\n\tat com.example.CartTest.total(CartTest.java:12)\n"
	script := "Error: no\n    at y (/src/node_modules/jest/x.js:1:1)\n    at x (/src/help.test.js:3:1)\n    at z (/src/a/cart.test.js:7:1)\n"
	for _, tt := range []struct {
		name  string
		of    repo.Failing
		want  string
		texts []string
	}{
		{"Java, two classes of the name, behind the product and a helper", repo.Failing{Group: "com.example.CartTest", Test: "total"}, "src/test/java/com/example/CartTest.java:12", []string{"no stock", java}},
		{"Java, a class within the class", repo.Failing{Group: "com.example.CartTest$Total", Test: "total"}, "src/test/java/com/example/CartTest.java:12", []string{"no stock", java}},
		{"JavaScript, the file that the report names", repo.Failing{Group: "cart", Test: "total", File: "a/cart.test.js"}, "a/cart.test.js:7", []string{script}},
		{"JavaScript, no file is named", repo.Failing{Group: "total", Test: "adds"}, "help.test.js:3", []string{script}},
		{"a file that the report names, and no line", repo.Failing{Group: "cart", Test: "total", File: "a/cart.test.js"}, "a/cart.test.js:0", []string{"no"}},
		{"a file that the report names, and a line of the product", repo.Failing{Group: "cart", Test: "total", File: "a/cart.test.js"}, "a/cart.test.js:0", []string{"at x (/src/x.js:3:1)"}},
		{"bats", repo.Failing{Test: "total of the cart"}, "cart.bats:3", []string{"(in test file cart.bats, line 3)\n  `[ 1 -eq 2 ]' failed"}},
		{"Perl", repo.Failing{Group: "t/cart.t", Test: "total"}, "t/cart.t:4", []string{"  Failed test 'total'\n  at t/cart.t line 4.\n         got: '3'"}},
		{"PHP", repo.Failing{Group: "CartTest", Test: "testTotal"}, "tests/CartTest.php:9", []string{"Failed asserting that 3 matches expected 4.\n\n/src/tests/CartTest.php:9\n"}},
		{"an error of PHP", repo.Failing{Group: "CartTest", Test: "testTotal"}, "tests/CartTest.php:8", []string{"Error: no in /src/tests/CartTest.php on line 8"}},
		{"xUnit.net", repo.Failing{Group: "Shop.Tests.CartTests", Test: "Total"}, "Shop.Tests/CartTests.cs:12", []string{"Expected: 4", "   at Shop.Tests.CartTests.Total() in /src/Shop.Tests/CartTests.cs:line 12\n"}},
		{"Rust", repo.Failing{Group: "shop", Test: "tests::total"}, "src/lib.rs:10", []string{"thread 'tests::total' (4711) panicked at src/lib.rs:10:9:\nno"}},
		{"googletest", repo.Failing{Group: "Cart", Test: "Total"}, "cart_test.cc:5", []string{"cart_test.cc:5: Failure\nExpected equality"}},
		{"pytest", repo.Failing{Group: "test_a", Test: "test_a"}, "test_a.py:3", []string{"KeyError: 'ink'", "    def test_a():\n>       shop.price('ink')\n\ntest_a.py:3: \nshop.py:4: KeyError\nE   KeyError: 'ink'"}},
		{"Playwright in colours", repo.Failing{Group: "pw.spec.ts", Test: "cart › total"}, "pw.spec.ts:5", []string{"Expected: 4", "    at \x1b[90m/src/\x1b[39mpw.spec.ts:5:16"}},
		{"a panic of Go, in a helper", repo.Failing{Group: "example.com/shop", Test: "TestAt"}, "shop_test.go:6", []string{"panic: no", "panic: no\n\ngoroutine 7 [running]:\nexample.com/shop.help(...)\n\t/src/shop/help_test.go:9\nexample.com/shop.TestAt(0x1)\n\t/src/shop/shop_test.go:6 +0x2\n"}},
		{"a message of Go in a helper, before what the log has", repo.Failing{Group: "example.com/shop", Test: "TestAt"}, "help_test.go:9", []string{"help_test.go:9: got 1, want 2", "    shop_test.go:5: one\n    help_test.go:9: got 1, want 2\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.of.Texts = tt.texts
			file, line := tree.PlaceOf(tt.of)
			check.Equal(t, fmt.Sprintf("%s:%d", file, line), tt.want)
		})
	}
}
