package experiment

import (
	"errors"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// TestAccept_AL7_TestsByTheirNames: what a name means for each runner, and what is said where it means no test or several.
func TestAccept_AL7_TestsByTheirNames(t *testing.T) {
	fakeTools(t, "pytest")
	test := "package x\n\nfunc TestA(t *testing.T) {}\n"
	source := sourceOf(t, ".", map[string]string{
		"go.mod": "module example.com/m\n", "a_test.go": test, "b/b_test.go": test, "b/c_test.go": "package x\n\nfunc TestB(t *testing.T) {}\n// func TestC(\n",
		"tools/go.mod": "module example.com/tools\n", "tools/x/x_test.go": strings.ReplaceAll(test, "TestA", "TestX"), "testdata/d_test.go": strings.ReplaceAll(test, "TestA", "TestD"),
		"pytest.ini": "", "tests/test_cart.py": "",
	})
	l := &Lab{trees: map[revisions]*workspace{{abi.Head, abi.Head}: newWorkspace(source.Head, source.Head.Digest(), t.TempDir())}}
	for _, d := range shippedRunners() {
		if d.Name != goRunner && d.Name != "pytest" {
			continue
		}
		tool, err := openToolchain(t.Context(), d, source, &Config{})
		if err != nil || tool == nil {
			t.Fatal(d.Name, tool, err)
		}
		l.toolchains = append(l.toolchains, tool)
	}
	for name, want := range map[string]string{
		"TestB":                                  "example.com/m/b.TestB",
		"b.TestA/with a.dot":                     "", // no name has blanks
		"b.TestA/with_a.dot":                     "example.com/m/b.TestA/with_a.dot",
		"example.com/m.TestA":                    "example.com/m.TestA",
		"m.TestA":                                "example.com/m.TestA",
		"TestX":                                  "example.com/tools/x.TestX",
		"TestA":                                  "several tests have this name: example.com/m.TestA, example.com/m/b.TestA",
		"c.TestB":                                "example.com/m/b has it",
		"TestC":                                  "",
		"TestD":                                  "",
		"tests.test_cart.test_total":             "tests.test_cart.test_total",
		"tests/test_cart.py::T::test_total[1.5]": "tests.test_cart.T.test_total[1.5]",
		"tests.test_other.test_total":            "",
		"":                                       "",
		"../../etc/passwd":                       "",
	} {
		c, err := l.Named(t.Context(), name)
		switch {
		case err == nil && c.ID != want:
			t.Errorf("%q: %s, want %s", name, c.ID, want)
		case err != nil && (!errors.Is(err, ErrName) || !strings.Contains(err.Error(), want) || want == name && name != ""):
			t.Errorf("%q: %v, want %s", name, err, want)
		}
		if err == nil && len(c.Documents) > 0 {
			t.Errorf("%q has documents", name)
		}
	}
}
