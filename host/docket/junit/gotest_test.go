package junit_test

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// The log of a test gives the same evidence through `go test -json` and JUnit XML.
func TestALogGivesTheSameEvidenceInBothFormats(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{
		"deadlock":  "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nexample.com/shop/cart.Sum(0x1)\n\t/src/shop/cart/cart.go:12 +0x1f\n",
		"panic":     "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 7 [running]:\nexample.com/shop/cart.Sum(...)\n\t/src/shop/cart/cart.go:12\nexample.com/shop/cart.TestSum(0xc0)\n\t/src/shop/cart/cart_test.go:9 +0x1f\n",
		"timeout":   "panic: test timed out after 1s\n\ngoroutine 7 [running]:\nexample.com/shop/cart.Sum(...)\n\t/src/shop/cart/cart.go:12\n",
		"maps":      "fatal error: concurrent map writes\n\ngoroutine 7 [running]:\nexample.com/shop/cart.Sum(...)\n\t/src/shop/cart/cart.go:12\n",
		"race":      "    testing.go:1490: race detected during execution of test\n",
		"assertion": "    cart_test.go:9: Sum() = 3, want 4\n        in all\n",
		"helper":    "    check.go:9: Sum() = 3, want 4\n",
		"network":   "    cart_test.go:9: listen tcp :80: bind: address already in use\n",
		"time zone": "    cart_test.go:9: unknown time zone Mars/Olympus\n",
		"waiting":   "    cart_test.go:9: timeout waiting for the order\n",
		"serving":   "2026/01/02 http: panic serving 127.0.0.1:1: boom\n",
		"nothing":   "one\ntwo\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log += "--- FAIL: TestSum (0.00s)\n"
			var events strings.Builder
			event := func(action, output string) {
				e := map[string]string{"Action": action, "Package": "example.com/shop/cart", "Test": "TestSum"}
				if output != "" {
					e["Output"] = output
				}
				line, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				events.Write(append(line, '\n'))
			}
			for line := range strings.Lines(log) {
				event("output", line)
			}
			event("fail", "")
			var text strings.Builder
			if err := xml.EscapeText(&text, []byte(log)); err != nil {
				t.Fatal(err)
			}
			report := `<testsuite name="example.com/shop/cart"><testcase classname="example.com/shop/cart" name="TestSum"><failure>` +
				text.String() + `</failure></testcase></testsuite>`

			var ofGo []abi.Case
			for entry, err := range new(gotest.Reader).Read("events", strings.NewReader(events.String())) {
				if err != nil {
					t.Fatal(err)
				}
				ofGo = append(ofGo, entry.Case)
			}
			ofJUnit, problems := read(t, &junit.Reader{}, strings.NewReader(report))
			if len(ofGo) != 1 || len(ofJUnit) != 1 || len(problems) > 0 {
				t.Fatalf("%d and %d cases, %v", len(ofGo), len(ofJUnit), problems)
			}
			withoutName := func(items []abi.Evidence) []abi.Evidence {
				for i := range items {
					_, items[i].SourceRef, _ = strings.Cut(items[i].SourceRef, ":")
				}
				return items
			}
			if diff := cmp.Diff(withoutName(ofGo[0].Evidence), withoutName(ofJUnit[0].Evidence)); diff != "" {
				t.Errorf("go test -json and JUnit (-/+):\n%s", diff)
			}
			if len(ofGo[0].Evidence) == 0 {
				t.Error("no evidence")
			}
		})
	}
}
