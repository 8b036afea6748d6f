package repo

import (
	"path/filepath"
	"testing"
)

// FuzzParse: no listing gives a path that leads out of a tree.
func FuzzParse(f *testing.F) {
	f.Add([]byte("100644 blob 0123\ta/b.go\x00160000 commit 45\tsub\x00"), 2)
	f.Add([]byte("100644 0123 0\t../b.go\x00"), 1)
	f.Fuzz(func(t *testing.T, listed []byte, at int) {
		if at != 1 && at != 2 {
			return
		}
		files, err := parse(listed, at, nil)
		if err != nil {
			return
		}
		for path, file := range files {
			if !filepath.IsLocal(filepath.FromSlash(path)) || file.Mode == submodule {
				t.Errorf("%q is a file: %+v", path, file)
			}
		}
	})
}
