package main

import (
	"strings"
	"testing"
)

// jestProject has tests of jest, with the reporter as a fresh `npm install jest-junit` has it, or told to name files.
func jestProject(options string) *project {
	tests := `const { total, greet } = require("./cart");

describe("cart", () => {
  test("totals (two) & $more", () => { expect(total([1, 2])).toBe(3); });
  test("greets", () => { expect(greet()).toBe("Hello"); });
  test("region", () => { expect(process.env.SHOP_REGION).toBeDefined(); });
});

describe("weather", () => {
  test.each([1, 2, 3])("day %d", () => { expect(Number(process.env.WEATHER ?? Math.random())).toBeGreaterThan(0.5); });
});
`
	empty := "const { total } = require(\"./cart\");\n\ndescribe(\"cart\", () => { test(\"is empty\", () => { expect(total([])).toBe(WANT); }); });\n"
	return &project{
		green: map[string]string{
			".gitignore": "node_modules\nreport*.xml\n",
			"package.json": `{"name": "shop", "version": "1.0.0", "private": true, "devDependencies": {"jest": "^29.7.0", "jest-junit": "^16.0.0"},
"jest-junit": {"outputName": "report.xml"` + options + `}}`,
			"src/cart.js":       "module.exports = { total: (prices) => prices.reduce((sum, p) => sum + p, 0), greet: () => \"Hello\" };\n",
			"src/cart.test.js":  tests,
			"src/empty.test.js": strings.ReplaceAll(empty, "WANT", "0"),
		},
		head: map[string]string{
			"src/cart.js":       "module.exports = { total: (prices) => prices.slice(1).reduce((sum, p) => sum + p, 0), greet: () => \"Good day\" };\n",
			"src/empty.test.js": strings.ReplaceAll(empty, "WANT", "1"),
			"src/count.js":      "module.exports = { count: () => 1 };\n",
			"src/count.test.js": "const { count } = require(\"./count\");\n\ntest(\"counts\", () => { expect(count()).toBe(2); });\n",
		},
	}
}

// TestAccept_EX9_JestFindsEveryFault through the whole command, with reports that name the file of a test, and as they are without settings.
func TestAccept_EX9_JestFindsEveryFault(t *testing.T) {
	t.Parallel()
	if !allRunners() {
		t.Skip("it installs jest and takes minutes: make runner-tests")
	}
	for _, c := range []struct{ name, options, prefix string }{
		{"without settings", "", "cart "},
		{"with files", `, "addFileAttribute": "true", "classNameTemplate": "{classname}", "titleTemplate": "{title}"`, "cart."},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := jestProject(c.options)
			p.write(t)
			p.install(t, "npm", "install", "--no-audit", "--no-fund", "--no-save")
			out := p.tool(t, []string{"WEATHER=0"}, "node_modules/.bin/jest", "--reporters=default", "--reporters=jest-junit")
			results, stderr := p.try(t, nil, "report.xml")
			if len(results) != 8 {
				t.Fatalf("%d cases of\n%s\n%s", len(results), out, stderr)
			}
			for _, want := range []expectation{
				{c.prefix + "totals (two) & $more", "pb001", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
				{c.prefix + "greets", "", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
				{c.prefix + "is empty", "ab001", []string{"base/head: same_failure", "base/base: passed"}, []string{"other", "not_"}},
				{c.prefix + "region", "", []string{"base/base: same_failure"}, []string{"other", "not_", "passed"}},
			} {
				want.check(t, results)
			}
			for id := range results {
				if strings.HasSuffix(id, "counts") {
					(&expectation{id, "", []string{"base/head: not_built", "base/base: no_test"}, []string{"passed"}}).check(t, results)
				}
			}
			oneIsFlaky(t, results, "weather")
		})
	}
}
