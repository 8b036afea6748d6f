package inquiry

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
)

// Roles say which labels of a case mean what. A role that no label has is empty.
type Roles struct {
	Product, Automation, Infrastructure, Flake string
}

// RolesOf reads the roles from a node's parameters `product`, `automation`,
// `infrastructure` and `flake`; what is no label of the case is left empty.
func RolesOf(r *abi.NodeRequest) Roles {
	role := func(name string) string {
		label := params.Text(r.Params, name, "")
		if !slices.Contains(r.Case.Labels, label) {
			return ""
		}
		return label
	}
	return Roles{role("product"), role("automation"), role("infrastructure"), role("flake")}
}

// Category is the symptom that a label stands for.
func (r Roles) Category(label string) abi.SymptomCategory {
	switch label {
	case "":
	case r.Product:
		return abi.SymptomProduct
	case r.Automation:
		return abi.SymptomAutomation
	case r.Infrastructure:
		return abi.SymptomInfrastructure
	case r.Flake:
		return abi.SymptomFlake
	}
	return abi.SymptomUnknown
}

// of is the label that a kind of file speaks for.
func (r Roles) of(kind abi.SourceKind) string {
	switch kind {
	case abi.SourceProduct:
		return r.Product
	case abi.SourceTest, abi.SourceFixture:
		return r.Automation
	default:
		return ""
	}
}
