package mine

import (
	"context"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// Planters are what plants.
func Planters() map[string]history.Planter { return nil }

func (m *Miner) plants(context.Context) error { return nil }
