package testlog

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// InGoModule says whether a frame's function, as "example.com/a/b.(*T).Method(0x1)", belongs to the module of the package.
// A module's path is not in the output: packages count as one module when they share the first three elements of their
// paths, or all of the shorter one.
func InGoModule(function, pack string) bool {
	f, p := strings.Split(functionPackage(function), "/"), strings.Split(pack, "/")
	n := min(3, len(f), len(p))
	if n < min(3, len(p)) {
		return false
	}
	for i := range n {
		if f[i] != p[i] {
			return false
		}
	}
	return true
}

// functionPackage cuts a function's package path; the package of external tests counts as the one it tests.
func functionPackage(function string) string {
	function = strings.TrimPrefix(strings.TrimSpace(function), "created by ")
	slash := strings.LastIndexByte(beforeArguments(function), '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return function
	}
	path := strings.ReplaceAll(function[:slash+dot], "%2e", ".")
	return strings.TrimSuffix(path, "_test")
}

// beforeArguments cuts the arguments and the type parameters off, which may hold slashes.
func beforeArguments(function string) string {
	if i := strings.IndexAny(function, "(["); i >= 0 {
		return function[:i]
	}
	return function
}

// OwnGoFrame says whether a frame lies in the code under test: in the module of the package, or in a file that is no
// dependency's, since a module with a path of two elements has packages that look like other modules'.
func OwnGoFrame(function, file, pack string) bool {
	if InGoModule(function, pack) {
		return true
	}
	domain, _, _ := strings.Cut(functionPackage(function), "/")
	local := !sourcefile.Installed(file) && !strings.Contains(file, "@v")
	return strings.Contains(domain, ".") && strings.Contains(pack, "/") && local
}
