package pipeline_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

func TestAccept_DI1_ReferencesInPipelines(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(pipelines.FS, pipelines.DefectCourt)
	if err != nil {
		t.Fatal(err)
	}
	const pin = "@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	for _, c := range []struct{ module, fault, warning string }{
		{module: "oci://registry.example/judges/specter" + pin},
		{module: "oci://localhost:5000/specter:v1.2.3" + pin},
		{module: "oci://[::1]:5000/a/b/specter" + pin},
		{module: "oci-layout:../judges:v1" + pin},
		{module: "oci://registry.example/judges/specter:v1", warning: "[unpinned]"},
		{module: "oci://registry.example/judges/specter", fault: "[bad_reference]"},
		{module: "oci://registry.example:v1", fault: "[bad_reference]"},
		{module: "oci://registry.example/a/../b:v1/c", fault: "[bad_reference]"},
		{module: "oci://registry.example/judges/Specter:v1", fault: "[bad_reference]"},
		{module: "oci://user:password@registry.example/judges/specter:v1", fault: "[bad_reference]"},
		{module: "oci://registry.example/specter@sha256:11", fault: "[bad_reference]"},
		{module: "https://registry.example/specter:v1", fault: "[bad_reference]"},
		{module: "oci//registry.example/specter:v1", fault: "[bad_reference]"},
		{module: "oci-layout:judges", fault: "[bad_reference]"},
		{module: "oci://registry.example/" + strings.Repeat("a/", 600) + "b:v1", fault: "[bad_reference]"},
	} {
		def, err := pipeline.Parse("court.yaml", []byte(strings.Replace(string(text), "module: specter\n", "module: \""+c.module+"\"\n", 1)))
		if (err != nil) != (c.fault != "") || err != nil && (!strings.Contains(err.Error(), c.fault) || !strings.HasPrefix(err.Error(), "court.yaml:64:")) {
			t.Errorf("%s: %v, want %q", c.module, err, c.fault)
			continue
		}
		if err != nil {
			continue
		}
		if warnings := pipeline.Lint(def); (len(warnings) > 0) != (c.warning != "") || len(warnings) > 0 && !strings.Contains(warnings.Error(), c.warning) {
			t.Errorf("%s: %v, want %q", c.module, warnings, c.warning)
		}
		if file := pipeline.ModuleFile(c.module); !fs.ValidPath(file) || strings.Contains(file, "/") || !strings.HasSuffix(file, ".oci") {
			t.Errorf("%s: %s", c.module, file)
		}
	}
	if pipeline.IsReference("specter") || pipeline.ModuleFile("specter") != "specter.wasm" {
		t.Error("a name is taken for a reference")
	}
}
