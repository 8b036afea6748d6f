package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"gopkg.in/yaml.v3"
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

// TestAccept_LB5_TheReleaseMakesTheBill runs the command of the release's configuration in a folder of the repository, as goreleaser does
// in dist.
func TestAccept_LB5_TheReleaseMakesTheBill(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		SBOMs []struct {
			Cmd  string   `yaml:"cmd"`
			Args []string `yaml:"args"`
		} `yaml:"sboms"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil || len(config.SBOMs) != 1 {
		t.Fatalf("%v, %+v", err, config)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bill := filepath.Join(t.TempDir(), "bill.json")
	fill := strings.NewReplacer("$artifact", program, "$document", bill)
	var args []string
	for _, arg := range config.SBOMs[0].Args {
		args = append(args, fill.Replace(arg))
	}
	cmd := exec.CommandContext(t.Context(), config.SBOMs[0].Cmd, args...)
	cmd.Dir = filepath.Join("..", "..", "docs")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if data, err := os.ReadFile(bill); err != nil || !bytes.Contains(data, []byte("CycloneDX")) {
		t.Errorf("the bill is %q, %v", data, err)
	}
}
