package runner

import (
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// unmeasured are the sources of a case that name a label and that a profile doesn't know, where it measured others. The host's own
// casebook counts without a measurement.
func unmeasured(c *abi.Case, p *abi.Profile) []string {
	unknown := make(map[string]bool)
	for i := range c.Evidence {
		if key := odds.SourceKey(c.Evidence[i].SourceRef); c.Evidence[i].Supports != "" && odds.Stranger(p, key) {
			unknown[key] = true
		}
	}
	return slices.Sorted(maps.Keys(unknown))
}

// contradictory are the references of items that stand in a case for more than one label.
func contradictory(c *abi.Case) []string {
	type item struct{ source, content string }
	said, twice := make(map[item]string), make(map[string]bool)
	for i := range c.Evidence {
		e := &c.Evidence[i]
		if e.Supports == "" {
			continue
		}
		key := item{e.SourceRef, e.Content}
		if before, ok := said[key]; ok && before != e.Supports {
			twice[e.SourceRef] = true
		}
		said[key] = e.Supports
	}
	return slices.Sorted(maps.Keys(twice))
}
