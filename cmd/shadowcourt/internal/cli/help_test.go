package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryFlagIsInOneGroup(t *testing.T) {
	t.Parallel()
	var all []string
	for _, g := range flagGroups {
		all = append(all, strings.Fields(g.flags)...)
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(all))); len(unique) != len(all) {
		t.Error("a flag is in two groups")
	}
}
