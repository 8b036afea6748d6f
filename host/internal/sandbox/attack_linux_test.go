package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/testkit/attack"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const (
	// attackEnv makes the test the process that attacks run in: its value says with how many workers.
	attackEnv = "SANDBOX_TEST_ATTACK"
	// longEnv has attacks run long, with four workers, too: `make attacks`.
	longEnv = "SHADOWCOURT_ATTACKS"

	attackAllowance = 16 << 20 // of resident memory for each worker, beyond the memory limit
)

func attackLimits() Limits {
	if os.Getenv(longEnv) != "" {
		return Limits{MemoryBytes: 64 << 20, Fuel: 100_000_000, WallClock: 10 * time.Minute}
	}
	return Limits{MemoryBytes: 16 << 20, Fuel: 10_000_000, WallClock: 10 * time.Minute}
}

// attacks are those on every function that the host offers, and the others.
// The list of functions is the surface itself: one that no attack is known for fails the test.
func attacks(t *testing.T) []attack.Attack {
	t.Helper()
	pages := int(attackLimits().MemoryBytes / pageBytes)
	var list []attack.Attack
	for name, signature := range open(t, Config{}).surface.granting(Capabilities()) {
		f := attack.Function{Module: name.module, Name: name.name, Params: valueBytes(signature.Params), Results: valueBytes(signature.Results)}
		known := attack.System
		switch name.module {
		case abi.ExtismEnv:
			known = attack.Kernel
		case abi.ExtismUser, abi.CapabilityModule:
			known = attack.Capability
		}
		a, ok := known(f, pages)
		if !ok {
			t.Errorf("no attack on %s is known: add one to package attack", name)
			continue
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b attack.Attack) int { return strings.Compare(a.Name, b.Name) })
	return append(list, attack.Ways(pages)...)
}

func valueBytes(types []wasmfile.ValueType) []byte {
	b := make([]byte, len(types))
	for i, t := range types {
		b[i] = byte(t)
	}
	return b
}

// attacked is what became of an attack.
type attacked struct {
	Name    string
	Cause   Cause
	Bytes   int64   // of resident memory at the most, beyond what there was before
	Nanos   float64 // of processor time for each unit of fuel
	Workers int
}

// TestAccept_FX1_HostFunctionsKeepWithinTheMemoryLimit: whatever function of the host a guest calls as hard as it can, and whatever else it
// tries, the process grows by no more than the memory limit and 16 MiB a worker, and a named limit ends the call.
//
// The attacks run in a process of their own, one after the other, with Go's collector at its default (GOGC=100, no GOMEMLIMIT). It is the
// kernel's figure for the largest resident size that counts.
func TestAccept_FX1_HostFunctionsKeepWithinTheMemoryLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory, which the race detector multiplies")
	}
	workers := []int{1}
	if os.Getenv(longEnv) != "" {
		workers = []int{1, 4}
	}
	if n := os.Getenv(attackEnv); n != "" {
		runAttacks(t, n)
		return
	}
	attacks(t) // an attack that is missing is told here
	for _, n := range workers {
		results := attackProcess(t, n)
		var table strings.Builder
		w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
		for _, r := range results {
			most := int64(r.Workers) * (attackLimits().MemoryBytes + attackAllowance)
			fmt.Fprintf(w, "%s\t%s\t%.1f MiB\t%.2f ns a unit\n", r.Name, r.Cause, float64(r.Bytes)/(1<<20), r.Nanos)
			if r.Bytes > most {
				t.Errorf("%s: %d workers made the host grow by %d bytes, want at most %d", r.Name, r.Workers, r.Bytes, most)
			}
			if r.Cause == CauseHost || r.Cause == CauseWallClock {
				t.Errorf("%s ended by %s", r.Name, r.Cause)
			}
		}
		_ = w.Flush()
		t.Logf("%d workers, memory limit %d MiB:\n%s", n, attackLimits().MemoryBytes>>20, table.String())
	}
}

// attackProcess runs all attacks in a process of their own.
func attackProcess(t *testing.T, workers int) []attacked {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.timeout=60m")
	cmd.Env = append(os.Environ(), attackEnv+"="+strconv.Itoa(workers), "GOGC=100", "GOMEMLIMIT=off", "GOMAXPROCS=4")
	said, err := cmd.CombinedOutput()
	must.Do(t, err, said)
	_, lines, _ := bytes.Cut(said, []byte(attackMark))
	lines, _, _ = bytes.Cut(lines, []byte("\n"))
	var results []attacked
	if err := json.Unmarshal(lines, &results); err != nil || len(results) == 0 { //nolint:musttag // this test reads what it wrote
		t.Fatalf("%v\n%s", err, said)
	}
	return results
}

const attackMark = "attacked: "

// runAttacks is the process in which attacks run.
func runAttacks(t *testing.T, workers string) {
	t.Helper()
	n := must.Get(strconv.Atoi(workers))(t)
	var results []attacked
	for _, a := range attacks(t) {
		results = append(results, runAttack(t, a, n))
	}
	line := must.Get(json.Marshal(results))(t) //nolint:musttag // as above
	fmt.Println(attackMark + string(line))     //nolint:forbidigo // the parent reads it
}

// runAttack calls a guest with some workers, twice each.
func runAttack(t *testing.T, a attack.Attack, workers int) attacked {
	t.Helper()
	limits := attackLimits()
	e := must.Get(New(context.Background(), Config{Limits: limits}))(t)
	defer func() { _ = e.Close(context.Background()) }()
	info := must.Get(Inspect(a.Wasm))(t, a.Name)
	m := must.Get(e.LoadInspected(context.Background(), info, Capabilities()))(t, a.Name)
	result := attacked{Name: a.Name, Workers: workers}
	if image := m.pool.template; image != nil { // what a loaded module holds does not count as growth
		_ = bytes.Count(image.image.Bytes(), []byte{1})
	}
	before := forgetPeak(t)
	start := cpuTime(t)
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for range 2 {
				_, err := m.Call(WithBroker(context.Background(), answering{}), abi.CallNode, a.Request)
				var failed *CallError
				if worker == 0 && errors.As(err, &failed) {
					result.Cause = failed.Cause
				}
			}
		})
	}
	wg.Wait()
	if result.Cause == CauseFuel {
		result.Nanos = float64((cpuTime(t) - start).Nanoseconds()) / float64(2*int64(workers)*int64(limits.Fuel))
	}
	result.Bytes = status(t, "VmHWM:") - before
	return result
}

// answering is a broker whose answers are large.
type answering struct{ Nothing }

func (d answering) Ask(ctx context.Context, capability abi.Capability, request []byte) ([]byte, error) {
	return Answer(ctx, d, capability, request)
}

func (answering) Recall(context.Context, abi.RecallQuery) (abi.PriorCases, error) {
	return abi.PriorCases{Cases: slices.Repeat([]abi.PriorCase{{CaseID: strings.Repeat("x", 10_000), Status: "affirmed", Seen: 1}}, 100)}, nil
}

func (d answering) Correlate(ctx context.Context, _ abi.CorrelateQuery) (abi.PriorCases, error) {
	return d.Recall(ctx, abi.RecallQuery{})
}

func (answering) Source(context.Context, abi.SourceQuery) (abi.SourceAnswer, error) {
	return abi.SourceAnswer{Known: true, Frames: slices.Repeat([]abi.SourceFrame{{Path: strings.Repeat("x", 10_000), Kind: abi.SourceProduct}}, 100)}, nil
}

// forgetPeak releases what Go does not use, has the kernel begin its largest resident size again, and gives the present one.
func forgetPeak(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	must.Do(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
	return status(t, "VmRSS:")
}

// cpuTime is what the process has used of the processors.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage unix.Rusage
	must.Do(t, unix.Getrusage(unix.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// status is a figure of /proc/self/status, in bytes.
func status(t *testing.T, key string) int64 {
	t.Helper()
	data := must.Get(os.ReadFile("/proc/self/status"))(t)
	_, rest, _ := strings.Cut(string(data), key)
	line, _, _ := strings.Cut(rest, "\n")
	kilobytes := must.Get(strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 64))(t)
	return kilobytes << 10
}
