package alibi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

func TestFailuresOfOneTestAreOne(t *testing.T) {
	t.Parallel()
	var r alibi.Repeated
	var got []string
	fail := func(pack, test string) string {
		return `{"Action":"run","Package":"` + pack + `","Test":"` + test + `"}
{"Action":"output","Package":"` + pack + `","Test":"` + test + `","Output":"    a_test.go:3: got 1\n--- FAIL: ` + test + ` (0.00s)\n"}
{"Action":"fail","Package":"` + pack + `","Test":"` + test + `","Elapsed":0}
`
	}
	stream := fail("p", "TestA") + fail("p", "TestB") + fail("p", "TestA") + fail("q", "TestA") + fail("p", "TestA/sub#01") + fail("p", "TestA")
	for e, err := range (&gotest.Reader{}).Read("run", strings.NewReader(stream)) {
		if err != nil {
			t.Fatal(err)
		}
		if !r.Has(&e) {
			got = append(got, e.Case.ID)
		}
	}
	if want := []string{"p.TestA", "p.TestB", "q.TestA", "p.TestA/sub#01"}; !slices.Equal(got, want) || r.Count != 2 {
		t.Errorf("got %q, %d repeated, want %q and 2", got, r.Count, want)
	}

	// A test of one class in two reports may be of two modules of a project.
	got = nil
	reader := junit.Reader{}
	for _, name := range []string{"a.xml", "b.xml"} {
		text := `<testsuite name="s">` + strings.Repeat(`<testcase classname="c.D" name="total"><failure>no</failure></testcase>`, 2) +
			`<testcase classname="c.E" name="total" file="e.py"><failure>no</failure></testcase></testsuite>`
		for e, err := range reader.Read(name, strings.NewReader(text)) {
			if err != nil {
				t.Fatal(err)
			}
			if !r.Has(&e) {
				got = append(got, e.Source+" "+e.Case.Group)
			}
		}
	}
	if want := []string{"a.xml c.D", "a.xml c.E", "b.xml c.D"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
