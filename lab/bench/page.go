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

// pageOf is the page: the goals first, then all rows in the order of the run.
func pageOf(rows []Row) string {
	var b strings.Builder
	b.WriteString(`# Performance

Made by ` + "`make bench-peers`" + ` from [results.json](bench/results.json): one run, everything side by side, two
shared processors. Ratios travel between machines better than times. [README.md](bench/README.md) says how it is measured,
and [RATIONALE.md](../RATIONALE.md) why goals are missed, and what the floor is.

## Goals

| goal | bound | measured | |
| --- | --- | --- | --- |
`)
	list := goals()
	for i := range list {
		g := &list[i]
		v, ok := g.figureOf(rows)
		measured, verdict := "not measured", ""
		if ok {
			measured, verdict = figure(v), "missed"
			if g.peer != "" {
				measured += "x"
			}
			if g.reached(v) {
				verdict = "reached"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", g.what, g.bound(), measured, verdict)
	}
	last := ""
	for _, r := range rows {
		if s := section(r.Name); s != last {
			fmt.Fprintf(&b, "\n## %s\n\n| what | value | unit | ratio | of |\n| --- | ---: | --- | ---: | --- |\n", s)
			last = s
		}
		ratio, peer := "", ""
		if r.Ratio != nil {
			ratio, peer = figure(*r.Ratio), *r.Peer
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.Name, figure(r.Value), r.Unit, ratio, peer)
	}
	return b.String()
}
