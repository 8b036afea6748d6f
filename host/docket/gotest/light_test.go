package gotest_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

func TestLight(t *testing.T) {
	t.Parallel()
	const (
		frames  = "\ngoroutine 7 [running]:\ntesting.tRunner(0x1)\n\t/usr/local/go/src/testing/testing.go:1 +0x1\n"
		product = "example.com/shop/a.(*T).Do(...)\n\t/src/a.go:3\n"
		test    = "example.com/shop/a.TestX(0x1)\n\t/src/a_test.go:3 +0x2\n"
	)
	tests := []struct {
		name, log, label string
		confidence       float64
	}{
		{"permission", "    a_test.go:3: open x: permission denied\n", "si001", 0.78},
		{"no binary", `    a_test.go:3: exec: "git": executable file not found in $PATH`, "si001", 0.78},
		{"killed", "signal: killed\n", "si001", 0.78},
		{"the environment before a timeout", "panic: test timed out after 1s\ndial: connection refused\n", "si001", 0.78},
		{"race", "==================\nWARNING: DATA RACE\n", "nd001", 0.80},
		{"race seen by a subtest", "    testing.go:1712: race detected during execution of test\n", "nd001", 0.80},
		{"timeout", "panic: test timed out after 3s\n", "nd001", 0.62},
		{"deadlock", "fatal error: all goroutines are asleep - deadlock!\n", "nd001", 0.62},
		{"test does not compile", "# p\n./a_test.go:3:1: undefined: x\n", "ab001", 0.86},
		{"product does not compile", "# p\n./a.go:3:1: undefined: x\n", "pb001", 0.88},
		{"crash in the product", "panic: boom\n" + frames + product + test, "pb001", 0.72},
		{"crash in the test", "panic: boom\n" + frames + test + product, "ab001", 0.58},
		{"comparison", "    a_test.go:3: got 1, want 2\n", "pb001", 0.60},
		{"message", "    a_test.go:3: bad luck\n", "pb001", 0.52},
		{"silence", "exit status 3\n", "si001", 0.40},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := gotest.Light(abi.Case{Group: "example.com/shop/a", Documents: []abi.Document{{Name: "log", Text: tt.log}}})
			if got.Classification != tt.label || got.Confidence != tt.confidence || got.Reasoning == "" {
				t.Errorf("got %+v, want %s %.2f", got, tt.label, tt.confidence)
			}
		})
	}
}
