package main

import (
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// answers are what scripts compare of the results in a file, by the case's id.
type answer struct {
	ID    string   `json:"id"`
	Light answered `json:"light"`
	Final answered `json:"final"`
}

type answered struct {
	Classification string  `json:"classification"` // empty for null
	Confidence     float64 `json:"confidence"`
}

func answersIn(ts *testscript.TestScript, file string) []answer {
	var all []answer
	for line := range strings.Lines(ts.ReadFile(file)) {
		var a answer
		ts.Check(json.Unmarshal([]byte(line), &a))
		all = append(all, a)
	}
	if len(all) == 0 {
		ts.Fatalf("%s has no results", file)
	}
	return all
}

// surer says whether Light is surer of a label in the second file than in the
// first, in every case: it comes to name it, or names it with more confidence.
func surer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: surer LABEL WITHOUT WITH")
	}
	without, with := answersIn(ts, args[1]), answersIn(ts, args[2])
	for i := range with {
		before, after := without[i].Light, with[i].Light
		if after.Classification != args[0] || before.Classification == args[0] && after.Confidence <= before.Confidence {
			ts.Fatalf("%s: %+v, and before %+v", with[i].ID, after, before)
		}
	}
}

// unsurer says whether no verdict of the second file is surer than that of the
// first, in which every case got one.
func unsurer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unsurer FIRST LATER")
	}
	first, later := answersIn(ts, args[0]), answersIn(ts, args[1])
	for i := range later {
		was, is := first[i].Final, later[i].Final
		if was.Classification == "" || is.Classification != was.Classification || is.Confidence > was.Confidence {
			ts.Fatalf("%s: %+v, and before %+v", later[i].ID, is, was)
		}
	}
}
