package open

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

const (
	// ShippedAudit is the name of the audit's pipeline.
	ShippedAudit = "audit"
	// ShippedRubric is the name of the rubric for opinions of courts.
	ShippedRubric = "court-opinions"
	// rubricFolder has the shipped rubrics.
	rubricFolder = "rubrics"
)

// ShippedPipeline is the name under which the embedded pipeline can be given
// in place of a file.
const ShippedPipeline = "defect-court"

// ShippedLight is the embedded Light path, by the same way of naming.
const ShippedLight = "rca-investigation"

// ShippedModels is the embedded pipeline in which every side of the court asks a language model.
const ShippedModels = "llm-court"

// shippedPipelines are the names of the embedded ones.
var shippedPipelines = []string{ShippedPipeline, ShippedLight, ShippedAudit, ShippedModels, "llm-discovery"}

// IsShipped says whether a name is that of an embedded pipeline.
func IsShipped(name string) bool { return slices.Contains(shippedPipelines, name) }

// PipelineFile is the file of --pipeline; none where the pipeline is a shipped one.
func PipelineFile(name string) cli.NamedFile { return definitionFile("--pipeline", "", name) }

// Pipeline reads a pipeline file, or the embedded one by its name.
func Pipeline(path string) (*pipeline.Definition, error) {
	if IsShipped(path) {
		def, err := pipeline.LoadFS(pipelines.FS, path+".yaml")
		if err != nil {
			return nil, fmt.Errorf("the shipped pipeline: %w", err)
		}
		return def, nil
	}
	if !strings.ContainsAny(path, `./\`) && !disk.Exists(path) {
		return nil, cli.InputError(fmt.Errorf("%q is neither a file nor a shipped pipeline (%s)", path, strings.Join(shippedPipelines, ", ")))
	}
	def, err := pipeline.Load(path)
	return def, cli.InputError(err)
}

// RubricFile is the file of --rubric; none where the rubric is a shipped one.
func RubricFile(name string) cli.NamedFile { return definitionFile("--rubric", rubricFolder, name) }

// Rubric reads a rubric file, or a shipped one by its name.
func Rubric(name string) (*audit.Rubric, error) {
	if !strings.ContainsAny(name, `./\`) {
		r, err := audit.LoadFS(pipelines.FS, rubricFolder+"/"+name+".yaml")
		if err == nil {
			return r, nil
		}
		if _, statErr := fs.Stat(pipelines.FS, rubricFolder+"/"+name+".yaml"); statErr == nil {
			return nil, err
		}
		if !disk.Exists(name) {
			return nil, fmt.Errorf("--rubric %q is neither a file nor a shipped rubric (%s)", name, ShippedRubric)
		}
	}
	return audit.Load(name)
}
