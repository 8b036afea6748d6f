package open

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

const (
	// ShippedAudit is the name of the audit's pipeline.
	ShippedAudit = "audit"
	// ShippedAlibi is the name of the pipeline and of the profile of alibis.
	ShippedAlibi = "alibi"
	// ShippedRubric is the name of the rubric for opinions of courts.
	ShippedRubric = "court-opinions"
	// rubricFolder has the shipped rubrics.
	rubricFolder = "rubrics"
)

// ShippedPipeline is the name under which the embedded pipeline can be given in place of a file.
const ShippedPipeline = "defect-court"

// ShippedLight is the embedded Light path, by the same way of naming.
const ShippedLight = "rca-investigation"

// ShippedModels is the embedded pipeline in which every side of the court asks a language model.
const ShippedModels = "llm-court"

// shippedPipelines are the names of the embedded ones.
var shippedPipelines = []string{ShippedPipeline, ShippedAlibi, ShippedLight, ShippedAudit, ShippedModels, "llm-discovery"}

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

const (
	// GoTestProfile is the name of the shipped profile for failures of Go tests.
	GoTestProfile = "go-test"
	// noProfile is what --profile takes in place of a profile.
	noProfile = "none"
	// profileFolder has the shipped profiles.
	profileFolder = "profiles"
)

// loadProfile reads the profile: a file, a shipped one by its name, or none.
func (o *Flags) loadProfile(inputs *run.Dockets) (*abi.Profile, error) {
	name := o.Profile
	if name == "" && inputs.Only(run.GoTest) {
		name = GoTestProfile
	}
	if name == "" && (o.Experiments() || inputs.OfRunners()) {
		return ExperimentProfile()
	}
	return namedProfile(name)
}

// namedProfile reads a file or a shipped profile; none without a name.
func namedProfile(name string) (*abi.Profile, error) {
	if name == "" || name == noProfile {
		return nil, nil //nolint:nilnil // no profile is asked for
	}
	if !strings.ContainsAny(name, `./\`) {
		if p, err := shippedProfile(name); !errors.Is(err, fs.ErrNotExist) {
			return p, err
		}
	}
	profile, err := module.LoadProfile(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, `./\`) {
		return nil, fmt.Errorf("--profile %q is neither a file nor a shipped profile (%s)", name, GoTestProfile)
	}
	return profile, err
}

func shippedProfile(name string) (*abi.Profile, error) {
	file := profileFolder + "/" + name + ".yaml"
	data, err := fs.ReadFile(pipelines.FS, file)
	if err != nil {
		return nil, err
	}
	return module.ParseProfile(file, data)
}

// ExperimentProfile is a profile that says what runs tell, whatever language the tests are in, and how common causes are, and nothing else.
func ExperimentProfile() (*abi.Profile, error) {
	p, err := shippedProfile(GoTestProfile)
	if err != nil {
		return nil, err
	}
	return &abi.Profile{Name: "experiments", BaseRates: p.BaseRates, Outcomes: p.Outcomes}, nil
}

// WarnOfProfile tells what a profile lacks that was made for other cases than those that were tried with it.
func WarnOfProfile(stderr io.Writer, c *module.ProfileCoverage) {
	for _, warning := range c.Warnings() {
		fmt.Fprintf(stderr, "warning: --profile: %s\n", sanitize.Line(warning))
	}
}
