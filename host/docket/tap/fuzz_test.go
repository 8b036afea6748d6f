package tap_test

import (
	"os"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/tap"
)

// FuzzRead holds that every case is one that the contract allows, and that every excerpt stands in its document.
func FuzzRead(f *testing.F) {
	for _, name := range streams(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 300)
	}
	f.Add("not ok\n  ---\n  error: \"a\n\nb\"\n  at:\n    line: 3\n", 1)
	f.Fuzz(func(t *testing.T, stream string, keep int) {
		keep = 1 + (keep&0xffff)%4096
		reader := tap.Reader{HeadBytes: keep, TailBytes: keep, MaxLineBytes: 1 << 12}
		readers.CheckAll(t, &reader, stream)
	})
}
