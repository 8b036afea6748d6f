// Package sourcefile says by its path what a file of a source tree is for, and whose it is, by what languages and their tools agree on. The
// host and the guests ask it alike, so that both mean the same. All functions are pure, take slash-separated paths, and know no project.
package sourcefile

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// KindOf says what a file is for: a fixture, a test, something else that no
// test runs (documents, dependencies, build files, settings of tools), or else the product.
func KindOf(path string) abi.SourceKind {
	base := path[strings.LastIndexByte(path, '/')+1:]
	folders := strings.ToLower(path[:len(path)-len(base)])
	stem, extension := cut(base)
	lower := strings.ToLower(base)
	switch {
	case anyFolder(folders, isFixtureFolder), extension == "golden", extension == "snap",
		strings.Contains("/"+folders, "/src/test/resources/"):
		return abi.SourceFixture
	case isTestName(stem, extension), anyFolder(folders, isTestFolder):
		return abi.SourceTest
	case strings.HasPrefix(base, "."), anyFolder(folders, isHidden), isDocument(lower, extension), IsDependencies(path), IsBuild(path):
		return abi.SourceOther
	}
	return abi.SourceProduct
}

// IsTest says whether a file belongs to the tests: a test, a helper or a fixture.
func IsTest(path string) bool {
	kind := KindOf(path)
	return kind == abi.SourceTest || kind == abi.SourceFixture
}

// IsRunnerFile says whether a file is one that runners of tests look for in each run, in many folders.
func IsRunnerFile(path string) bool {
	switch base := path[strings.LastIndexByte(path, '/')+1:]; base {
	case "conftest.py", "__init__.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.py", "setup.cfg", "package.json":
		return true
	default:
		stem, extension := cut(base)
		return strings.HasSuffix(stem, ".config") || strings.HasPrefix(base, ".babelrc") || strings.HasPrefix(base, "tsconfig") && extension == "json"
	}
}

// cut parts a file's name at its last dot; the extension is in lower case.
func cut(base string) (stem, extension string) {
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 {
		return base, ""
	}
	return base[:dot], strings.ToLower(base[dot+1:])
}

func anyFolder(folders string, is func(string) bool) bool {
	for folder := range strings.SplitSeq(folders, "/") {
		if is(folder) {
			return true
		}
	}
	return false
}

func isFixtureFolder(name string) bool {
	switch name {
	case "testdata", "fixtures", "fixture", "__fixtures__", "__snapshots__", "cassettes", "golden":
		return true
	}
	return false
}

func isTestFolder(name string) bool {
	switch name {
	case "test", "tests", "__tests__", "spec", "specs", "e2e", "__mocks__", "androidtest", "testing":
		return true
	}
	return false
}

func isHidden(name string) bool { return len(name) > 1 && name[0] == '.' && name != ".." }

// isTestName tells the names that test frameworks look for.
func isTestName(stem, extension string) bool {
	switch extension {
	case "go", "exs", "dart", "rb":
		return strings.HasSuffix(stem, "_test") || extension == "rb" && strings.HasSuffix(stem, "_spec")
	case "rs":
		return hasSuffix(stem, "_test", "_tests") || stem == "test" || stem == "tests"
	case "c", "cc", "cpp", "cxx", "h", "hh", "hpp":
		return hasSuffix(stem, "_test", "_tests", "_unittest", "Test", "Tests") || strings.HasPrefix(stem, "test_")
	case "py":
		return strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_") || stem == "conftest" || stem == "tests"
	case "js", "ts", "jsx", "tsx", "mjs", "cjs", "mts", "cts":
		return hasSuffix(stem, ".test", ".spec", ".cy", ".e2e", "-test", "-spec", "_test")
	case "java", "kt", "scala", "groovy", "cs", "php", "swift":
		return hasSuffix(stem, "Test", "Tests", "TestCase", "IT", "Spec", "Specification") || isWord(stem, "Test")
	case "bats", "feature":
		return true
	}
	return false
}

func hasSuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// isWord says whether a name in camel case begins with a word: TestCart, and not Testimony.
func isWord(name, word string) bool {
	rest, ok := strings.CutPrefix(name, word)
	return ok && rest != "" && (rest[0] < 'a' || rest[0] > 'z')
}

func isDocument(lower, extension string) bool {
	switch extension {
	case "md", "markdown", "rst", "adoc", "pdf", "png", "jpg", "jpeg", "gif":
		return true
	}
	stem, _, _ := strings.Cut(lower, ".")
	switch stem {
	case "license", "licence", "copying", "notice", "authors", "contributors", "maintainers", "codeowners", "changelog", "changes", "readme":
		return extension == "" || extension == "txt"
	}
	return false
}

// IsBuild says whether a file tells how the product is built, tested, checked or delivered, and is no part of what a test runs.
func IsBuild(path string) bool {
	base := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	stem, extension := cut(base)
	first, _, _ := strings.Cut(base, ".")
	switch extension {
	case "mk", "mak", "cmake", "bzl", "bazel", "gradle", "kts", "sbt", "gn", "gni", "nix", "csproj", "sln", "vcxproj", "props", "targets":
		return true
	}
	switch first {
	case "dockerfile", "containerfile", "docker-compose", "compose", "jenkinsfile", "tsconfig", "jsconfig":
		return true
	}
	switch base {
	case "makefile", "gnumakefile", "bsdmakefile", "kbuild", "justfile", "taskfile.yml", "taskfile.yaml", "earthfile", "tiltfile", "procfile",
		"vagrantfile", "rakefile", "gruntfile.js", "gulpfile.js", "fastfile", "cmakelists.txt", "cmakepresets.json", "meson.build", "meson_options.txt",
		"build", "workspace", "sconstruct", "sconscript", "configure.ac", "configure.in", "makefile.am", "makefile.in", "gradlew", "gradlew.bat", "mvnw",
		"mvnw.cmd", "gradle.properties", "build.xml", "build.zig", "azure-pipelines.yml", "bitbucket-pipelines.yml", "appveyor.yml", "cloudbuild.yaml",
		"codecov.yml", "lerna.json", "nx.json", "turbo.json", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "noxfile.py", "mypy.ini",
		"sonar-project.properties", "renovate.json":
		return true
	}
	tool, isConfig := strings.CutSuffix(strings.TrimSuffix(stem, ".config"), ".conf")
	return (isConfig || strings.HasSuffix(stem, ".config")) && isTool(tool)
}

// isTool tells the tools whose settings stand in files such as jest.config.js.
func isTool(name string) bool {
	switch name {
	case "jest", "vitest", "karma", "cypress", "playwright", "wdio", "protractor", "babel", "webpack", "vite", "rollup", "esbuild", "tsup", "swc",
		"eslint", "prettier", "stylelint", "commitlint", "lint-staged", "postcss", "tailwind", "metro":
		return true
	}
	return false
}

// IsDependencies says whether a file states which versions of others' packages are used.
func IsDependencies(path string) bool {
	switch base := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:]); base {
	case "go.mod", "go.sum", "go.work", "go.work.sum", "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock",
		"pnpm-lock.yaml", "pyproject.toml", "poetry.lock", "uv.lock", "pipfile", "pipfile.lock", "cargo.toml", "cargo.lock", "pom.xml",
		"build.gradle", "build.gradle.kts", "gradle.lockfile", "libs.versions.toml", "gemfile", "gemfile.lock", "composer.json",
		"composer.lock", "packages.lock.json", "mix.exs", "mix.lock":
		return true
	default:
		return strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt")
	}
}

// Installed says whether a file belongs to a language's own library, or to what a package manager fetched.
func Installed(path string) bool {
	rooted := "/" + path
	for _, part := range []string{
		"/pkg/mod/", "/node_modules/", "/site-packages/", "/dist-packages/", "/vendor/", "/usr/lib/", "/lib/python", "/.cargo/",
		"/rustc/", "node:internal", "/importlib/",
	} {
		if strings.Contains(rooted, part) {
			return true
		}
	}
	if strings.HasPrefix(path, "node:") || strings.HasPrefix(path, "<frozen ") || strings.HasPrefix(path, "internal/") && strings.HasSuffix(path, ".js") {
		return true // of Node.js and Python
	}
	// Go's own packages have no dot in the first element of their paths.
	_, within, ok := strings.Cut(rooted, "/go/src/")
	first, _, _ := strings.Cut(within, "/")
	return ok && !strings.Contains(first, ".")
}

// Foreign says whether a failure only passes through a file, which is installed or, by its bare name, of a runtime. Who has the source of
// the module under test knows better than the name, and asks [Installed].
func Foreign(path string) bool {
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "_testmain.go", "testing.go", "panic.go":
		return true
	}
	return Installed(path)
}
