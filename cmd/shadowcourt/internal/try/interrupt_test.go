package try

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/host/run/journal"
)

func TestAnInterruptSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	const tried, goesOn = "interrupted; 2 cases were tried and written", "; the same command with --resume"
	for name, tc := range map[string]struct {
		options   tryOptions
		journal   *journal.Journal
		recording *recording
		stopped   bool
		want      string
	}{
		"to a pipe":                  {options: tryOptions{format: "jsonl"}, want: tried},
		"with a journal":             {journal: &journal.Journal{}, want: tried + goesOn + " continues from there"},
		"with a record":              {options: tryOptions{format: "jsonl"}, recording: &recording{}, want: tried + goesOn + " continues from there"},
		"with a record and a report": {options: tryOptions{format: "jsonl", reports: []string{"r.html"}}, recording: &recording{}, want: tried + goesOn + ", and without --report, continues from there"},
		"with a record and a table":  {options: tryOptions{format: "table", output: "table.txt"}, recording: &recording{}, want: tried + goesOn + " and --format jsonl continues from there"},
		"behind a fault":             {options: tryOptions{format: "jsonl"}, recording: &recording{}, stopped: true, want: tried},
		"digests alone":              {options: tryOptions{format: "jsonl", record: recordOptions{digestsOnly: true}}, recording: &recording{}, want: tried},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &tryRun{options: &tc.options, journal: tc.journal, recording: tc.recording, stopped: tc.stopped, tried: 2}
			if got := r.interrupted().Error(); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
