package quarantine_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/quarantine"
)

const (
	goReport    = "building\n" + `{"Action":"run","Package":"p","Test":"TestA/b"}` + "\nnot JSON\n" + `{"Action":"fail","Package":"q"}` + "\n"
	junitReport = `<testsuites><testsuite name="s"><testcase classname="c" name="t"/><testcase classname="same" name="same"/></testsuite></testsuites>`
)

func TestAccept_IG3_TestsOfReports(t *testing.T) {
	t.Parallel()
	var k quarantine.Known
	for _, report := range []string{strings.TrimPrefix(goReport, "building\n"), junitReport} {
		if err := k.Read("r", strings.NewReader(report)); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]bool{"p.TestA/b": true, "q": true, "c.t": true, "same": true, "p.TestA": false, "c": false} {
		if k.Has(id) != want {
			t.Errorf("%s: %v", id, !want)
		}
	}
	for _, report := range []string{"", "<testsuite><testcase", "nonsense", "{" + strings.Repeat("x", 17<<20)} {
		if err := k.Read("r", strings.NewReader(report)); err == nil {
			t.Errorf("%.20q was read", report)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(goReport))
	f.Add([]byte(junitReport))
	f.Fuzz(func(t *testing.T, data []byte) {
		var k quarantine.Known
		if err := k.Read("r", strings.NewReader(string(data))); err == nil && k.Has("") {
			t.Error("a test without a name")
		}
	})
}
