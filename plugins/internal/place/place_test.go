package place

import "testing"

func TestFind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line string
		want Place
		ok   bool
	}{
		{"./shop/cart.go:12:5: undefined: total", Place{"shop/cart.go", 12, Diagnostic}, true},
		{"vet: ./cart.go:3:1: unreachable code", Place{"cart.go", 3, Diagnostic}, true},
		{"src/app.ts:3:14: error TS2304", Place{"src/app.ts", 3, Diagnostic}, true},
		{"    cart_test.go:12: got 1, want 2", Place{"cart_test.go", 12, Report}, true},
		{"    cart_test.go:12: ", Place{"cart_test.go", 12, Report}, true},
		{"\t/src/shop/cart.go:12 +0x1d", Place{"/src/shop/cart.go", 12, Frame}, true},
		{"\t/src/shop/cart.go:12", Place{"/src/shop/cart.go", 12, Frame}, true},
		{"  File \"/app/shop/cart.py\", line 7, in total", Place{"/app/shop/cart.py", 7, Frame}, true},
		{"\tat com.shop.Cart.total(Cart.java:31)", Place{"Cart.java", 31, Frame}, true},
		{"    at total (/app/cart.js:31:9)", Place{"/app/cart.js", 31, Frame}, true},
		{"2024 INFO cart.go:12 started", Place{"cart.go", 12, Mention}, true},
		{"v1.2.3 of example.com:80 is up", Place{}, false},
		{"open cart.go: no such file", Place{}, false},
		{"cart.go:x", Place{}, false},
		{".go:3", Place{}, false},
		{"", Place{}, false},
	} {
		if got, ok := Find(tc.line); got != tc.want && tc.ok || ok != tc.ok {
			t.Errorf("%q: %+v %v, want %+v", tc.line, got, ok, tc.want)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{{"/src/a/b.go", "a/b.go", true}, {"b.go", "a/b.go", true}, {"ab.go", "b.go", false}, {"", "", false}, {"a.go", "a.go", true}} {
		if got := Same(tc.a, tc.b); got != tc.want {
			t.Errorf("%q %q: %v", tc.a, tc.b, got)
		}
	}
}
