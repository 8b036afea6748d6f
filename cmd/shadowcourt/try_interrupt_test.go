package main

import "testing"

func TestAnInterruptSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	const tried, goesOn = "interrupted; 2 cases were tried and written", "; the same command with --resume"
	results := &resumption{path: "results.jsonl"}
	for name, tc := range map[string]struct {
		options tryOptions
		resumed *resumption
		want    string
	}{
		"to a pipe":      {tryOptions{format: "jsonl"}, &resumption{}, tried},
		"to a file":      {tryOptions{}, results, tried + goesOn + " goes on from there"},
		"with a report":  {tryOptions{reports: []string{"r.html"}}, results, tried + goesOn + ", and without --report, goes on from there"},
		"behind a fault": {tryOptions{}, &resumption{path: "results.jsonl", tally: tally{stopped: true}}, tried},
		"with a record":  {tryOptions{format: "jsonl", record: recordOptions{file: "r"}}, &resumption{}, tried + goesOn + " goes on from there"},
		"digests alone":  {tryOptions{format: "jsonl", record: recordOptions{file: "r", digestsOnly: true}}, &resumption{}, tried},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &tryRun{options: &tc.options, resumed: tc.resumed, tried: 2}
			if got := r.interrupted().Error(); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
