package gotest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
)

// FuzzRead holds that every case is one that the contract allows, and that every excerpt stands in its log.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"testdata/shop.gotest.json", "testdata/plain_build.gotest.json"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 300)
		f.Add(string(data), 3000)
	}
	f.Add("{\"Action\":\"fail\",\"Package\":\"\xff\"}\n", 1)
	f.Fuzz(func(t *testing.T, stream string, keep int) {
		keep = 1 + (keep&0xffff)%4096
		reader := gotest.Reader{HeadBytes: keep, TailBytes: keep}
		seen := map[string]bool{}
		for entry, err := range reader.Read("run.json", strings.NewReader(stream)) {
			if err != nil {
				continue
			}
			if seen[entry.Case.ID] {
				t.Errorf("case id %q was given before", entry.Case.ID)
			}
			seen[entry.Case.ID] = true
			readers.Check(t, &entry.Case)
		}
	})
}
