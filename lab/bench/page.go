package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// writePage makes the page of the documentation from the rows of a run.
func writePage(results, page string) error {
	text, err := os.ReadFile(results)
	if err != nil {
		return err
	}
	var rows []Row
	if err := json.Unmarshal(text, &rows); err != nil {
		return fmt.Errorf("%s: %w", results, err)
	}
	return os.WriteFile(page, []byte(pageOf(rows)), 0o644)
}

// title leaves out what the heading or README.md says.
var title = strings.NewReplacer("node call, ", "", "case of go-test-1, ", "", "docket, ", "", "sieve, ", "", "live instances", "live", ", traversals of", ",", " (PSS)", "", " (RSS)", "")

// pageOf is the page: the goals first, then the values of all rows in the order of the run.
func pageOf(rows []Row) string {
	var b strings.Builder
	b.WriteString(`# Performance

` + "`make bench-peers`" + ` makes this page from [results.json](bench/results.json), which has all rows and ratios: one run, everything side by side, two
shared processors. Compare ratios, not times. [How it is measured](bench/README.md), [goals that were given up](../RATIONALE.md#performance-goals).

## Goals

| goal | bound | measured |
| --- | --- | --- |
`)
	list := goals()
	for i := range list {
		g := &list[i]
		v, ok := g.figureOf(rows)
		measured := "not measured"
		if ok {
			measured = figure(v)
			if g.peer != "" {
				measured += "x"
			}
			if !g.reached(v) {
				measured += ", missed"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", g.what, g.bound(), measured)
	}
	last, shown := "", map[string]bool{}
	for _, r := range rows {
		if shown[r.Name] || r.Unit == "bytes" || r.Unit == "items" {
			continue // the same value beside another peer, or what was measured with
		}
		shown[r.Name] = true
		s := section(r.Name)
		if s != last {
			fmt.Fprintf(&b, "\n## %s\n\n", s)
			last = s
		}
		fmt.Fprintf(&b, "- %s: %s %s\n", title.Replace(r.Name), figure(r.Value), title.Replace(r.Unit))
	}
	return b.String()
}
