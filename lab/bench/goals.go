package main

import (
	"cmp"
	"strings"
)

// goal is a figure that the project holds itself to. RATIONALE.md says which ones it missed, and what their floors are.
type goal struct {
	what string
	row  string
	peer string // the ratio to this row counts; the value, where it is empty
	// most or least, whichever is not 0, is the bound.
	most, least float64
}

// goals are those that rows of this program show.
func goals() []goal {
	latency := "direct pristine, latency"
	return []goal{
		{what: "pristine call beside a warm one, C guest", row: callName("C", latency), peer: callName("C", "direct warm, latency"), most: 2.5},
		{what: "pristine call beside a warm one, Go guest", row: callName("Go", latency), peer: callName("Go", "direct warm, latency"), most: 1.25},
		{what: "pristine call beside Extism's, Go guest", row: callName("Go", "direct pristine"), peer: callName("Go", "Extism warm"), most: 1.0 / 2},
		{what: "pristine call beside Extism's, C guest", row: callName("C", "direct pristine"), peer: callName("C", "Extism warm"), most: 1.0 / 7},
		{what: "two-round trial beside native personas", row: "two-round trial" + modules, peer: "two-round trial" + nativePersonas, most: 10},
		{what: "two-round trial beside warm, unmetered modules", row: "two-round trial" + modules, peer: "two-round trial" + warmModules, most: 1.4},
		{what: "plea deal beside native personas", row: "plea deal" + modules, peer: "plea deal" + nativePersonas, most: 7},
		{what: "prepared modules beside whole requests, shipped profile", row: preparedName("shipped profile", false), peer: preparedName("shipped profile", true), most: 0.9},
		{what: "prepared modules beside whole requests, fitted profile", row: preparedName("fitted profile", false), peer: preparedName("fitted profile", true), most: 0.7},
		{what: "fuel on a tight loop, Go guest", row: loopName("Go", "fuel"), peer: loopName("Go", "unmetered"), most: 1.5},
		{what: "fuel on a tight loop, C guest", row: loopName("C", "fuel"), peer: loopName("C", "unmetered"), most: 1.7},
		{what: "fuel beside wazero's interruption, Go guest", row: loopName("Go", "fuel"), peer: loopName("Go", "wazero's interruption"), most: 1.0 / 4},
		{what: "fuel beside wazero's interruption, C guest", row: loopName("C", "fuel"), peer: loopName("C", "wazero's interruption"), most: 1.0 / 7},
		{what: "memory of 1,000 live Go instances, MiB (PSS)", row: crowd{Count: 1000}.name("Go") + ", memory", most: 210},
		{what: "memory of 1,000 prepared ones beside as many live ones", row: crowd{Count: 1000, Prepared: true}.name("Go") + ", memory", peer: crowd{Count: 1000}.name("Go") + ", memory", most: 1.05},
		{what: "two workers beside one", row: docketName(2) + ", throughput", peer: docketName(1) + ", throughput", least: 1.5},
		{what: "memory at the end of a docket beside its start", row: docketName(1) + ", memory late", peer: docketName(1) + ", memory early", most: 1.05},
		{what: "a million merges beside a thousand, for each item", row: mergeName(1_000_000), peer: mergeName(1_000), most: 2.5},
		{what: "steps a second beside LangGraph (Python)", row: graphName(ours, traversals[0].name), peer: graphName("LangGraph (Python)", traversals[0].name), least: 400},
		{what: "steps a second beside LangGraph (JavaScript)", row: graphName(ours, traversals[0].name), peer: graphName("LangGraph (JavaScript)", traversals[0].name), least: 1500},
	}
}

// figureOf finds what a goal is about in the rows.
func (g *goal) figureOf(rows []Row) (float64, bool) {
	for _, r := range rows {
		if r.Name != g.row {
			continue
		}
		if g.peer == "" {
			return r.Value, true
		}
		if r.Peer != nil && *r.Peer == g.peer {
			return *r.Ratio, true
		}
	}
	return 0, false
}

func (g *goal) reached(v float64) bool {
	if g.most != 0 {
		return v <= g.most
	}
	return v >= g.least
}

func (g *goal) bound() string {
	sign, times := "≤", ""
	if g.most == 0 {
		sign = "≥"
	}
	if g.peer != "" {
		times = "x"
	}
	return sign + figure(cmp.Or(g.most, g.least)) + times
}

// section is what a row's table is called: its name's beginning.
func section(name string) string {
	head, _, _ := strings.Cut(name, ",")
	switch {
	case strings.HasPrefix(name, "node call"):
		return "A node call"
	case strings.HasPrefix(name, "two-round trial"), strings.HasPrefix(name, "plea deal"):
		return "A whole trial"
	case strings.HasPrefix(name, "case of go-test-1"):
		return "Prepared modules"
	case strings.HasPrefix(name, "Shadowcourt"), strings.HasPrefix(name, "LangGraph"):
		return "Steps through a graph"
	case strings.HasPrefix(name, "sieve"):
		return "Fuel in a sieve"
	case strings.HasPrefix(name, "merge_evidences"), strings.HasPrefix(name, "plain list"):
		return "Merging evidence"
	case strings.Contains(name, "live instances"):
		return "Live instances"
	case strings.HasPrefix(name, "docket"):
		return "A docket"
	}
	return head
}
