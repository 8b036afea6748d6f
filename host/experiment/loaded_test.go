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
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// twoModules is a checkout whose module gets another one from a folder, which the change breaks.
func twoModules(t *testing.T, folder string, vendored bool) string {
	t.Helper()
	dir := t.TempDir()
	folder = strings.ReplaceAll(folder, "CHECKOUT", dir)
	at := folder
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, folder)
	}
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{
		"go.mod":            "module example.com/shop\n\ngo 1.26\n\nrequire example.com/shop/core v0.0.0\n\nreplace example.com/shop/core => " + folder + "\n",
		"cart/cart.go":      "package cart\n\nimport \"example.com/shop/core\"\n\nfunc Total() int { return core.Total() }\n",
		"cart/cart_test.go": "package cart\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) { if got := Total(); got != 1 { t.Errorf(\"got %d\", got) } }\n",
	})
	must.Write(t, at, map[string]string{"go.mod": "module example.com/shop/core\n\ngo 1.26\n", "core.go": "package core\n\nfunc Total() int { return 1 }\n"})
	vendor := func() {
		if !vendored {
			return
		}
		cmd := exec.CommandContext(t.Context(), "go", "mod", "vendor")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	vendor()
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "green")
	must.Git(t, dir, "tag", "green")
	must.Write(t, at, map[string]string{"core.go": "package core\n\nfunc Total() int { return 2 }\n"})
	vendor()
	return dir
}

// TestAccept_AL3_ABaseThatLoadsCodeOfHead: go.mod names a folder of the checkout, so that the base fails with the code of head.
func TestAccept_AL3_ABaseThatLoadsCodeOfHead(t *testing.T) {
	failed := &abi.Case{Subject: "TestTotal fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    cart_test.go:5: got 2\n"}}}
	whole := tier.Whole("host/experiment", "repo")
	for i, c := range []struct {
		name, folder, flags string
		vendored            bool
		base                abi.ExperimentOutcome
		head, loaded        abi.LoadedCode
	}{
		{"the folder of the checkout", "CHECKOUT/core", "", false, abi.OutcomeSame, abi.NotCertified, abi.Contradicted},
		{"without paths in the binary", "CHECKOUT/core", "-trimpath", false, abi.OutcomeSame, abi.NotCertified, abi.Contradicted},
		{"the folder of the tree", "./core", "-trimpath", false, abi.OutcomePassed, abi.Certified, abi.Certified},
		{"vendored", "./core", "", true, abi.OutcomePassed, abi.Certified, abi.Certified},
	} {
		if i%2 != 0 && !whole {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOFLAGS", c.flags)
			l := open(t, experiment.Config{Source: twoModules(t, c.folder, c.vendored), Base: "green", Mode: experiment.All, Budget: time.Hour})
			head, err := l.Run(t.Context(), failed, parse(t, again))
			if err != nil || head.Outcome != abi.OutcomeSame || head.Loaded != c.head {
				t.Errorf("head: got %+v, %v", head, err)
			}
			base, err := l.Run(t.Context(), failed, parse(t, onlyGreen))
			if err != nil || base.Outcome != c.base || base.Loaded != c.loaded {
				t.Errorf("base: got %+v, %v", base, err)
			}
			if c.loaded == abi.Contradicted && !strings.Contains(base.Detail, "module example.com/shop/core comes from ") {
				t.Errorf("base: the detail is %q", base.Detail)
			}
		})
	}
}

// TestAccept_AL3_ADependencyThatMoved: a module in a folder beside the repository changed under both trees. No run can tell that, and
// none is certified.
func TestAccept_AL3_ADependencyThatMoved(t *testing.T) {
	dir := twoModules(t, filepath.Join(t.TempDir(), "dependency"), false)
	text := must.Get(os.ReadFile(filepath.Join(dir, "go.mod")))(t)
	outside := strings.ReplaceAll(string(text), "example.com/shop/core", "example.com/dependency")
	_, folder, _ := strings.Cut(strings.TrimSpace(outside), "=> ")
	must.Write(t, dir, map[string]string{"go.mod": outside, "cart/cart.go": "package cart\n\nimport core \"example.com/dependency\"\n\nfunc Total() int { return core.Total() }\n"})
	must.Write(t, folder, map[string]string{"go.mod": "module example.com/dependency\n\ngo 1.26\n"})
	must.Git(t, dir, "commit", "-qam", "green")
	must.Git(t, dir, "tag", "-f", "green")
	must.Write(t, dir, map[string]string{"README.md": "changed\n"})
	failed := &abi.Case{Subject: "TestTotal fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    cart_test.go:5: got 2\n"}}}
	l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour})
	for _, name := range []string{again, onlyGreen} {
		r, err := l.Run(t.Context(), failed, parse(t, name))
		if err != nil || r.Outcome != abi.OutcomeSame || r.Loaded != abi.NotCertified {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}

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
			"vitest.config.mjs":          "export default { test: {} };\n", // vite puts a bundle of it into node_modules
			"packages/core/index.js":     "export const rate = (n) => n;\n",
			"src/cart.js":                "import { rate } from \"@shop/core\";\nexport const total = (n) => rate(n);\n",
			"src/cart.test.js":           "import { expect, test } from \"vitest\";\nimport { total } from \"./cart\";\ntest(\"totals\", () => { expect(total(1)).toBe(1); });\n",
		})
		failed = &abi.Case{Group: "src/cart.test.js", Subject: "totals fails in src/cart.test.js", Documents: []abi.Document{{
			Name: "failure", Text: "AssertionError: expected 2 to be 1 // Object.is equality\n\n- Expected\n+ Received\n\n- 1\n+ 2\n\n ❯ src/cart.test.js:3:41\n",
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
	must.Do(t, os.CopyFS(installed, os.DirFS(filepath.Join(dir, "packages", "core"))))
	checkLoaded(t, dir, failed, abi.OutcomeSame, abi.Contradicted, "module @shop/core comes from ")
	must.Do(t, os.RemoveAll(installed))
	must.Do(t, os.Symlink(filepath.Join("..", "..", "packages", "core"), installed))
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
	must.Write(t, at, map[string]string{"core-1.pom": pom + "<groupId>com.example.shadowcourt</groupId><artifactId>core</artifactId><version>1</version></project>"})
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

// changedBy is a checkout of a project with changes that are not committed. Pairs of texts are replaced in their files.
func changedBy(t *testing.T, project map[string]string, change map[string][2]string) string {
	t.Helper()
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, project)
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "green")
	must.Git(t, dir, "tag", "green")
	for name, c := range change {
		text := strings.Replace(project[name], c[0], c[1], 1)
		if text == project[name] {
			t.Fatalf("%s: no %q", name, c[0])
		}
		must.Write(t, dir, map[string]string{name: text})
	}
	return dir
}

type replaced = map[string][2]string

// needPytest skips the test without pytest, and where trees can't be seen in the place of the checkout.
func needPytest(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("pytest"); err != nil || !isolate.CanView() {
		t.Skipf("pytest: %v; views: %v", err, isolate.CanView())
	}
}

var pyProject = map[string]string{
	".gitignore":         ".venv\n__pycache__\n",
	"pytest.ini":         "[pytest]\npythonpath = src\n",
	"src/shop/cart.py":   "\"\"\"A cart.\"\"\"\nimport os\n\nUNIT = 1\n\n\ndef total(n):\n    if n > 9:\n        return large(\n            n,\n        )\n    return rate(n)\n\n\ndef rate(n):\n    return n\n\n\ndef large(n):\n    \"\"\"Of many.\"\"\"\n    return n\n",
	"src/shop/other.py":  "def f():\n    return 1\n",
	"tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total(1) == 3\n",
}

func pyCase() *abi.Case {
	return &abi.Case{
		Group: "tests.test_cart", Subject: "test_total fails in tests.test_cart",
		Documents: []abi.Document{{Name: "failure", Text: "    def test_total():\n>       assert total(1) == 3\nE       assert 1 == 3\nE        +  where 1 = total(1)\n\ntests/test_cart.py:5: AssertionError\n"}},
	}
}

// TestPytestThatGetsNoPlugin: runs of a pytest that ignores variables count, and are not certified.
func TestPytestThatGetsNoPlugin(t *testing.T) {
	tier.Long(t, "host/experiment")
	needPytest(t)
	command, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no Python")
	}
	dir := changedBy(t, pyProject, replaced{"src/shop/other.py": {"return 1", "return 2"}})
	must.Write(t, dir, map[string]string{".venv/bin/pytest": "#!/bin/sh\nexec '" + command + "' -E -m pytest \"$@\"\n"})
	must.Do(t, os.Chmod(filepath.Join(dir, ".venv", "bin", "pytest"), 0o755))
	l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour})
	r, err := l.Run(t.Context(), pyCase(), parse(t, again))
	if err != nil || r.Outcome != abi.OutcomeSame || r.Loaded != abi.NotCertified {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestAccept_AL3_PytestLoadsAnInstalledPackage: a copy of the project's package comes before that of the tree, so that each tree runs it.
func TestAccept_AL3_PytestLoadsAnInstalledPackage(t *testing.T) {
	tier.Long(t, "host/experiment")
	needPytest(t)
	for _, c := range []struct {
		name, pythonPath string // CHECKOUT and COPY stand for folders
		base             abi.ExperimentOutcome
		want             abi.LoadedCode
	}{
		{"a copy", "COPY", abi.OutcomeSame, abi.Contradicted},
		{"the folder of the checkout", "CHECKOUT/src", abi.OutcomePassed, abi.Certified},
	} {
		t.Run(c.name, func(t *testing.T) {
			project := maps.Clone(pyProject)
			project["pytest.ini"] = "[pytest]\n"
			project["tests/test_cart.py"] = "from shop.cart import total\n\n\ndef test_total():\n    assert total(1) == 1\n"
			dir, copied := changedBy(t, project, replaced{"src/shop/cart.py": {"def rate(n):\n    return n", "def rate(n):\n    return n + 1"}}), t.TempDir()
			must.Do(t, os.CopyFS(filepath.Join(copied, "shop"), os.DirFS(filepath.Join(dir, "src", "shop"))))
			t.Setenv("PYTHONPATH", strings.NewReplacer("COPY", copied, "CHECKOUT", dir).Replace(c.pythonPath))
			failed := pyCase()
			failed.Documents[0].Text = strings.NewReplacer("1 == 3", "2 == 1", ") == 3", ") == 1", "where 1", "where 2").Replace(failed.Documents[0].Text)
			l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour})
			for name, want := range map[string]abi.ExperimentOutcome{again: abi.OutcomeSame, onlyGreen: c.base} {
				r, err := l.Run(t.Context(), failed, parse(t, name))
				if err != nil || r.Outcome != want || r.Loaded != c.want || (c.want == abi.Contradicted) != strings.Contains(r.Detail, "module shop.cart comes from ") {
					t.Errorf("%s: got %+v, %v", name, r, err)
				}
			}
		})
	}
}
