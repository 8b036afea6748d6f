package inquiry

import "testing"

func TestFindPlace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line string
		want Place
		ok   bool
	}{
		{"./shop/cart.go:12:5: undefined: total", Place{"shop/cart.go", 12, diagnostic}, true},
		{"vet: ./cart.go:3:1: unreachable code", Place{"cart.go", 3, diagnostic}, true},
		{"src/app.ts:3:14: error TS2304", Place{"src/app.ts", 3, diagnostic}, true},
		{"    cart_test.go:12: got 1, want 2", Place{"cart_test.go", 12, reported}, true},
		{"    cart_test.go:12: ", Place{"cart_test.go", 12, reported}, true},
		{"\t/src/shop/cart.go:12 +0x1d", Place{"/src/shop/cart.go", 12, frame}, true},
		{"\t/src/shop/cart.go:12", Place{"/src/shop/cart.go", 12, frame}, true},
		{"  File \"/app/shop/cart.py\", line 7, in total", Place{"/app/shop/cart.py", 7, frame}, true},
		{"\tat com.shop.Cart.total(Cart.java:31)", Place{"Cart.java", 31, frame}, true},
		{"    at total (/app/cart.js:31:9)", Place{"/app/cart.js", 31, frame}, true},
		{"2024 INFO cart.go:12 started", Place{"cart.go", 12, mention}, true},
		{"v1.2.3 of example.com:80 is up", Place{}, false},
		{"open cart.go: no such file", Place{}, false},
		{"cart.go:x", Place{}, false},
		{".go:3", Place{}, false},
		{"", Place{}, false},
	} {
		if got, ok := findPlace(tc.line); got != tc.want && tc.ok || ok != tc.ok {
			t.Errorf("%q: %+v %v, want %+v", tc.line, got, ok, tc.want)
		}
	}
}

func TestSamePath(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{{"/src/a/b.go", "a/b.go", true}, {"b.go", "a/b.go", true}, {"ab.go", "b.go", false}, {"", "", false}, {"a.go", "a.go", true}} {
		if got := SamePath(tc.a, tc.b); got != tc.want {
			t.Errorf("%q %q: %v", tc.a, tc.b, got)
		}
	}
}
