package junit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// TestNamed: the test of a case is the one of which the report said how it ended.
func TestNamed(t *testing.T) {
	t.Parallel()
	report := `<testsuites><testsuite name="cart">
<testcase classname="tests.test_cart.TestTotal" name="test_sum[a fails in b]" file="tests/test_cart.py"><failure>E   assert 1 == 2</failure></testcase>
<testcase classname="cart adds" name="cart adds" file="cart.js" time="1,003.46"><failure>no</failure></testcase>
<testcase classname="cart" name="adds, and passes when run again" time="2.9"><flakyFailure>no</flakyFailure></testcase>
<testcase classname="cart" name="rests"><skipped/></testcase>
<testcase classname="cart" name="passes" file="cart.js"></testcase>
</testsuite></testsuites>`
	var ends []string
	failed := map[junit.Test]bool{}
	reader := junit.Reader{Ended: func(test junit.Test, end junit.End) {
		ends = append(ends, test.Class+": "+test.Name+" "+string(end))
		if end == junit.Failed {
			failed[test] = true
		}
	}}
	cases, problems := read(t, &reader, strings.NewReader(report))
	if len(problems) > 0 || len(cases) != 3 {
		t.Fatalf("%d cases, %v", len(cases), problems)
	}
	if test, _ := junit.Named(&cases[1]); test.File != "cart.js" || test.Elapsed != 1003500*time.Millisecond {
		t.Errorf("%+v", test)
	}
	for i := range cases {
		if test, ok := junit.Named(&cases[i]); !ok || !failed[test] {
			t.Errorf("%q names %+v", cases[i].Subject, test)
		}
	}
	want := []string{
		"tests.test_cart.TestTotal: test_sum[a fails in b] failed", "cart: cart adds failed",
		"cart: adds, and passes when run again failed", "cart: rests skipped", "cart: passes passed",
	}
	if diff := cmp.Diff(want, ends); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
}
