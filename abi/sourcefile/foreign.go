package sourcefile

import "strings"

// Installed says whether a file belongs to a language's own library, or to what
// a package manager fetched.
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

// Foreign says whether a failure only passes through a file, which is
// installed or, by its bare name, of a runtime. Who has the source of the module
// under test knows better than the name, and asks [Installed].
func Foreign(path string) bool {
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "_testmain.go", "testing.go", "panic.go":
		return true
	}
	return Installed(path)
}
