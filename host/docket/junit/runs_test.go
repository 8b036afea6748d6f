package junit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
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
			check.Same(t, cmp.Diff(tc.want, got), "of the runs is told (-want +got)")
		})
	}
}

func TestCasesThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	report := `<testsuite><testcase name="a"><failure>1234567</failure></testcase><testcase name="a"/></testsuite>`
	for held, want := range map[int]int{0: 1, 8: 1, 7: 0} {
		cases, _ := read(t, &junit.Reader{HeldBytes: held}, strings.NewReader(report))
		check.Equal(t, len(cases[0].Documents)-1, want, "with", held, "bytes", "documents tell of the runs")
	}
}
