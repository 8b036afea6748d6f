package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
)

// What plugin check rejects of the lists of a manifest, loading and the check of a pipeline reject, too.
func TestListsOfAManifestThatContradictThemselves(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*abi.Manifest)
		want   string
	}{
		"a family twice":       {func(m *abi.Manifest) { m.Families = append(m.Families, abi.FamilyVerdict) }, "its `families` name \"verdict\" twice"},
		"a call twice":         {func(m *abi.Manifest) { m.Calls = append(m.Calls, abi.CallNode) }, "its `calls` name \"node\" twice"},
		"an edge twice":        {func(m *abi.Manifest) { m.Edges = []string{"a", "b", "a"} }, "its `edges` name \"a\" twice"},
		"a criterion twice":    {func(m *abi.Manifest) { m.Criteria = []string{"c", "c"} }, "its `criteria` name \"c\" twice"},
		"a capability twice":   {func(m *abi.Manifest) { m.Capabilities = []abi.Capability{abi.CapLog, abi.CapLog} }, "its `capabilities` name \"log\" twice"},
		"edges without calls":  {func(m *abi.Manifest) { m.Edges = []string{"a"} }, "its `edges` are not empty, and it promises no edges calls"},
		"a family of the host": {func(m *abi.Manifest) { m.Families = append(m.Families, abi.FamilySynthesize) }, "its `families` name synthesize"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := both(1)
			files["second"] = saying(1, tc.change)
			for how, err := range map[string]error{
				"load": open(t).Install(t.Context(), files, needs(), nil), "check": registry.Check(files, needs()),
			} {
				rejected, ok := errors.AsType[*registry.RejectedError](err)
				if !ok || !rejected.Has(registry.FaultManifest) || !strings.Contains(err.Error(), "second: "+tc.want) {
					t.Errorf("%s: %v, want %s", how, err, tc.want)
				}
			}
		})
	}
}
