package bombs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/complexity"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/testkit/bombs"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// maxFile is the largest file that is measured.
const maxFile = 16 << 20

// mostDeclared is how many globals and imports the sandbox takes.
const mostDeclared = 50_000

// The most that compiling an accepted module may take.
const (
	maxSeconds   = 40
	maxMegabytes = 512
)

var defaults = complexity.Cost{Steps: abi.DefaultCompileSteps, Bytes: abi.DefaultCompileBytes}

// estimate is what a module's compilation costs, as the sandbox estimates it.
func estimate(wasm []byte, limits complexity.Cost) (complexity.Cost, error) {
	file, err := wasmfile.Parse(wasm)
	if err != nil {
		return complexity.Cost{}, err
	}
	p, err := instrument.Rewrite(file, instrument.Options{Fuel: true, MaxTableEntries: abi.DefaultTableEntries})
	if err != nil {
		return complexity.Cost{}, err
	}
	rewritten, err := wasmfile.Parse(p.Wasm)
	if err != nil {
		return complexity.Cost{}, err
	}
	return complexity.Check(rewritten, file.ImportedFuncs, limits)
}

// largest is the largest size of a family that is accepted, in a file of at most that many bytes.
func largest(f bombs.Family, limits complexity.Cost, maxFile int) int {
	accepted := func(n int) bool {
		wasm := f.Make(n)
		if len(wasm) > maxFile {
			return false
		}
		_, err := estimate(wasm, limits)
		file, fault := wasmfile.Parse(wasm)
		return err == nil && fault == nil && len(file.Globals)+len(file.Imports) <= mostDeclared
	}
	low, high := 1, 2
	for accepted(high) {
		low, high = high, 2*high
	}
	for high-low > max(1, low/20) {
		if middle := (low + high) / 2; accepted(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

const childEnv = "SHADOWCOURT_BOMB"

// TestMain is the child that loads one module, too.
func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		loadFile(name)
		return
	}
	os.Exit(m.Run())
}

// loadFile loads a module, and writes what that took: seconds, seconds of CPU, and the growth of the process in megabytes.
func loadFile(name string) {
	wasm, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	e, err := sandbox.New(ctx, sandbox.Config{})
	if err != nil {
		panic(err)
	}
	before, start := usage(), time.Now()
	_, err = e.Load(ctx, wasm)
	took, after := time.Since(start), usage()
	answer := "accepted"
	if err != nil {
		answer = err.Error()
	}
	fmt.Printf("%.2f %.2f %d %s\n", took.Seconds(), (after.cpu - before.cpu).Seconds(), after.megabytes-before.megabytes, answer)
}

type measured struct {
	wall, cpu float64
	megabytes int
	answer    string
}

// measure loads a module in a process of its own, which is ended after three minutes or at 4 GB.
func measure(t *testing.T, wasm []byte) measured {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bomb.wasm")
	must.Do(t, os.WriteFile(name, wasm, 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	self := must.Get(os.Executable())(t)
	child := exec.CommandContext(ctx, "bash", "-c", "ulimit -v 6000000; exec \"$0\"", self)
	child.Env = append(os.Environ(), childEnv+"="+name)
	out, err := child.Output()
	if err != nil {
		return measured{wall: 180, cpu: 180, megabytes: 1 << 20, answer: err.Error()}
	}
	var m measured
	if n, err := fmt.Sscan(string(out), &m.wall, &m.cpu, &m.megabytes); n != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	m.answer = strings.SplitN(strings.TrimSpace(string(out)), " ", 4)[3]
	return m
}

// TestMeasure loads the largest accepted module of each family, and prints what docs/limits.md summarizes. It runs for minutes: make bombs.
func TestMeasure(t *testing.T) {
	if os.Getenv("SHADOWCOURT_BOMBS") == "" {
		t.Skip("make bombs measures the largest accepted module of each family")
	}
	fmt.Println("| family | size | bytes | estimated | CPU | memory |\n| --- | --- | --- | --- | --- | --- |")
	for i, f := range bombs.Families() {
		if only := os.Getenv("SHADOWCOURT_BOMBS"); only != "all" && !slices.Contains(strings.Split(only, ","), strconv.Itoa(i)) {
			continue
		}
		size := largest(f, defaults, maxFile)
		wasm := f.Make(size)
		cost, _ := estimate(wasm, defaults)
		m := measure(t, wasm)
		fmt.Printf("| %s | %d | %d | %.1f s, %.0f MB | %.1f s | %d MB |\n",
			f.Name, size, len(wasm), cost.Steps/1e9, cost.Bytes/1e6, m.cpu, m.megabytes)
		if m.cpu > maxSeconds || m.megabytes > maxMegabytes || m.answer != "accepted" {
			t.Errorf("%s of size %d: %+v", f.Name, size, m)
		}
	}
}
