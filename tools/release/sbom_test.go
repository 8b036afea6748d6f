package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_LB5_TheBillNamesEveryModule runs the command of the release's configuration twice, for this test program.
func TestAccept_LB5_TheBillNamesEveryModule(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml")))(t)
	var config struct {
		SBOMs []struct {
			Args []string `yaml:"args"`
		} `yaml:"sboms"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil || len(config.SBOMs) != 1 || strings.Join(config.SBOMs[0].Args[:2], " ") != "run github.com/shadowcourt/shadowcourt/tools/release" {
		t.Fatalf("%v, %+v", err, config)
	}
	program, err := os.Executable()
	must.Do(t, err)
	var texts [2][]byte
	for i := range texts {
		name := filepath.Join(t.TempDir(), "bill.json")
		var args []string
		for _, arg := range config.SBOMs[0].Args[2:] {
			args = append(args, strings.NewReplacer("$artifact", program, "$document", name).Replace(arg))
		}
		must.Equal(t, run(t.Context(), args, os.Stdout, os.Stderr), 0)
		texts[i] = must.Get(os.ReadFile(name))(t)
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two bills of one program differ")
	}
	var bom cyclonedx.BOM
	must.Do(t, cyclonedx.NewBOMDecoder(bytes.NewReader(texts[0]), cyclonedx.BOMFileFormatJSON).Decode(&bom))
	hashed := 0
	for _, c := range *bom.Components {
		if c.Name == "github.com/CycloneDX/cyclonedx-go" && c.Hashes != nil && strings.HasPrefix(c.PackageURL, "pkg:golang/"+c.Name+"@v") {
			hashed++
		}
	}
	if got := bom.Metadata.Component.Name; got != "github.com/shadowcourt/shadowcourt" || hashed != 1 {
		t.Errorf("the subject is %q, and the library that this program uses stands there %d times with a hash:\n%s", got, hashed, texts[0])
	}
}
