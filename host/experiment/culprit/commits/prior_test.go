package commits_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/culprit/commits"
)

// TestPriorKnowsWhatAFailureNames: by frames, the test's file, packages of Go, and modules and classes whose names have dots.
func TestPriorKnowsWhatAFailureNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class, log, files string
		weights           map[string]float64
	}{
		{
			"example.com/shop/cart", "    cart_test.go:12: got 1\n\t/home/a/shop/price/price.go:7 +0x1\n",
			"cart/cart.go cart/cart_test.go price/price.go price/other.go price/cart_test.go cart/testdata/x.json go.mod README.md",
			map[string]float64{"cart/cart.go": 6, "cart/cart_test.go": 8, "price/price.go": 8, "price/other.go": 1, "price/cart_test.go": 0.25, "cart/testdata/x.json": 6, "go.mod": 1, "README.md": 0.1},
		},
		{"example.com/shop", "    shop_test.go:12: got 1\n", "shop.go shop_test.go cart/cart.go", map[string]float64{"shop.go": 6, "shop_test.go": 8, "cart/cart.go": 1}},
		{
			"tests.unit.test_cart.TestCart", "tests/unit/test_cart.py:3: AssertionError\nsrc/shop/cart.py:9: in total\n/usr/lib/python3/site-packages/cart.py:1: in x\n",
			"tests/unit/test_cart.py tests/unit/conftest.py src/shop/cart.py src/shop/price.py src/other/cart.py",
			map[string]float64{"tests/unit/test_cart.py": 8, "tests/unit/conftest.py": 6, "src/shop/cart.py": 8, "src/shop/price.py": 1, "src/other/cart.py": 6},
		},
		{
			"org.shop.CartTest", "\tat org.shop.CartTest.total(CartTest.java:9)\n", "src/main/java/org/shop/Cart.java src/test/java/org/shop/CartTest.java src/main/java/org/price/Price.java",
			map[string]float64{"src/main/java/org/shop/Cart.java": 6, "src/test/java/org/shop/CartTest.java": 8, "src/main/java/org/price/Price.java": 1},
		},
		{"cart adds", "at Object.<anonymous> (/a/test/cart.spec.ts:3:1)\n", "test/cart.spec.ts src/cart.ts src/price.ts", map[string]float64{"src/cart.ts": 6, "src/price.ts": 1, "test/cart.spec.ts": 8}},
		{"", "nothing", "a/a.go", map[string]float64{"a/a.go": 1, "b.go": 6}},
		{"/../..//.", strings.Repeat("/../x.go:1\n", 5000), "x.go", map[string]float64{"x.go": 8}},
	} {
		subject := &abi.Case{Group: c.class, Subject: "TestX fails in " + c.class, Documents: []abi.Document{{Name: "log", Text: c.log}}}
		for path, want := range c.weights {
			got := commits.Prior(subject, strings.Fields(c.files), [][]string{{path}, {"CHANGES.md", path}, nil})
			if fmt.Sprint(got) != fmt.Sprint([]float64{want, max(want, 0.1), 0.1}) {
				t.Errorf("%s: %s has the weights %v, want %v", c.class, path, got, want)
			}
		}
	}
}
