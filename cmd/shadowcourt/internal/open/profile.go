package open

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/internal/input"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

const (
	// GoTestProfile is the name of the shipped profile for failures of Go tests.
	GoTestProfile = "go-test"
	// noProfile is what --profile takes in place of a profile.
	noProfile = "none"
	// profileFolder has the shipped profiles.
	profileFolder = "profiles"
)

// loadProfile reads the profile: a file, a shipped one by its name, or none.
func (o *Flags) loadProfile(inputs *input.Dockets) (*abi.Profile, error) {
	name := o.Profile
	if name == "" && inputs.Only(input.GoTest) {
		name = GoTestProfile
	}
	if name == "" && (o.Experiments() || inputs.Only(input.JUnit)) {
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
	profile, err := profile.Load(name)
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
	return profile.Parse(file, data)
}

// ExperimentProfile is a profile that says what outcomes of experiments tell, whatever language the tests are in, and nothing else.
func ExperimentProfile() (*abi.Profile, error) {
	p, err := shippedProfile(GoTestProfile)
	if err != nil {
		return nil, err
	}
	return &abi.Profile{Name: "experiments", Experiments: p.Experiments, Causes: p.Causes}, nil
}

// WarnOfProfile tells what a profile lacks that was made for other cases than those that were tried with it.
func WarnOfProfile(stderr io.Writer, c *profile.Coverage) {
	for _, warning := range c.Warnings() {
		fmt.Fprintf(stderr, "warning: --profile: %s\n", sanitize.Line(warning))
	}
}
