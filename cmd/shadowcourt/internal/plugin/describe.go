package plugin

import (
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// grantsOf says of each capability that a module asks for which pipelines
// would grant it: the shipped ones, or the one that is named.
func grantsOf(info *module.Info, file string) (map[abi.Capability][]string, error) {
	if info.Manifest == nil {
		return map[abi.Capability][]string{}, nil
	}
	files := []string{pipelines.DefectCourt, pipelines.RCAInvestigation}
	var defs []*pipeline.Definition
	if file != "" {
		def, err := open.Pipeline(file)
		if err != nil {
			return nil, err
		}
		defs, files = append(defs, def), nil
	}
	for _, name := range files {
		def, err := pipeline.LoadFS(pipelines.FS, name)
		if err != nil {
			return nil, err
		}
		defs = append(defs, def)
	}
	return module.Granted(info.Manifest.Name, info.Manifest.Capabilities, defs...), nil
}

// grantLine tells the grants to people.
func grantLine(asked []abi.Capability, granted map[abi.Capability][]string) string {
	var parts []string
	for _, capability := range asked {
		if by := granted[capability]; len(by) > 0 {
			parts = append(parts, string(capability)+" (by "+strings.Join(by, ", ")+")")
		} else {
			parts = append(parts, string(capability)+" by nobody: `grants: ["+string(capability)+"]` of its persona would")
		}
	}
	return sanitize.Line(strings.Join(parts, "; "))
}

func printDescribed(s cli.Streams, list []module.Description) {
	fmt.Fprintln(s.Out, "\nasked, with nothing granted")
	for _, d := range list {
		fmt.Fprintf(s.Out, "  %-26s %-9s %s\n", d.Asked, d.Outcome, sanitize.Line(d.Detail))
	}
}
