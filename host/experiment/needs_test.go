package experiment

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var needy = map[string][]byte{
	"a_test.go": []byte(`package p

import (
	"fmt"
	str "strings"
	"testing"

	"github.com/x/go-yaml/v3"
	. "math"
)

// TestA is about one.
func TestA(t *testing.T) { check(t, table[0], fmt.Sprint(One())) }

func TestB(t *testing.T) { str.ToUpper(NewAPI()); yaml.X() }

var _ = NewAPI
`),
	"b_test.go": []byte(`package p

import "testing"

var table = []row{{1}}

type row struct{ n int }

func (r row) check() bool { return r.n == other }

const (
	first = iota
	other
)

func check(t *testing.T, r row, s string) { t.Helper() }
`),
	"c_test.go": []byte("package p_test\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) {}\n"),
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	n, err := needsOf(needy, "TestA/sub")
	if err != nil {
		t.Fatal(err)
	}
	a := strings.Join(strings.Fields(string(n.files["a_test.go"])), " ")
	want := `package p import ( "fmt" _ "strings" "testing" _ "github.com/x/go-yaml/v3" . "math" ) // TestA is about one. ` +
		`func TestA(t *testing.T) { check(t, table[0], fmt.Sprint(One())) }`
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	if got := string(n.files["a_test.go"]); strings.Count(got, "\n") != strings.Count(string(needy["a_test.go"]), "\n") {
		t.Errorf("lines have moved:\n%s", got)
	}
	if diff := cmp.Diff(string(needy["b_test.go"]), string(n.files["b_test.go"])); diff != "" {
		t.Error(diff)
	}
	if text, there := n.files["c_test.go"]; !there || text != nil {
		t.Errorf("nothing of c_test.go is needed, got %q", text)
	}
	if _, err := needsOf(needy, "TestD"); !errors.Is(err, errNoSuchTest) {
		t.Errorf("got %v", err)
	}
	if _, err := needsOf(map[string][]byte{"a_test.go": []byte("func")}, "TestD"); err == nil || errors.Is(err, errNoSuchTest) {
		t.Errorf("no Go: got %v", err)
	}
}

// TestDigestOfWhatIsNeeded: comments, places and other tests are no change; helpers, tables and what an example wants are.
func TestDigestOfWhatIsNeeded(t *testing.T) {
	t.Parallel()
	both := func(test string, files ...string) (digest, process string) {
		set := map[string][]byte{}
		for i, text := range files {
			set[string(rune('a'+i))+"_test.go"] = []byte("package p\n" + text)
		}
		n, err := needsOf(set, test)
		if err != nil {
			t.Fatal(err)
		}
		return n.digest, n.process
	}
	digest := func(test string, files ...string) string {
		digest, _ := both(test, files...)
		return digest
	}
	const test, table = "func TestA(t *testing.T) { run(t, table) }\n", "var table = []int{1, 2}\n"
	before := digest("TestA", test+table)
	for name, got := range map[string]string{
		"moved":      digest("TestA", "// More.\n"+table, "\n\nfunc TestB(t *testing.T) {}\n// TestA is new here.\n"+test),
		"formatted":  digest("TestA", "func TestA(t *testing.T) {\n\t// why\n\trun(t, table)\n}\n"+table),
		"other test": digest("TestA", test+table+"func TestB(t *testing.T) {}\n"),
	} {
		if got != before {
			t.Errorf("%s: it is taken for a change", name)
		}
	}
	for name, got := range map[string]string{
		"table": digest("TestA", test+"var table = []int{1, 3}\n"),
	} {
		if got == before {
			t.Errorf("%s: it is taken for no change", name)
		}
	}
	const main = "func TestMain(m *testing.M) { m.Run() }\n"
	if digest, process := both("TestA", test+table+main); digest != before || process == before {
		t.Error("TestMain is no change of the test, but of its process")
	}
	if digest("ExampleA", "func ExampleA() {\n\tf()\n\t// Output: 1\n}\n") == digest("ExampleA", "func ExampleA() {\n\tf()\n\t// Output: 2\n}\n") {
		t.Error("an example that wants another output is taken for the same")
	}
}
