// Command sieve is a guest that computes: a tight loop, and what Go programs
// mostly do.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o sieve.wasm .
package main

import (
	"sort"
	"strings"
)

func main() {}

var composite [1 << 20]bool

//go:wasmexport sieve
func sieve(n int32) int32 {
	clear(composite[:n])
	count := int32(0)
	for i := int32(2); i < n; i++ {
		if composite[i] {
			continue
		}
		count++
		for j := int64(i) * int64(i); j < int64(n); j += int64(i) {
			composite[j] = true
		}
	}
	return count
}

// words builds, splits, counts and sorts: allocation, maps, strings, calls
// through interfaces.
//
//go:wasmexport words
func words(n int32) int32 {
	var b strings.Builder
	for i := range n {
		b.WriteString([]string{"guilty ", "of ", "nothing ", "at ", "all "}[i%5])
	}
	counts := map[string]int32{}
	for _, w := range strings.Fields(b.String()) {
		counts[w]++
	}
	keys := make([]string, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return counts[keys[0]] + int32(len(keys))
}
