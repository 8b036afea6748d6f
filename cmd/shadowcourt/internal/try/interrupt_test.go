package try

import "testing"

func TestAnInterruptSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	const tried, goesOn = "interrupted; 2 cases were tried and written", "; the same command with --resume"
	recorded := recordOptions{file: "trials.record"}
	for name, tc := range map[string]struct {
		options   tryOptions
		resumable bool
		want      string
	}{
		"to a pipe":                  {tryOptions{format: "jsonl"}, false, tried},
		"with a journal":             {tryOptions{format: "table"}, true, tried + goesOn + " continues from there"},
		"with a record":              {tryOptions{format: "jsonl", record: recorded}, true, tried + goesOn + " continues from there"},
		"with a record and a report": {tryOptions{format: "jsonl", record: recorded, reports: []string{"r.html"}}, true, tried + goesOn + ", and without --report, continues from there"},
		"with a record and a table":  {tryOptions{format: "table", record: recorded, output: "table.txt"}, true, tried + goesOn + " and --format jsonl continues from there"},
		"behind a fault":             {tryOptions{format: "jsonl", record: recorded}, false, tried},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.options.interrupted(2, tc.resumable).Error(); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
