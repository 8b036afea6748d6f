package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// FuzzSeal: whatever a seal holds, an entry is kept only if the seal has the checksums and names of its files, and no others.
func FuzzSeal(f *testing.F) {
	const name, content = "rewritten", "content"
	line := fmt.Sprintf("%016x %s", xxhash.Sum64String(content), name)
	for _, seal := range []string{line + "\n", line, line + "\n" + strings.Repeat("0", 16) + " " + name, "nonsense", " ", "0 ../../" + name, ""} {
		f.Add([]byte(seal))
	}
	f.Fuzz(func(t *testing.T, seal []byte) {
		entry := &cacheEntry{dir: filepath.Join(t.TempDir(), "entry")}
		if err := os.Mkdir(entry.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(entry.dir, name)
		for path, data := range map[string][]byte{path: []byte(content), filepath.Join(entry.dir, sealName): seal} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		files, err := entry.verify()
		_, missing := os.Stat(path)
		vouched := true // by every line
		for l := range strings.Lines(string(seal)) {
			vouched = vouched && strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r") == line
		}
		switch kept := missing == nil; {
		case kept && (!vouched || len(seal) == 0 || err != nil || !slices.Equal(files, []string{name})):
			t.Fatalf("kept: %v, verified: %q", err, files)
		case !kept && (err == nil || len(files) > 0):
			t.Fatalf("removed: %v, verified: %q", err, files)
		}
	})
}
