package main

import (
	"os/exec"
	"strings"
	"testing"
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

// TestAccept_EX9_CTest: a regression, a broken environment and a product that does not build, in C++.
func TestAccept_EX9_CTest(t *testing.T) {
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
		{"cart.total", "pb001", []string{"green/head: passed", "green/green: passed"}, []string{"other", "not_"}},
		{"cart region (any)", "si001", []string{"green/green: same_failure"}, []string{"other", "not_", "passed"}},
	} {
		want.check(t, results)
	}
}

// TestAccept_EX9_Surefire: a regression in one module of a Maven project, a nested class, and a test of a method that green lacks.
func TestAccept_EX9_Surefire(t *testing.T) {
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
		{"com.example.CartTest.total", "pb001", []string{"green/head: passed", "green/green: passed"}, []string{"other", "not_"}},
		{"com.example.CartTest$Inner.zero", "pb001", []string{"green/head: passed", "green/green: passed"}, []string{"other", "not_"}},
		{"com.example.CartTest.region", "si001", []string{"green/green: same_failure"}, []string{"other", "not_", "passed"}},
	} {
		want.check(t, results)
	}
}
