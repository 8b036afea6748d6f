package report

import (
	"testing"
)

func TestPytestName(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ class, name, wantClass, wantName string }{
		{"tests.test_cart.TestTotal", "test_sum[1-2]", "tests.test_cart.TestTotal", "test_sum[1-2]"},
		{"", "tests/test_cart.py::TestTotal::test_sum[1-2]", "tests.test_cart.TestTotal", "test_sum[1-2]"},
		{"pytest", "tests/test_cart.py::test_sum", "tests.test_cart", "test_sum"},
		{"tests/test_cart.py", "test_sum", "tests.test_cart", "test_sum"},
		{"tests/test_cart.py::TestTotal", "test_sum", "tests.test_cart.TestTotal", "test_sum"},
		{"", `.\tests\test_cart.py::test_sum[a::b/c.py::d]`, "tests.test_cart", "test_sum[a::b/c.py::d]"},
		{"tests.test_cart", "test_read[a.py::b]", "tests.test_cart", "test_read[a.py::b]"},
		{"", "tests.test_broken", "", "tests.test_broken"},
		{"com.example.CartTest", "totals", "com.example.CartTest", "totals"},
		{"cart", "adds a.py to the cart", "cart", "adds a.py to the cart"},
		{"std::vector", "grows", "std::vector", "grows"},
	} {
		class, name := PytestName(tc.class, tc.name)
		if class != tc.wantClass || name != tc.wantName {
			t.Errorf("PytestName(%q, %q) = %q, %q", tc.class, tc.name, class, name)
		}
	}
}
