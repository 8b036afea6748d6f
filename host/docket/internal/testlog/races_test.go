package testlog

import (
	"strings"
	"testing"
)

func TestWhoRaces(t *testing.T) {
	t.Parallel()
	const (
		product = "  example.com/shop/cart.(*Cart).Add()\n      /src/shop/cart/cart.go:12 +0x1\n  example.com/shop/cart.TestAdd()\n      /src/shop/cart/cart_test.go:9 +0x2\n"
		test    = "  example.com/shop/cart.TestAdd.func1()\n      /src/shop/cart/cart_test.go:9 +0x2\n  example.com/shop/cart.(*Cart).Each()\n      /src/shop/cart/cart.go:20 +0x1\n"
		library = "  bytes.(*Buffer).Write()\n      /usr/local/go/src/bytes/buffer.go:99 +0x1\n"
		runner  = "  testing.(*T).Run()\n      /usr/local/go/src/testing/testing.go:99 +0x1\n"
	)
	report := func(first, second, created, other string) string {
		return "==================\nWARNING: DATA RACE\nRead at 0x00c0000942d8 by goroutine 72:\n" + first + "\nPrevious write at 0x00c0000942d8 by main goroutine:\n" + second +
			"\nGoroutine 72 (running) created at:\n" + created + "\nGoroutine 73 (finished) created at:\n" + other + "==================\n"
	}
	const detected = "    testing.go:1712: race detected during execution of test\n"
	for name, tc := range map[string]struct {
		log        string
		label      string
		confidence float64
	}{
		"the product, which started a goroutine":    {report(product, product, product, runner), ProductBug, 0.8},
		"the product of a module with a short path": {strings.ReplaceAll(report(product, product, product, runner), "example.com/shop/cart.(", "example.com/till/drawer.("), ProductBug, 0.8},
		"a dependency":                              {strings.ReplaceAll(strings.ReplaceAll(report(library, library, product, runner), "bytes.", "example.org/x."), "/usr/local/go/src/", "/go/pkg/mod/example.org/x@v1.0.0/"), NoDefect, 0.85},
		"the product by a library":                  {report(library+product, product, runner, product), ProductBug, 0.8},
		"the product, in goroutines of the test":    {report(product, product, test, test), ProductBug, 0.6},
		"the test":                                  {report(test, test, test, runner), NoDefect, 0.85},
		"the test and the product":                  {report(product, test, product, runner), NoDefect, 0.85},
		"a library, and nobody's own code":          {report(library, library, runner, runner), NoDefect, 0.85},
		"the product in one report, the test after": {report(product, product, product, runner) + report(test, test, test, runner), NoDefect, 0.85},
		"the test, and the product after":           {report(test, test, test, runner) + report(product, product, product, runner), NoDefect, 0.85},
		"no report":                                 {"", NoDefect, 0.85},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := NewCutter()
			c.Open("log", tc.log+detected)
			label, sure := c.Races("example.com/shop/cart")
			if label != tc.label || sure != tc.confidence {
				t.Errorf("the races speak for %s at %.2f, want %s at %.2f", label, sure, tc.label, tc.confidence)
			}
			if n := strings.Count(tc.log, raceReport); n != len(c.Items()) {
				t.Errorf("%d items of %d reports", len(c.Items()), n)
			}
			if n := len(c.Items()); n == 1 && (c.Items()[0].Supports != tc.label || !strings.HasPrefix(c.Items()[0].Content, raceReport)) {
				t.Errorf("%+v", c.Items()[0])
			}
		})
	}
}
