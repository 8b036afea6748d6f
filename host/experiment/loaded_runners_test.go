package experiment_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// needRunners skips tests of runners that are not asked for, or not installed.
func needRunners(t *testing.T, tools ...string) {
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

// command runs a command that needs a registry of packages. Without the network the test is skipped.
func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s %v: %v\n%.2000s", name, args, err, out)
	}
}

// checkLoaded runs the tree under test and the base of a change that breaks what the tree and an installation both have.
func checkLoaded(t *testing.T, dir string, failed *abi.Case, base abi.ExperimentOutcome, want abi.LoadedCode, detail string) {
	t.Helper()
	l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour, PerCase: time.Hour})
	for name, outcome := range map[string]abi.ExperimentOutcome{again: abi.OutcomeSame, onlyGreen: base} {
		r, err := l.Run(t.Context(), failed, parse(t, name))
		if err != nil || r.Outcome != outcome || r.Loaded != want || (want == abi.Contradicted) != strings.Contains(r.Detail, detail) {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}

// workspaces is a project that has a package in a folder of its own, which is installed, too.
func workspaces(t *testing.T, runner string) (string, *abi.Case) {
	t.Helper()
	files := map[string]string{
		".gitignore":                 "node_modules\n",
		"package.json":               `{"name": "shop", "version": "1.0.0", "devDependencies": {"RUNNER": "*"}}`,
		"packages/core/package.json": `{"name": "@shop/core", "version": "1.0.0", "main": "index.js"}`,
		"packages/core/index.js":     "module.exports.rate = (n) => n;\n",
		"src/cart.js":                "const { rate } = require(\"@shop/core\");\nmodule.exports.total = (n) => rate(n);\n",
		"src/cart.test.js":           "const { total } = require(\"./cart\");\n\ntest(\"totals\", () => { expect(total(1)).toBe(1); });\n",
	}
	failed := &abi.Case{Group: "totals", Subject: "totals fails in totals", Documents: []abi.Document{{
		Name: "failure", Text: "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 1\nReceived: 2\n    at Object.toBe (src/cart.test.js:3:42)\n",
	}}}
	if runner == "vitest" {
		maps.Copy(files, map[string]string{
			"packages/core/package.json": `{"name": "@shop/core", "version": "1.0.0", "type": "module", "exports": "./index.js"}`,
			"packages/core/index.js":     "export const rate = (n) => n;\n",
			"src/cart.js":                "import { rate } from \"@shop/core\";\nexport const total = (n) => rate(n);\n",
			"src/cart.test.js":           "import { expect, test } from \"vitest\";\nimport { total } from \"./cart\";\ntest(\"totals\", () => { expect(total(1)).toBe(1); });\n",
		})
		failed = &abi.Case{Group: "src/cart.test.js", Subject: "totals fails in src/cart.test.js", Documents: []abi.Document{{
			Name: "failure", Text: "AssertionError: expected 2 to be 1 // Object.is equality\n\n- Expected\n+ Received\n\n- 1\n+ 2\n\n ❯ src/cart.test.js:3:42\n",
		}}}
	}
	files["package.json"] = strings.ReplaceAll(files["package.json"], "RUNNER", runner)
	return changedBy(t, files, replaced{"packages/core/index.js": {"(n) => n;", "(n) => n + 1;"}}), failed
}

func loadsAnInstalledPackage(t *testing.T, runner string, packages ...string) {
	t.Helper()
	needRunners(t, "npm")
	dir, failed := workspaces(t, runner)
	command(t, dir, "npm", append([]string{"install", "--no-audit", "--no-fund", "--no-save", "--no-package-lock", "--prefer-offline"}, packages...)...)
	installed := filepath.Join(dir, "node_modules", "@shop", "core")
	if err := os.CopyFS(installed, os.DirFS(filepath.Join(dir, "packages", "core"))); err != nil {
		t.Fatal(err)
	}
	checkLoaded(t, dir, failed, abi.OutcomeSame, abi.Contradicted, "module @shop/core comes from ")
	if err := os.RemoveAll(installed); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "..", "packages", "core"), installed); err != nil {
		t.Fatal(err)
	}
	checkLoaded(t, dir, failed, abi.OutcomePassed, abi.Certified, " comes from ")
}

// TestAccept_AL3_JestLoadsAnInstalledPackage: a copy in node_modules, which each tree runs, and a link that leads to the tree.
func TestAccept_AL3_JestLoadsAnInstalledPackage(t *testing.T) {
	loadsAnInstalledPackage(t, "jest", "jest@29", "jest-junit@16")
}

// TestAccept_AL3_VitestLoadsAnInstalledPackage as Node.js loads it, by itself, and not as vitest does.
func TestAccept_AL3_VitestLoadsAnInstalledPackage(t *testing.T) {
	loadsAnInstalledPackage(t, "vitest", "vitest@3")
}

const (
	rate     = "package com.example.core;\n\npublic class Rate {\n  public static int of(int n) { return n; }\n}\n"
	pom      = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>`
	settings = `<properties><maven.compiler.release>11</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>`
	plugins  = `<build><pluginManagement><plugins><plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin></plugins></pluginManagement></build>`
	junit = `<dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency>`
)

// javaModules are two modules: shop, which uses core, and one of a JVM's failing test. With a version, core is what is installed.
func javaModules(of string) map[string]string {
	core := "<groupId>com.example.shadowcourt</groupId><artifactId>core</artifactId><version>1</version>"
	files := map[string]string{
		".gitignore": "target\nbuild\n.gradle\n",
		"core/src/main/java/com/example/core/Rate.java": rate,
		"shop/src/main/java/com/example/Cart.java":      "package com.example;\n\npublic class Cart {\n  public static int total(int n) { return com.example.core.Rate.of(n); }\n}\n",
		"shop/src/test/java/com/example/CartTest.java":  "package com.example;\n\nimport static org.junit.Assert.*;\n\npublic class CartTest {\n  @org.junit.Test public void total() { assertEquals(1, Cart.total(1)); }\n}\n",
	}
	switch of {
	case "maven":
		files["pom.xml"] = pom + `<groupId>com.example</groupId><artifactId>parent</artifactId><version>1</version><packaging>pom</packaging><modules>MODULES</modules>` + settings + plugins + `</project>`
		files["core/pom.xml"] = pom + core + settings + plugins + `</project>`
		files["shop/pom.xml"] = pom + `<parent><groupId>com.example</groupId><artifactId>parent</artifactId><version>1</version></parent><artifactId>shop</artifactId><dependencies>` +
			junit + `<dependency>` + core + `</dependency></dependencies></project>`
	case "gradle":
		files["settings.gradle"] = "include 'core', 'shop'\n"
		files["core/build.gradle"] = "plugins { id 'java' }\n"
		files["shop/build.gradle"] = "plugins { id 'java' }\n\nrepositories { mavenLocal(); mavenCentral() }\n\ndependencies { implementation CORE; testImplementation 'junit:junit:4.13.2' }\n"
	}
	return files
}

// installCore puts core, as it is, into the local Maven repository, as mvn install does.
func installCore(t *testing.T, dir string) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	group := filepath.Join(home, ".m2", "repository", "com", "example", "shadowcourt")
	at, classes := filepath.Join(group, "core", "1"), t.TempDir()
	t.Cleanup(func() { _ = os.RemoveAll(group) })
	write(t, at, map[string]string{"core-1.pom": pom + "<groupId>com.example.shadowcourt</groupId><artifactId>core</artifactId><version>1</version></project>"})
	command(t, dir, "javac", "--release=11", "-d", classes, "core/src/main/java/com/example/core/Rate.java")
	command(t, dir, "jar", "cf", filepath.Join(at, "core-1.jar"), "-C", classes, "com")
}

var javaCase = &abi.Case{Group: "com.example.CartTest", Subject: "total fails in com.example.CartTest", Documents: []abi.Document{{
	Name: "failure", Text: "java.lang.AssertionError: expected:<1> but was:<2>\n\tat com.example.CartTest.total(CartTest.java:6)\n",
}}}

// TestAccept_AL3_SurefireLoadsAnInstalledModule: core of head is installed, and it is no module of the build, or one.
func TestAccept_AL3_SurefireLoadsAnInstalledModule(t *testing.T) {
	needRunners(t, "mvn", "javac", "jar")
	for _, c := range []struct {
		modules string
		base    abi.ExperimentOutcome
		want    abi.LoadedCode
	}{
		{"<module>shop</module>", abi.OutcomeSame, abi.Contradicted},
		{"<module>core</module><module>shop</module>", abi.OutcomePassed, abi.Certified},
	} {
		files := javaModules("maven")
		files["pom.xml"] = strings.ReplaceAll(files["pom.xml"], "MODULES", c.modules)
		dir := changedBy(t, files, replaced{"core/src/main/java/com/example/core/Rate.java": {"return n;", "return n + 1;"}})
		installCore(t, dir)
		command(t, dir, "mvn", "-q", "--batch-mode", "-Dmaven.test.failure.ignore", "test")
		checkLoaded(t, dir, javaCase, c.base, c.want, "class com.example.core.Rate comes from ")
	}
}

// TestAccept_AL3_GradleLoadsAnInstalledModule as Surefire does.
func TestAccept_AL3_GradleLoadsAnInstalledModule(t *testing.T) {
	needRunners(t, "gradle", "javac", "jar")
	for _, c := range []struct {
		core string
		base abi.ExperimentOutcome
		want abi.LoadedCode
	}{
		{"'com.example.shadowcourt:core:1'", abi.OutcomeSame, abi.Contradicted},
		{"project(':core')", abi.OutcomePassed, abi.Certified},
	} {
		files := javaModules("gradle")
		files["shop/build.gradle"] = strings.ReplaceAll(files["shop/build.gradle"], "CORE", c.core)
		dir := changedBy(t, files, replaced{"core/src/main/java/com/example/core/Rate.java": {"return n;", "return n + 1;"}})
		installCore(t, dir)
		command(t, dir, "gradle", "--no-daemon", "testClasses")
		checkLoaded(t, dir, javaCase, c.base, c.want, "class com.example.core.Rate comes from ")
	}
}
