package place

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// KindOf says by its path what a file is for.
func KindOf(path string) abi.SourceKind {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for element := range strings.SplitSeq(strings.TrimSuffix(path, base), "/") {
		switch element {
		case "testdata", "fixtures", "fixture", "__snapshots__":
			return abi.SourceFixture
		case "test", "tests", "__tests__", "spec":
			return abi.SourceTest
		}
	}
	stem, extension := base, ""
	if dot := strings.LastIndexByte(base, '.'); dot >= 0 {
		stem, extension = base[:dot], base[dot+1:]
	}
	switch {
	case strings.HasSuffix(stem, "_test"), strings.HasSuffix(stem, ".test"), strings.HasSuffix(stem, ".spec"),
		strings.HasSuffix(stem, "_spec"), strings.HasPrefix(stem, "test_"), stem == "conftest":
		return abi.SourceTest
	case extension == "java" || extension == "kt" || extension == "scala" || extension == "groovy" || extension == "cs" || extension == "php":
		if strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") || strings.HasSuffix(stem, "Spec") || strings.HasSuffix(stem, "IT") {
			return abi.SourceTest
		}
	}
	return abi.SourceProduct
}

// Foreign says whether a file belongs to a language's own library, or to
// what a package manager fetched: a failure passes through it, and is not
// its.
func Foreign(path string) bool {
	for _, part := range []string{"/pkg/mod/", "/node_modules/", "/site-packages/", "/dist-packages/", "/vendor/", "/usr/lib/", "/lib/python", "/.cargo/", "/rustc/", "node:internal"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	// Go's own packages have no dot in the first element of their paths.
	if _, within, ok := strings.Cut(path, "/go/src/"); ok {
		first, _, _ := strings.Cut(within, "/")
		return !strings.Contains(first, ".")
	}
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "_testmain.go", "testing.go", "panic.go":
		return true
	}
	return false
}

// Same says whether two paths name the same file, where one may be the end
// of the other.
func Same(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return b != "" && strings.HasSuffix(a, b) && (len(a) == len(b) || a[len(a)-len(b)-1] == '/')
}
