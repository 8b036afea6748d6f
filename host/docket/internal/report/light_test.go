package report

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

var logs = []struct {
	name, log, label string
	confidence       float64
}{
	{"it passed when run again", "flakyFailure:\njava.net.ConnectException: Connection refused\n", NoDefect, 0.90},
	{"Java's network", "java.net.UnknownHostException: db\n\tat com.example.Db.open(Db.java:3)\n", SystemIssue, 0.78},
	{"Node's network", "Error: connect ECONNREFUSED 127.0.0.1:1\n    at TCPConnectWrap.afterConnect (node:net:1:2)\n", SystemIssue, 0.78},
	{"Python's disk", "E   OSError: [Errno 28] No space left on device\n\nshop.py:3: OSError\n", SystemIssue, 0.78},
	{"Java's memory", "java.lang.OutOfMemoryError: Java heap space\n", SystemIssue, 0.78},
	{"Node's files", "Error: EMFILE: too many open files, open 'a'\n", SystemIssue, 0.78},
	{"no such program", `Cannot run program "git": error=2` + "\n", SystemIssue, 0.78},
	{"race", "==================\nWARNING: DATA RACE\n", NoDefect, 0.80},
	{"Java's timeout", "java.util.concurrent.TimeoutException: await() timed out after 5 seconds\n", NoDefect, 0.62},
	{"jest's timeout", `Error: thrown: "Exceeded timeout of 5000 ms for a test.` + "\n", NoDefect, 0.62},
	{"a parameter that is named so", "def connect(timeout=None):\n>       assert connect() == 1\nE       assert 0 == 1\n", ProductBug, 0.60},
	{"a fixture", "E       fixture 'db' not found\n", AutomationBug, 0.74},
	{"the test does not compile", "./a_test.go:3:1: undefined: x\n", AutomationBug, 0.74},
	{"the product does not compile", "./a.go:3:1: undefined: x\n", ProductBug, 0.80},
	{"something does not build", "FAIL\texample.com/shop [build failed]\n", ProductBug, 0.55},
	{"Java's comparison", "org.opentest4j.AssertionFailedError: expected: <6> but was: <7>\n\tat com.example.CartTest.totals(CartTest.java:20)\n", ProductBug, 0.60},
	{"an assertion without values", "java.lang.AssertionError\n\tat com.example.CartTest.totals(CartTest.java:20)\n", ProductBug, 0.52},
	{"Java's crash in the product", "java.lang.NullPointerException\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)\n\tat com.example.Cart.add(Cart.java:9)\n\tat com.example.CartTest.adds(CartTest.java:23)\n", ProductBug, 0.72},
	{"Java's crash in the test", "java.lang.IllegalStateException: no stock\n\tat com.example.CartTest.adds(CartTest.java:23)\n", AutomationBug, 0.58},
	{"Python's crash in the product", "Traceback (most recent call last):\n  File \"/src/tests/test_cart.py\", line 3, in test_a\n    clean(None)\n  File \"/src/shop.py\", line 9, in clean\n    return name.strip()\nAttributeError: 'NoneType' object has no attribute 'strip'\n", ProductBug, 0.72},
	{"Python's crash in a library that the test called", "  File \"/src/tests/test_cart.py\", line 3, in test_a\n    loads('x')\n  File \"/usr/lib/python3.11/json/__init__.py\", line 346, in loads\n    return 1\njson.decoder.JSONDecodeError: Expecting value\n", AutomationBug, 0.58},
	{"JavaScript's crash in the product", "TypeError: x is not a function\n    at clean (/src/shop.js:4:32)\n    at Object.<anonymous> (/src/shop.test.js:10:10)\n", ProductBug, 0.72},
	{"Go's crash in the product", "panic: boom\n\ngoroutine 7 [running]:\nexample.com/shop/a.Do(...)\n\t/src/a.go:3\n", ProductBug, 0.72},
	{"a crash without frames", "java.lang.StackOverflowError\n", ProductBug, 0.52},
	{"silence", "bye\n", SystemIssue, 0.40},
}

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, tt := range logs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := Classify("example.com/shop/a", []abi.Document{{Name: "failure", Text: tt.log}}, nil)
			if got.Classification != tt.label || got.Confidence != tt.confidence || got.Reasoning == "" {
				t.Errorf("got %+v, want %s %.2f", got, tt.label, tt.confidence)
			}
		})
	}
}

func TestClassifyLooksAtWhatWasReportedFirst(t *testing.T) {
	t.Parallel()
	reported := []abi.Document{{Name: "failure", Text: "AssertionError: got 1, want 2\n"}}
	printed := []abi.Document{{Name: "system-out", Text: "retrying: connection refused\n"}}
	if got := Classify("", reported, printed); got.Classification != ProductBug {
		t.Errorf("got %+v", got)
	}
	if got := Classify("", nil, printed); got.Classification != SystemIssue {
		t.Errorf("got %+v without a report", got)
	}
}

// TestWordsHideNothing holds that every line that an expression matches has one of its words.
func TestWordsHideNothing(t *testing.T) {
	t.Parallel()
	patterns := []pattern{flakyText, crashText, assertionText, timeoutText, javaFrame, scriptFrame, pythonFrame, goFrame}
	for _, r := range append(systemRules(), symptomRules("", "", 0)...) {
		if p, ok := r.Match.(pattern); ok {
			patterns = append(patterns, p)
		}
	}
	matched := map[string]bool{}
	for _, tt := range logs {
		for line := range strings.SplitSeq(tt.log, "\n") {
			for _, p := range patterns {
				if !p.Regexp.MatchString(line) {
					continue
				}
				matched[p.String()] = true
				if !p.MatchString(line) {
					t.Errorf("%s matches %q, which has none of %q", p, line, p.words)
				}
			}
		}
	}
	if len(matched) < 15 {
		t.Errorf("only %d of the expressions were tried", len(matched))
	}
}

func TestEnvironmentRules(t *testing.T) {
	t.Parallel()
	for line, speaks := range map[string]bool{
		"    x_test.go:3: environment variable SHOP_TOKEN is not set":           true,
		"    x_test.go:3: missing required environment variable \"SHOP_TOKEN\"": true,
		"    x_test.go:3: DATABASE_URL must be set":                             true,
		"TEST_DB_DSN not set":                                                     true,
		"E   AssertionError: SHOP_TOKEN is not set":                               true,
		"Error: Environment variable DATABASE_URL not found.":                     true,
		"env var API_KEY has to be defined: it is missing":                        true,
		"<frozen os>:679: KeyError":                                               true,
		"/usr/lib/python3.9/os.py:679: KeyError":                                  true,
		`  File "/usr/lib/python3.9/os.py", line 679, in __getitem__`:             true,
		"could not connect to server: Is the server running on host \"db\"?":      true,
		"Cannot connect to the Docker daemon at unix:///var/run/docker.sock.":     true,
		"E   Failed: the test database is not reachable":                          true,
		"postgres: database system is unavailable":                                true,
		"E   urllib.error.HTTPError: HTTP Error 503: 503 Service Unavailable":     true,
		"    x_test.go:3: got \"FOO_BAR is not set\", want nil":                   false,
		"    x_test.go:9: status = 503 Service Unavailable, want 200 OK":          false,
		"ReferenceError: MAX_SIZE is not defined":                                 false,
		"E   KeyError: 'SHOP_TOKEN'":                                              false,
		"note: run with `RUST_BACKTRACE=1` environment variable to display more":  false,
		"/src/shop/notos.py:3: KeyError":                                          false,
		"    x_test.go:3: the total was not set":                                  false,
		"    x_test.go:3: the cart is empty":                                      false,
		"    x_test.go:3: failed to parse the config":                             false,
		"    x_test.go:3: expected the service to be called once, was called 0":   false,
		"reading the environment variables":                                       false,
		"    x_test.go:3: node is not connected":                                  false,
		"    x_test.go:3: field user_id is required":                              false,
		"    x_test.go:3: unmarshal: unexpected error: unset value of OrderState": false,
	} {
		check.Equal(t, environment([]string{line}), speaks, line, "speaks of the environment")
		for _, r := range environmentRules() {
			told, ok := r.Match.(told)
			if !ok {
				t.Fatalf("a rule of %T", r.Match)
			}
			for p, said := range map[*pattern]string{&told.lower: strings.ToLower(line), &told.asIs: line} {
				if p.Regexp.MatchString(said) && !p.has(said) {
					t.Errorf("%s matches %q, which has none of %q", p, said, p.words)
				}
			}
		}
	}
}

// That a fixture failed says where; why is another matter.
func TestWhatAFailedSetupSpeaksFor(t *testing.T) {
	t.Parallel()
	const failed = "failed on setup with \"it\"\n"
	for name, tc := range map[string]struct{ log, want string }{
		"the fixture is broken":   {failed + "tests/conftest.py:3: in db\n    return undefined\nE   NameError: name 'undefined' is not defined\n", AutomationBug},
		"a check in the fixture":  {failed + "E   assert 1 == 2\n\ntests/conftest.py:3: AssertionError\n", AutomationBug},
		"the service is not up":   {failed + "E   ConnectionRefusedError: [Errno 111] Connection refused\n", ""},
		"a variable is not there": {failed + "E   KeyError: 'SHOP_TOKEN'\n\n<frozen os>:679: KeyError\n", ""},
		"the product crashed":     {failed + "tests/conftest.py:3: in db\n    return shop.open()\nshop/cart.py:9: in open\nE   AttributeError: no 'x'\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, e := range Cut("", []abi.Document{{Name: "error", Text: tc.log}}) {
				if strings.HasPrefix(e.Content, "failed on setup") {
					check.Equal(t, e.Supports, tc.want, "it speaks for")
					return
				}
			}
			t.Error("nothing tells of the setup")
		})
	}
}

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
			check.Equal(t, strings.Count(tc.log, raceReport), len(c.Items()), "items of", "reports")
			if n := len(c.Items()); n == 1 && (c.Items()[0].Supports != tc.label || !strings.HasPrefix(c.Items()[0].Content, raceReport)) {
				t.Errorf("%+v", c.Items()[0])
			}
		})
	}
}

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

// TestSymptomsOfLargeLogsAreFound: each symptom of a log is found once, however many come before it, in a time that grows with the log.
func TestSymptomsOfLargeLogsAreFound(t *testing.T) {
	t.Parallel()
	log := "=== RUN   TestAll\n" + strings.Repeat("expected: a\n\n", 40_000) + "expected: b\n"
	list := Symptoms("example.com/shop", []abi.Document{{Name: "log", Text: log}})
	if n := len(list); n != 40_001 || list[n-1] != "expected: b" {
		t.Errorf("%d symptoms, the last is %q", n, list[max(0, n-1):])
	}
}
