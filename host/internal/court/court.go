package court

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Grace is how long the clerk may take after the TTL, so that a verdict that
// has been given can still be carried out.
const Grace = 500 * time.Millisecond

// Config is what a Court needs besides its graph.
type Config struct {
	// Limits of the court; the pipeline's own, if nil.
	Limits *abi.CourtConfig
	// Profile handed to the personas. Optional.
	Profile *abi.Profile
	// Logger gets one record for each rejected artifact. Default: none.
	Logger *slog.Logger
	// Now is the clock that the TTL is measured with. Required.
	Now func() time.Time
}

// Court tries cases over one graph. It is read-only: concurrent trials are safe.
type Court struct {
	graph    *pipeline.Graph
	personas []*pipeline.Persona
	defense  *pipeline.Persona
	limits   abi.CourtConfig
	domain   invoker.Domain
	log      *slog.Logger
	now      func() time.Time
}

// New makes a Court. It fails when the graph has a node that a court cannot hold.
func New(graph *pipeline.Graph, config Config) (*Court, error) {
	def := graph.Definition()
	c := &Court{
		graph: graph, personas: courtPersonas(def), domain: invoker.NewDomain(config.Profile),
		log: config.Logger, now: config.Now, limits: LimitsOf(&def.Court),
	}
	if config.Limits != nil {
		c.limits = *config.Limits
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	for _, p := range c.personas {
		if p.Role == pipeline.RoleDefense {
			c.defense = p
			break
		}
	}
	for i := range def.Nodes {
		if err := c.checkNode(&def.Nodes[i]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Limits gives the limits in force.
func (c *Court) Limits() abi.CourtConfig { return c.limits }

func (c *Court) checkNode(n *pipeline.Node) error {
	switch abi.Family(n.Family) {
	case abi.FamilyIndict, abi.FamilyDiscover, abi.FamilyVerdict:
	case abi.FamilyDefend:
		if c.defense == nil {
			return fmt.Errorf("node %q: no persona of the pipeline is the defense", n.Name)
		}
	case abi.FamilyHearing:
		if len(n.Personas) != 3 {
			return fmt.Errorf("node %q: a hearing has three personas, not %d", n.Name, len(n.Personas))
		}
		return nil
	default:
		return fmt.Errorf("node %q: a court holds no node of the family %q", n.Name, n.Family)
	}
	if len(n.Personas) != 1 {
		return fmt.Errorf("node %q: family %q has one persona, not %d", n.Name, n.Family, len(n.Personas))
	}
	return nil
}

// LimitsOf are the limits of a pipeline as the contract has them.
func LimitsOf(c *pipeline.Court) abi.CourtConfig {
	return abi.CourtConfig{
		Enabled: c.Enabled, TTL: int64(c.TTL), MaxHandoffs: c.MaxHandoffs, MaxRemands: c.MaxRemands,
		ActivationThreshold: c.ActivationThreshold, RejectionThreshold: c.RejectionThreshold, MaxRounds: c.MaxRounds,
	}
}
