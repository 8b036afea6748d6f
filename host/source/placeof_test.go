package source_test

import (
	"fmt"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/source"
)

func TestAccept_IG2_PlaceOfAFailure(t *testing.T) {
	t.Parallel()
	dir := module(t)
	write(t, dir, map[string]string{
		"ledger_test.go": "package money\n\nimport \"testing\"\n\nfunc TestTop(t *testing.T) {}\n", "py/tests/test_cart.py": "import x\n\nclass TestCart:\n    def test_total(self):\n        assert 1\n",
	})
	tree := openTree(t, dir, "")
	for _, tt := range []struct {
		name string
		of   source.Failing
		want string
	}{
		{"the line of the message, in the package of three with this file", source.Failing{Group: "example.com/money/v2/bank", Test: "TestPost", Texts: []string{"ledger_test.go:4: wrong"}}, "bank/ledger_test.go:4"},
		{"the package at the top", source.Failing{Group: "example.com/money/v2", Test: "TestTop", Texts: []string{"ledger_test.go:5: wrong"}}, "ledger_test.go:5"},
		{"a test's frame after the product's", source.Failing{Group: "example.com/money/v2/bank", Test: "TestPost", Texts: []string{"panic: x", "bank.Post(1)\n\t/ci/money/bank/ledger.go:8 +0x1\nbank_test.TestPost(2)\n\t/ci/money/bank/ledger_test.go:4 +0x2\n"}}, "bank/ledger_test.go:4"},
		{"no line: the definition", source.Failing{Group: "example.com/money/v2/bank", Test: "TestPost/a_row", Texts: []string{"exit status 1"}}, "bank/ledger_test.go:3"},
		{"a method of a class in Python", source.Failing{Group: "py.tests.test_cart.TestCart", Test: "test_total[1-2]"}, "py/tests/test_cart.py:4"},
		{"a file as group", source.Failing{Group: "web/src/cart.spec.ts", Test: "cart adds"}, "web/src/cart.spec.ts:0"},
		{"a class of Java", source.Failing{Group: "a.CartTest", Test: "adds"}, "src/test/java/a/CartTest.java:0"},
		{"only the product is named", source.Failing{Group: "elsewhere", Test: "adds", Texts: []string{"/ci/money/bank/ledger.go:8"}}, "bank/ledger.go:8"},
		{"a line that the file does not have", source.Failing{Group: "elsewhere", Test: "adds", Texts: []string{"bank/ledger.go:80"}}, ":0"},
		{"nothing", source.Failing{}, ":0"},
		{"outside", source.Failing{Group: "../../etc/passwd", Test: "x", Texts: []string{"../../etc/passwd.go:1"}}, ":0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file, line := tree.PlaceOf(tt.of)
			if got := fmt.Sprintf("%s:%d", file, line); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
