package dotnet_test

import (
	"os"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/dotnet"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
)

// FuzzRead holds that every case is one that the contract allows, and that every excerpt stands in its document.
func FuzzRead(f *testing.F) {
	for _, name := range reports(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 300)
	}
	f.Fuzz(func(t *testing.T, report string, keep int) {
		keep = 1 + (keep&0xffff)%4096
		reader := dotnet.Reader{HeadBytes: keep, TailBytes: keep, HeldBytes: 1 + keep}
		readers.CheckAll(t, &reader, report)
	})
}
