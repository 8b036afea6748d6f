package run_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// callers are the functions of this module on the stack, the innermost first, without type parameters.
func callers() []string {
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	parameters := regexp.MustCompile(`\[.*?\]`)
	var list []string
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if name, ours := strings.CutPrefix(f.Function, "github.com/shadowcourt/shadowcourt/"); ours {
			list = append(list, parameters.ReplaceAllString(name, ""))
		}
	}
	return list
}

// The public function, the court's, and two functions that are not exported stand between the command's loop over a docket and the
// court's first node; the others of this list are the graph's, which is no court's, and the goroutine of a worker.
func TestAccept_HS2_ThePathOfACaseIsShort(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var toFirstNode, toLoop []string
	cache := must.Get(os.UserCacheDir())(t)
	h, err := host.Open(t.Context(), host.Config{
		CacheDir: filepath.Join(cache, "shadowcourt", "modules"),
		Observe: func(r host.CallRecord) {
			mu.Lock()
			defer mu.Unlock()
			if r.Node == "indict" && r.Call == abi.CallNode {
				toFirstNode = callers()
			}
		},
	})
	must.Do(t, err)
	defer func() { _ = h.Close(context.Background()) }()
	subject := abi.Case{
		ID: "c", Subject: "TestX fails", Labels: []string{"pb001", "ab001"}, Light: &abi.LightAnswer{Classification: "ab001", Confidence: 0.7},
		Evidence:  []abi.Evidence{{SourceRef: "log:L1", Content: "panic: boom", RelevanceConfidence: 0.8, Supports: "pb001"}},
		Documents: []abi.Document{{Name: "log", Text: "panic: boom\n"}},
	}
	// firstNode is what is on the stack outside of the visit of a node.
	firstNode := func() []string {
		at := slices.IndexFunc(toFirstNode, func(f string) bool { return strings.HasSuffix(f, ").Visit") })
		if at < 0 {
			t.Fatalf("no node is visited in %q", toFirstNode)
		}
		return toFirstNode[at+1:]
	}
	inTrial := []string{"host/internal/court/traverse.Run", "host/internal/court.(*Trial).traverse", "host/internal/court.(*Court).Try"}

	must.Get(h.Try(t.Context(), subject))(t)
	want := append(slices.Clone(inTrial), "host.(*Host).Try", "internal/run_test.TestAccept_HS2_ThePathOfACaseIsShort")
	if got := firstNode(); !slices.Equal(got, want) {
		t.Errorf("from Try to the first node:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	r, err := run.Open(t.Context(), run.Config{
		Host: h, Files: &disk.Set{}, Now: time.Now, Workers: 1, OnTrial: func(*trial.Trial) { toLoop = callers() },
	})
	must.Do(t, err)
	defer r.Close()
	var entries iter.Seq2[docket.Entry, error] = func(yield func(docket.Entry, error) bool) { yield(docket.Entry{Case: subject}, nil) }
	if sum, err := r.All(t.Context(), entries); err != nil || sum.Tried != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	want = append(slices.Clone(inTrial), "host.(*Host).tryEntry", "host.(*Host).TryAll.func2", "host/internal/court.Ordered.func1.1.1")
	if got := firstNode(); !slices.Equal(got, want) {
		t.Errorf("from TryAll to the first node:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// The loop of the command ranges over what TryAll gave, with nothing in between.
	if at := slices.Index(toLoop, "internal/run.(*Run).try-range1"); at < 0 ||
		!slices.Equal(toLoop[at+1:at+3], []string{"host/internal/court.Ordered.func1", "internal/run.(*Run).try"}) {
		t.Errorf("the loop over the docket: %q", toLoop)
	}
}
