package open

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/host/run/input"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// goTestProfile is the shipped profile for failures of Go tests.
const goTestProfile = "go-test"

// loadProfile reads the profile: a file, a shipped one by its name, or none.
func (o *Flags) loadProfile(inputs *input.Dockets) (*abi.Profile, error) {
	name := o.Profile
	if name == "" && inputs.Only(input.GoTest) {
		name = goTestProfile
	}
	if name == "" || name == "none" {
		return nil, nil //nolint:nilnil // no profile is asked for
	}
	if !strings.ContainsAny(name, `./\`) {
		file := "profiles/" + name + ".yaml"
		if data, err := fs.ReadFile(pipelines.FS, file); err == nil {
			return profile.Parse(file, data)
		}
	}
	profile, err := profile.Load(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, `./\`) {
		return nil, fmt.Errorf("--profile %q is neither a file nor a shipped profile (%s)", name, goTestProfile)
	}
	return profile, err
}
