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

// TestAccept_AL6_Gradle by its command, and by the wrapper of the project, which starts a JVM of its own for the build.
func TestAccept_AL6_Gradle(t *testing.T) {
	t.Parallel()
	needTool(t, "gradle", "javac", "jar")
	const total, region = "com.example.CartTest.total", "com.example.CartTest.region"
	p := gradleProject()
	p.write(t)
	p.install(t, "gradle", "--no-daemon", "testClasses")
	got := p.alibi(t, nil, "--case-budget=10m", "--", "gradle", "--no-daemon", "test", "--tests", total)
	got.expect(t, "total", alibi.IsYours, alibi.Caused, alibi.Product)
	if got.code != 3 || len(got.answers) != 1 || !strings.Contains(got.stderr, "CartTest > total FAILED") {
		t.Errorf("exit code %d, %d answers\n%s", got.code, len(got.answers), got.stderr)
	}

	wrapped := gradleProject()
	env := wrapped.withWrapper(t)
	wrapped.write(t)
	if out := wrapped.tool(t, env, "./gradlew", "--no-daemon", "testClasses"); !strings.Contains(out, "BUILD SUCCESSFUL") {
		t.Skipf("the wrapper does not build here:\n%s", out)
	}
	got = wrapped.alibi(t, env, "--case-budget=10m", "--", "./gradlew", "--no-daemon", "test", "--tests", region)
	got.expect(t, "region", alibi.NotYours, alibi.Preexisting, "")
	if got.code != 0 || len(got.answers) != 1 || !strings.Contains(got.stderr, "CartTest > region FAILED") {
		t.Errorf("exit code %d, %d answers\n%s", got.code, len(got.answers), got.stderr)
	}
}

// TestAccept_AL6_Vitest of which the titles in a report are joined otherwise than those that it runs by.
func TestAccept_AL6_Vitest(t *testing.T) {
	t.Parallel()
	needTool(t, "npm")
	tests := `import { describe, expect, test } from "vitest";
import { total } from "./cart";

describe("cart (a) > b", () => {
  test("totals", () => { expect(total([1, 2])).toBe(3); });
  describe("rows", () => { test.each([WANT, 1])("is %d", (n) => { expect(total([])).toBe(n - 1); }); });
});

test("region", () => { expect(process.env.SHOP_REGION).toBeDefined(); });
`
	cart := "export const total = (prices) => prices.reduce((sum, p) => sum + p, 0);\n"
	p := &project{
		green: map[string]string{
			".gitignore":   "node_modules\n",
			"package.json": `{"name": "shop", "private": true, "type": "module", "scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "^3.0.0"}}`,
			"src/cart.js":  cart, "src/cart.test.js": strings.ReplaceAll(tests, "WANT", "1"),
		},
		head: map[string]string{
			"src/cart.js": strings.Replace(cart, "prices.reduce", "prices.slice(1).reduce", 1), "src/cart.test.js": strings.ReplaceAll(tests, "WANT", "2"),
		},
	}
	p.write(t)
	p.install(t, "npm", "install", "--no-audit", "--no-fund", "--no-save", "--no-package-lock")
	got := p.alibi(t, nil, "--", "npm", "test")
	got.expect(t, "cart (a) > b > totals", alibi.IsYours, alibi.Caused, alibi.Product)
	got.expect(t, "cart (a) > b > rows > is 2", alibi.IsYours, alibi.Caused, alibi.Tests)
	got.expect(t, "region", alibi.NotYours, alibi.Preexisting, "")
	if got.code != 3 || len(got.answers) != 3 || !strings.Contains(got.stderr, "Tests  3 failed") {
		t.Errorf("exit code %d, %d answers\n%s", got.code, len(got.answers), got.stderr)
	}
	if a := got.answers["region"]; a != nil && strings.Contains(a.Why, "not certified") {
		t.Error(saidOf(a))
	}
}
