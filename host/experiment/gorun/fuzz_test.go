package gorun

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/host/experiment/runner"
)

// FuzzReadStream: whatever a test writes, it came out in one of the known ways, and only a failure has a log.
func FuzzReadStream(f *testing.F) {
	f.Add(`{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: got 1\n"}` +
		"\n" + `{"Action":"fail","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"p"}`)
	f.Add(`{"Action":"pass","Package":"p","Test":"TestA"}`)
	f.Fuzz(func(t *testing.T, stream string) {
		kind, log := readStream("p", "TestA", []byte(stream))
		switch kind {
		case runner.Passed, runner.Skipped, runner.Absent, runner.Ended:
			if log != "" {
				t.Errorf("%s with the log %q", kind, log)
			}
		case runner.Failed:
		default:
			t.Errorf("it came out as %q", kind)
		}
	})
}
