package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzSeal: whatever a seal holds, a file of the entry is kept only if the seal
// has a line with its digest and name.
func FuzzSeal(f *testing.F) {
	const name, content = "rewritten", "content"
	sum := sha256.Sum256([]byte(content))
	line := hex.EncodeToString(sum[:]) + " " + name
	for _, seal := range []string{line + "\n", line, line + "\n" + strings.Repeat("0", 64) + " " + name, "nonsense", " ", "0 ../../" + name, ""} {
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
		err := entry.verify(time.Now())
		_, missing := os.Stat(path)
		vouched := slices.ContainsFunc(strings.Split(string(seal), "\n"), func(l string) bool { return strings.TrimSuffix(l, "\r") == line })
		switch kept := missing == nil; {
		case kept && (!vouched || err != nil || !slices.Equal(entry.verified, []string{name})):
			t.Fatalf("kept: %v, verified: %q", err, entry.verified)
		case !kept && (err == nil || len(entry.verified) > 0):
			t.Fatalf("removed: %v, verified: %q", err, entry.verified)
		}
	})
}
