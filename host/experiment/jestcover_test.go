package experiment_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

var jsProject = map[string]string{
	".gitignore":           "node_modules\n",
	"package.json":         `{"name": "shop", "version": "1.0.0", "devDependencies": {"jest": "*", "jest-junit": "*"}}` + "\n",
	"src/[id].js":          "// A cart.\nconst unit = 1;\n\nfunction total(n) {\n  if (n > 9) {\n    return large(\n      n,\n    );\n  }\n  return rate(n);\n}\n\nfunction rate(n) {\n  return n;\n}\n\nfunction large(n) {\n  return n;\n}\n\nmodule.exports = { total, unit };\n",
	"src/other.js":         "module.exports.f = () => {\n  return 1;\n};\n",
	"src/cart.test.js":     "const { total } = require(\"./[id]\");\n\ntest(\"totals\", () => { expect(total(1)).toBe(3); });\n",
	"jest.config.js":       "module.exports = { coverageThreshold: { global: { lines: 100 } } };\n",
	"docs/unread.md":       "unread\n",
	"src/another/[id].js":  "module.exports.f = 1;\n",
	"src/another/other.js": "module.exports.f = 1;\n",
}

// TestCoverageOfJest installs jest: make runner-tests.
func TestCoverageOfJest(t *testing.T) {
	if os.Getenv("SHADOWCOURT_RUNNERS") == "" {
		t.Skip("it installs jest: make runner-tests")
	}
	failed := &abi.Case{Group: "totals", Subject: "totals fails in totals", Documents: []abi.Document{{
		Name: "failure", Text: "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 3\nReceived: 1\n    at Object.toBe (src/cart.test.js:3:42)\n",
	}}}
	for _, c := range []struct {
		name   string
		change replaced
		want   abi.ChangedCode
		off    bool
	}{
		{"a line that is executed", replaced{"src/[id].js": {"function rate(n) {\n  return n", "function rate(n) {\n  return n + 0"}}, abi.CodeExecuted, false},
		{"a line beside it", replaced{"src/[id].js": {"      n,\n", "      n + 1,\n"}}, abi.CodeNotExecuted, false},
		{"a signature", replaced{"src/[id].js": {"rate(n) {", "rate(n, more) {"}}, abi.CodeExecuted, false},
		{"a function that is not called", replaced{"src/[id].js": {"function large(n) {", "function large(n, more) {"}}, abi.CodeNotExecuted, false},
		{"a line that was removed", replaced{"src/[id].js": {"  if (n > 9) {\n    return large(\n      n,\n    );\n  }\n", ""}}, abi.CodeExecuted, false},
		{"a file that is not loaded", replaced{"src/other.js": {"return 1", "return 2"}}, abi.CodeNotExecuted, false},
		{"what runs when the file is loaded", replaced{"src/[id].js": {"unit = 1", "unit = 2"}}, abi.CodeExecuted, false},
		{"a document", replaced{"docs/unread.md": {"unread", "read"}}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := changedBy(t, jsProject, c.change)
			cmd := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--no-save", "--no-package-lock", "--prefer-offline")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Skipf("npm: %v\n%s", err, out)
			}
			l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour})
			checkCoverage(t, l, failed, c.want, c.off)
		})
	}
}
