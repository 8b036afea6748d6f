package light

import (
	"fmt"
	"log/slog"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// The defaults of a Config.
const (
	// DefaultLoops is how often one pass may take an edge that goes back.
	DefaultLoops = 2
	// DefaultMaxSteps is how many nodes one pass may visit.
	DefaultMaxSteps = 100
)

// Config is what a Path needs besides its graph. The zero value is useful.
type Config struct {
	// Profile handed to the personas. Optional.
	Profile *abi.Profile
	// Logger gets one record for each rejected artifact. Default: none.
	Logger *slog.Logger
}

// Path is a Light path over one graph. It is read-only: concurrent passes are safe.
type Path struct {
	graph  *pipeline.Graph
	again  *pipeline.Node // where a case begins that came back
	domain invoker.Domain
	log    *slog.Logger
}

// New makes a Path. It fails when the graph has a node that a Light path
// cannot traverse.
func New(graph *pipeline.Graph, config Config) (*Path, error) {
	p := &Path{graph: graph, again: graph.Start(), domain: invoker.NewDomain(config.Profile), log: config.Logger}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	def := graph.Definition()
	found := false
	for i := range def.Nodes {
		n := &def.Nodes[i]
		if _, ok := element(abi.Family(n.Family)); !ok {
			return nil, fmt.Errorf("node %q: a Light path has no node of the family %q", n.Name, n.Family)
		}
		if len(n.Personas) != 1 {
			return nil, fmt.Errorf("node %q: family %q has one persona, not %d", n.Name, n.Family, len(n.Personas))
		}
		if abi.Family(n.Family) == abi.FamilyResolve && !found {
			p.again, found = n, true
		}
	}
	return p, nil
}

// element is that of the evidence of a family's nodes, where the pipeline
// names none; false for families that are none of a Light path.
func element(family abi.Family) (abi.Element, bool) {
	switch family {
	case abi.FamilyRecall, abi.FamilyTriage:
		return abi.Fire, true
	case abi.FamilyResolve:
		return abi.Earth, true
	case abi.FamilyInvestigate:
		return abi.Water, true
	case abi.FamilyCorrelate, abi.FamilyReport:
		return abi.Air, true
	case abi.FamilyReview:
		return abi.Diamond, true
	default:
		return "", false
	}
}

func elementOf(n *pipeline.Node) abi.Element {
	if n.Element != "" {
		return abi.Element(n.Element)
	}
	e, _ := element(abi.Family(n.Family))
	return e
}
