package playwright_test

import (
	"os"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/playwright"
)

// FuzzRead holds that every case is one that the contract allows, and that every excerpt stands in its document.
func FuzzRead(f *testing.F) {
	f.Add(`{"suites":[{"title":"a","file":"a","specs":[{"title":"b","tests":[{"status":"unexpected","results":[{"status":"failed"}]}]}]}]}`, 300)
	for _, name := range reports(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 300)
	}
	f.Fuzz(func(t *testing.T, report string, keep int) {
		keep = 1 + (keep&0xffff)%4096
		readers.CheckAll(t, &playwright.Reader{HeadBytes: keep, TailBytes: keep}, report)
	})
}
