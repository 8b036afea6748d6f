package sourcefile_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	for kind, paths := range map[abi.SourceKind][]string{
		abi.SourceProduct: {
			"", "a/cart.go", "contest.go", "latest.py", "Cart.java", "Testimony.java", "src/main/java/a/Cart.java", "attest.ts", "data.txt",
			"src/changes.go", "src/cart.rs", "Contest.cpp", "protest.h", "src/latest.rs", "readme.go", "makefile.go", "src/config.js", "src/app.config.ts", "build/main.go", "../a/cart.go", "./cart.go",
		},
		abi.SourceTest: {
			"a/cart_test.go", "tests/helper.py", "test_cart.py", "conftest.py", "cart.spec.ts", "cart.test.js", "cart-test.mjs", "CartTest.java",
			"TestCart.cs", "shop/tests.py", "src/cart/tests.rs", "src/cart_tests.rs", "cart_unittest.cc", "test_cart.cpp", "CartTest.hpp",
			"src/test/java/a/Helper.java", "src/cart.spec.tsx", "src/__tests__/cart.js", "CartIT.kt", "cart_spec.rb", "features/pay.feature", "Test/a.go", "e2e/README.md",
		},
		abi.SourceFixture: {"a/testdata/x.go", "a/x.golden", "tests/fixtures/a.json", "src/test/resources/a.xml", "__snapshots__/a.js", "a/testdata/README.md"},
		abi.SourceOther: {
			"README.md", "docs/guide.rst", "LICENSE", "a/CHANGELOG.txt", ".github/workflows/ci.yml", "a/.golangci.yml", "go.mod",
			"web/package-lock.json", "requirements-dev.txt", "art/logo.png", "Makefile", "tools/rules.mk", "Dockerfile", "Dockerfile.dev", "docker-compose.yml", "Jenkinsfile",
			"CMakeLists.txt", "lib/meson.build", "BUILD.bazel", "settings.gradle", "tox.ini", "pytest.ini", "jest.config.js", "karma.conf.js", "tsconfig.json",
			"setup.py", "azure-pipelines.yml", ".gitlab-ci.yml", ".editorconfig", "Cargo.lock", "tsconfig.build.json",
		},
	} {
		for _, path := range paths {
			check.Equal(t, sourcefile.KindOf(path), kind, path)
		}
	}
}

func TestRunnerFiles(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"conftest.py": true, "a/b/__init__.py": true, "package.json": true, "tsconfig.build.json": true, "web/vitest.config.mts": true, ".babelrc.json": true, "pyproject.toml": true,
		"a/rates.py": false, "local.conf": false, "config.js": false, "tsconfig": false, "data/package.json5": false, "": false,
	} {
		check.Equal(t, sourcefile.IsRunnerFile(path), want, path)
	}
}

func TestForeign(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/usr/local/go/src/testing/testing.go": true, "/home/x/go/src/example.com/a/a.go": false, "testing.go": true,
		"/home/x/go/pkg/mod/example.com/a@v1/a.go": true, "/app/node_modules/jest/x.js": true, "node_modules/jest/x.js": true,
		"/app/lib/site-packages/a.py": true, "vendor/example.com/a/a.go": true, "/src/shop/cart.go": false, "shop/invendory/a.go": false, "": false,
	} {
		check.Equal(t, sourcefile.Foreign(path), want, path)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line, path string
		number     int
		form       sourcefile.Form
	}{
		{"./shop/cart.go:12:5: undefined: total", "shop/cart.go", 12, sourcefile.Diagnostic},
		{"vet: ./cart.go:3:1: unreachable code", "cart.go", 3, sourcefile.Diagnostic},
		{"src/app.ts:3:14: error TS2304", "src/app.ts", 3, sourcefile.Diagnostic},
		{"    cart_test.go:12: got 1, want 2", "cart_test.go", 12, sourcefile.Report},
		{"    cart_test.go:12: ", "cart_test.go", 12, sourcefile.Report},
		{"\t/src/shop/cart.go:12 +0x1d", "/src/shop/cart.go", 12, sourcefile.Frame},
		{"\t/src/shop/cart.go:12", "/src/shop/cart.go", 12, sourcefile.Frame},
		{"  File \"/app/shop/cart.py\", line 7, in total", "/app/shop/cart.py", 7, sourcefile.Frame},
		{"\tat com.shop.Cart.total(Cart.java:31)", "Cart.java", 31, sourcefile.Frame},
		{"    at total (/app/cart.js:31:9)", "/app/cart.js", 31, sourcefile.Frame},
		{"2024 INFO cart.go:12 started", "cart.go", 12, sourcefile.Mention},
		{"v1.2.3 of example.com:80 is up", "", 0, 0},
		{"open cart.go: no such file", "", 0, 0},
		{"cart.go:x", "", 0, 0},
		{".go:3", "", 0, 0},
		{"", "", 0, 0},
	} {
		got, ok := sourcefile.Find(tc.line)
		if got.Path != tc.path || got.Line != tc.number || got.Form != tc.form || ok != (tc.path != "") {
			t.Errorf("%q: %+v %v, want %+v", tc.line, got, ok, tc)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{{"/src/a/b.go", "a/b.go", true}, {"b.go", "a/b.go", true}, {"ab.go", "b.go", false}, {"", "", false}, {"a.go", "a.go", true}} {
		check.Equal(t, sourcefile.Same(tc.a, tc.b), tc.want, tc.a, tc.b)
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	const text = "a.b/cart.go:3 v1.2 x.yaml:4: C:\\a\\b.cs:line 5\n  File \"/my app/c.py\", line 6, in f\n at a.B.c(B.java:7) d.ts(8,9) e.go:0 \".go:1 f.go:99999999999"
	var got []string
	for p := range sourcefile.Places(text) {
		got = append(got, text[p.Start:p.End])
		if !strings.HasPrefix(text[p.Start:], p.Path) || p.Line < 1 {
			t.Errorf("%+v", p)
		}
	}
	want := []string{
		"a.b/cart.go:3", "x.yaml:4", `\a\b.cs:line 5`, `/my app/c.py", line 6`, "B.java:7", "d.ts(8", "f.go:999999999",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Only this package says by names which files are tests, and which are installed.
func TestAccept_HS3_OneRuleForSourceFiles(t *testing.T) {
	t.Parallel()
	telling := regexp.MustCompile(`node_modules.*site-packages|_test\\?\.(go|py)\b.*(test_|\.spec|\$\|)|unittest|conftest.*\.py|\(Test\|Tests\|TestCase`)
	others := []string{
		"host/casebook/fingerprint.go", // reads lines without their figures, and earlier books keep what it said
	}
	seen := 0
	err := filepath.WalkDir("../..", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (slices.Contains([]string{"lab", "out", "bin", "testdata", "testkit", "sourcefile"}, e.Name()) || name != "../.." && e.Name()[0] == '.'):
			return filepath.SkipDir
		case e.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		seen++
		short := filepath.ToSlash(strings.TrimPrefix(name, "../../"))
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && telling.MatchString(l.Value) && !slices.Contains(others, short) {
				t.Errorf("%s has a rule of its own for tests or installed files: %s", short, l.Value)
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 500 {
		t.Errorf("%d files: %v", seen, err)
	}
}
