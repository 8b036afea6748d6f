package testlog

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

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
		if got := environment([]string{line}); got != speaks {
			t.Errorf("%q speaks of the environment: %t", line, got)
		}
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
					if e.Supports != tc.want {
						t.Errorf("it speaks for %q, want %q", e.Supports, tc.want)
					}
					return
				}
			}
			t.Error("nothing tells of the setup")
		})
	}
}
