package registry

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// CheckVersion says what is wrong with the version that a manifest states;
// empty: nothing.
func CheckVersion(version string) string { return checkVersion(version) }

// OverLimits says what a manifest asks for beyond the limits.
func OverLimits(m *abi.Manifest, limits sandbox.Limits) []string {
	var details []string
	for _, f := range checkLimits("", m, limits) {
		details = append(details, f.Detail)
	}
	return details
}
