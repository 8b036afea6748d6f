package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
)

// TestAccept_LB5_TheBillNamesEveryModule states what this test program is made of.
func TestAccept_LB5_TheBillNamesEveryModule(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var texts [2][]byte
	for i := range texts {
		name := filepath.Join(t.TempDir(), "bill.json")
		if err := run([]string{program, name}); err != nil {
			t.Fatal(err)
		}
		if texts[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two bills of one program differ")
	}
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(texts[0]), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if got := bom.Metadata.Component.Name; got != "github.com/shadowcourt/shadowcourt" {
		t.Errorf("the subject is %q", got)
	}
	hashed := 0
	for _, c := range *bom.Components {
		if c.Name == "github.com/CycloneDX/cyclonedx-go" && c.Hashes != nil && strings.HasPrefix(c.PackageURL, "pkg:golang/"+c.Name+"@v") {
			hashed++
		}
	}
	if hashed != 1 {
		t.Errorf("the library that this program uses stands there %d times with a hash:\n%s", hashed, texts[0])
	}
}

func TestWrongArgumentsAreNamed(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"expected PROGRAM and FILE": {"one"},
		"main.go":                   {"main.go", filepath.Join(t.TempDir(), "x")},
	} {
		if err := run(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
