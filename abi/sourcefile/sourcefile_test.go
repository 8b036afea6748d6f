package sourcefile_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
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
			if got := sourcefile.KindOf(path); got != kind {
				t.Errorf("%q: %s, want %s", path, got, kind)
			}
		}
	}
}

func TestForeign(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/usr/local/go/src/testing/testing.go": true, "/home/x/go/src/example.com/a/a.go": false, "testing.go": true,
		"/home/x/go/pkg/mod/example.com/a@v1/a.go": true, "/app/node_modules/jest/x.js": true, "node_modules/jest/x.js": true,
		"/app/lib/site-packages/a.py": true, "vendor/example.com/a/a.go": true, "/src/shop/cart.go": false, "shop/invendory/a.go": false, "": false,
	} {
		if got := sourcefile.Foreign(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}
