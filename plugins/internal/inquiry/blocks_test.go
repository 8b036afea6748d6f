package inquiry

import "testing"

func TestLinesWithWhichCrashesBegin(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"panic: nil map": true, "\t fatal error: stack": true, "unexpected fault address 0x0": true, "Traceback (most recent call last):": true,
		"Exception in thread \"main\" X": true, "Caused by: X": true, "Segmentation fault (core dumped)": true, "Unhandled exception": true,
		"Uncaught TypeError": true, "SIGSEGV: segmentation violation": true, "thread 'main' panicked at src/lib.rs:1": true,
		"http: panic serving 127.0.0.1": true, "worker panicked: why": true,
		"": false, "  ": false, "SIGSEGV": false, "thread 'main' ended": false, "a panic: no": false, "Unhandled": false, "panicked": false,
	} {
		if crashes(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}
