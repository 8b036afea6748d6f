package casebook

import "testing"

func TestNormalLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"plain words stay", "connection refused by peer", "connection refused by peer"},
		{"pointer and offset", "main.go:12 +0x1f2 at 0xc0000d6550", "main.go:# at #"},
		{"frame arguments", "p.F(0xc0000d6550, {0x668f10, 0x80a3c0}, 0x1)", "p.F(#, {#}, #)"},
		{"goroutine", "goroutine 17 [running]:", "goroutine # [running]:"},
		{"duration", "--- FAIL: TestX (1m3.25s)", "--- FAIL: TestX (#)"},
		{"duration in words", "took 12 seconds, then 300ms", "took #, then #"},
		{"RFC 3339", "2026-01-02T03:04:05.678+01:00 down", "# down"},
		{"RFC 1123", "Mon, 02 Jan 2006 15:04:05 GMT down", "# down"},
		{"ANSI C", "at Mon Jan  2 15:04:05 2006: down", "at #: down"},
		{"clock with meridiem", "at 3:04:05 PM down", "at # down"},
		{"UUID", "job 6ba7b810-9dad-11d1-80b4-00c04fd430c8 lost", "job # lost"},
		{"hash", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 bad", "commit # bad"},
		{"address and port", "dial tcp 127.0.0.1:43211: refused", "dial tcp #: refused"},
		{"IPv6 and port", "dial tcp [::1]:8080: refused", "dial tcp #: refused"},
		{"IPv6", "route fe80::1ff:fe23:4567:890a down", "route # down"},
		{"namespaces are no address", "std::vector ad::be::x", "std::vector ad::be::x"},
		{"temporary folder", "open /tmp/TestX3826/001/cfg.yaml: gone", "open <tmp>/cfg.yaml: gone"},
		{"temporary file", "open /tmp/tmpa81xk: gone", "open <tmp>: gone"},
		{"macOS temporary folder", "open /var/folders/zz/zyx_9/T/TestX3826/001/cfg.yaml: gone", "open <tmp>/cfg.yaml: gone"},
		{"Windows temporary folder", `open C:\Users\ann\AppData\Local\Temp\TestX38\001\cfg.yaml: gone`, "open <tmp>/cfg.yaml: gone"},
		{"home", "/home/ann/src/proj/pkg/a_test.go:12: no", "<home>/pkg/a_test.go:#: no"},
		{"home of a runner", "/Users/runner/work/proj/proj/pkg/a_test.go:9: no", "<home>/pkg/a_test.go:#: no"},
		{"Windows home", `C:\Users\ann\proj\pkg\a.py:3: no`, "<home>/pkg/a.py:#: no"},
		{"negative numbers", "got -3, want 4", "got #, want #"},
		{"scientific", "off by 1.5e-05 percent", "off by # percent"},
		{"list", "got [1 2 3]", "got [#]"},
		{"widths are names", "int64 is not int32, sha256", "int64 is not int32, sha256"},
		{"counters in names", "worker12 and worker-7 died", "worker# and worker-# died"},
		{"drawn identifiers", "pod web-7f9c6d5b4-x2x5z lost", "pod web-# lost"},
		{"white space", "a\t\tb   c", "a b c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := normalLine(tt.in); got != tt.want {
				t.Errorf("normalLine(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}
