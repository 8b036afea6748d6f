package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// machine notes on what the run is made, in the log and not in the rows.
func (b *bench) machine() {
	b.say("%s %s/%s, %d processors, %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor())
	b.say("kernel %s", firstLine("/proc/sys/kernel/osrelease"))
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	peers := []string{
		"github.com/tetratelabs/wazero", "github.com/extism/go-sdk", "github.com/extism/go-pdk",
		"github.com/bytecodealliance/wasmtime-go/v39", "github.com/hashicorp/go-plugin", "google.golang.org/grpc",
	}
	for _, d := range info.Deps {
		if slices.Contains(peers, d.Path) {
			b.say("%s %s", d.Path, d.Version)
		}
	}
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t: "))
		}
	}
	return "unknown"
}

func firstLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
