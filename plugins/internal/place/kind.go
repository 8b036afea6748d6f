package place

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// KindOf says by its path what a file is for.
func KindOf(path string) abi.SourceKind { return sourcefile.KindOf(path) }

// Foreign says whether a failure only passes through a file.
func Foreign(path string) bool { return sourcefile.Foreign(path) }

// Same says whether two paths name the same file, where one may be the end
// of the other.
func Same(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return b != "" && strings.HasSuffix(a, b) && (len(a) == len(b) || a[len(a)-len(b)-1] == '/')
}
