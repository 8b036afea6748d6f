package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// proportional gives the memory of this process with shared pages divided
// among those who share them (PSS), in bytes.
func proportional() (int64, error) {
	debug.FreeOSMemory()
	return kilobytes("/proc/self/smaps_rollup", "Pss:")
}

// resident gives the resident memory of this process in bytes; the second is
// the most that it ever was.
func resident() (now, peak int64, err error) {
	if now, err = kilobytes("/proc/self/status", "VmRSS:"); err != nil {
		return 0, 0, err
	}
	peak, err = kilobytes("/proc/self/status", "VmHWM:")
	return now, peak, err
}

// kilobytes reads one field of a file of the kernel's, and gives bytes.
func kilobytes(file, field string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field); ok {
			var kb int64
			_, err := fmt.Sscan(value, &kb)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("%s has no %s", file, field)
}
