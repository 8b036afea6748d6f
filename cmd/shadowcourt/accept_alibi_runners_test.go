package main

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
)

// TestAccept_AL2_Pytest: the command runs pytest, and pytest is what runs the trees.
func TestAccept_AL2_Pytest(t *testing.T) {
	t.Parallel()
	if !allRunners() {
		t.Skip("it takes half a minute: make runner-tests")
	}
	needPytest(t)
	p := pythonProject()
	p.write(t)
	got := p.alibi(t, nil, "--", "pytest", "-q", "tests/test_cart.py::TestTotal", "tests/test_cart.py::test_region", "tests/test_empty.py")
	got.expect(t, "test_sum[prices0-3]", alibi.IsYours, alibi.Caused, alibi.Product)
	got.expect(t, "test_region", alibi.NotYours, alibi.Preexisting, "")
	got.expect(t, "test_empty", alibi.IsYours, alibi.Caused, alibi.Tests)
	if got.code != 3 || len(got.answers) != 3 || !strings.Contains(got.stderr, "3 failed") {
		t.Errorf("exit code %d, %d answers\n%s", got.code, len(got.answers), got.stderr)
	}
}

// TestAccept_AL2_Jest with a reporter that the project has.
func TestAccept_AL2_Jest(t *testing.T) {
	t.Parallel()
	if !allRunners() {
		t.Skip("it installs jest and takes minutes: make runner-tests")
	}
	p := jestProject("")
	p.write(t)
	p.install(t, "npm", "install", "--no-audit", "--no-fund", "--no-save")
	got := p.alibi(t, nil, "--", "node_modules/.bin/jest", "-t", "cart")
	for test, want := range map[string]struct {
		verdict alibi.Verdict
		label   string
		part    alibi.Part
	}{
		"totals (two) & $more": {alibi.IsYours, alibi.Caused, alibi.Product},
		"is empty":             {alibi.IsYours, alibi.Caused, alibi.Tests},
		"region":               {alibi.NotYours, alibi.Preexisting, ""},
	} {
		found := false
		for name, a := range got.answers {
			if strings.HasSuffix(name, test) {
				found = true
				if a.Verdict != want.verdict || a.Label != want.label || a.Part != want.part && want.part != "" {
					t.Errorf("%s: %s", name, saidOf(a))
				}
			}
		}
		if !found {
			t.Errorf("%s: no answer\n%s", test, got.stderr)
		}
	}
	if got.code != 3 {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}
}
