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

func TestRunsOfOneTest(t *testing.T) {
	t.Parallel()
	const (
		fails   = `<testcase classname="c" name="a"><failure>c.java:3: no</failure></testcase>`
		python  = `<testcase classname="c" name="a"><failure>c.py:3: AssertionError</failure></testcase>`
		passes  = `<testcase classname="c" name="a"/>`
		skipped = `<testcase classname="c" name="a"><skipped/></testcase>`
		again   = " It passed after it had failed."
	)
	in := func(s ...string) string { return `<testsuite name="s">` + strings.Join(s, "") + `</testsuite>` }
	for _, tc := range []struct {
		name, report string
		want         []string // of each case
	}{
		{"run again until it passed", in(fails, fails, passes), []string{"ran 3 times: it failed in 2 and passed in 1." + again, "ran 3 times: it failed in 2 and passed in 1." + again}},
		{"rows of a table of one name", in(passes, fails, passes, fails), []string{"", ""}},
		{"names that nothing else has", in(passes, python, passes), []string{"ran 3 times: it failed in 1 and passed in 2." + again}},
		{"it fails each time", in(python, python), []string{"", ""}},
		{"a run that was skipped", in(fails, skipped), []string{""}},
		{"another suite", `<testsuites>` + in(fails) + in(passes) + `</testsuites>`, []string{""}},
		{
			"one id in two forms", in(python, `<testcase classname="" name="c.py::a"/>`),
			[]string{"ran 2 times: it failed in 1 and passed in 1." + again},
		},
		{
			"more are listed than the suite counts: what stands before the last run was run again, since it failed",
			`<testsuite tests="1">` + passes + passes + python + `</testsuite>`,
			[]string{""},
		},
		{
			"a count that is right", `<testsuite tests="3">` + passes + passes + python + `</testsuite>`,
			[]string{"ran 3 times: it failed in 1 and passed in 2. It passed first, and never again after it had failed."},
		},
		{
			"runs with numbers", in(`<testcase classname="c" name="a[x-1-2]"><failure>no</failure></testcase><testcase classname="c" name="a[x-2-2]"/>`),
			[]string{"ran 2 times: it failed in 1 and passed in 1." + again},
		},
		{
			"figures of one of which there is none", in(`<testcase classname="c" name="a[1-3]"><failure>no</failure></testcase><testcase classname="c" name="a[2-3]"/>`),
			[]string{""},
		},
		{
			"numbers of JUnit", in(`<testcase classname="c" name="repetition 1 of 2"/><testcase classname="c" name="repetition 2 of 2"><failure>no</failure></testcase>`),
			[]string{"ran 2 times: it failed in 1 and passed in 1. It passed first, and never again after it had failed."},
		},
		{"its own element says so", in(`<testcase classname="c" name="a"><flakyFailure>c.java:3: no</flakyFailure></testcase>`, passes), []string{""}},
		{"a report that breaks off", `<testsuite name="s">` + fails + passes + `<testcase`, []string{"ran 2 times: it failed in 1 and passed in 1." + again}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cases, _ := read(t, &junit.Reader{}, strings.NewReader(tc.report))
			var got []string
			for _, c := range cases {
				said := ""
				for _, e := range c.Evidence {
					if e.SourceRef == "runs:L1" {
						said = strings.TrimPrefix(e.Content, "In this report the test ")
						if e.Supports != "nd001" || c.Light.Classification != "nd001" || c.Documents[len(c.Documents)-1].Text != e.Content+"\n" {
							t.Errorf("%+v", c)
						}
					}
				}
				got = append(got, said)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("of the runs is told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCasesThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	report := `<testsuite><testcase name="a"><failure>1234567</failure></testcase><testcase name="a"/></testsuite>`
	for held, want := range map[int]int{0: 1, 8: 1, 7: 0} {
		cases, _ := read(t, &junit.Reader{HeldBytes: held}, strings.NewReader(report))
		if got := len(cases[0].Documents) - 1; got != want {
			t.Errorf("with %d bytes %d documents tell of the runs, want %d", held, got, want)
		}
	}
}

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
