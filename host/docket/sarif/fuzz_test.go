package sarif_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/sarif"
)

// FuzzRead holds that every case is one that the contract allows, and that every excerpt stands in its document.
func FuzzRead(f *testing.F) {
	logs, _ := filepath.Glob("testdata/*.sarif")
	for _, name := range logs {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 0)
	}
	f.Add(log(result(`,"rank":7,"kind":"open"`), tool), 1)
	f.Add(log(`{"ruleIndex":0,"message":{"id":"a","arguments":["{0}"]},"stacks":[{"frames":[{"location":{}},{"location":{"message":{"text":"x"}}}]}]}`,
		`"tool":{"driver":{"rules":[{"id":"a/b","messageStrings":{"a":{"text":"{0}{{}}"}}}]}}`, `"artifacts":[null,{"location":{"uri":"file:%zz"}}]`), 300)
	f.Fuzz(func(t *testing.T, text string, held int) {
		for _, truth := range []bool{false, true} {
			seen := map[string]bool{}
			for entry, err := range (&sarif.Reader{HeldBytes: held, Truth: truth}).Read("x.sarif", strings.NewReader(text)) {
				if err != nil {
					_ = err.Error()
					continue
				}
				if seen[entry.Case.ID] {
					t.Errorf("case id %q was given before", entry.Case.ID)
				}
				seen[entry.Case.ID] = true
				readers.Check(t, &entry.Case)
			}
		}
	})
}
