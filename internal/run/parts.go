package run

import (
	"context"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/record"
)

// parts are all that the results depend on besides the dockets.
func (c *Config) parts(ctx context.Context) ([]record.Part, error) {
	parts, err := c.Host.Configuration(ctx)
	if err != nil {
		return nil, err
	}
	parts = append(parts, c.Settings...)
	if c.Auditor != nil {
		own, err := c.Auditor.Configuration(ctx)
		if err != nil {
			return nil, err
		}
		parts = append(parts, own...)
	}
	if c.Swaps { // each result names the modules that it was made with
		parts = slices.DeleteFunc(parts, isModule)
	}
	return parts, nil
}

func isModule(p record.Part) bool {
	return strings.HasPrefix(p.Name, "module ") || strings.HasPrefix(p.Name, "audit module ")
}
