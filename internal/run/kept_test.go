package run

import "testing"

func TestARecordIsKeptToBeResumedUnlessItCannotBe(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		run  Run
		want string
	}{
		"no record":          {Run{}, ""},
		"a record":           {Run{record: &recording{done: 2}}, "trials.record"},
		"digests alone":      {Run{record: &recording{done: 2}, config: Config{Record: Record{DigestsOnly: true}}}, ""},
		"a case that failed": {Run{record: &recording{done: 2}, failedCase: true}, ""},
	} {
		tc.run.config.Record.File = "trials.record"
		if file, results := tc.run.Kept(); file != tc.want || file != "" && results != 2 {
			t.Errorf("%s: %q with %d results", name, file, results)
		}
	}
}
