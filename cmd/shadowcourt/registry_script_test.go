package main

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
)

// registries has the registry of each script, by the script's folder. Scripts have `registry`, which starts one at $REGISTRY, `registry off` and
// `registry on`, `requests FILE`, which writes the requests since the last time, `capture NAME [PATTERN]`, which puts what the last
// command printed, or the group of a pattern in it, into a variable, and `replace FILE OLD NEW`.
type registries struct {
	t    *testing.T
	mu   sync.Mutex
	list map[string]*scriptRegistry
}

type scriptRegistry struct {
	*testkit.Registry
	off atomic.Bool
}

func (r *registries) of(ts *testscript.TestScript) *scriptRegistry {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.list[ts.Getenv("WORK")]
	if found == nil {
		ts.Fatalf("the script has no registry")
	}
	return found
}

func (r *registries) registry(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 1 {
		r.of(ts).off.Store(args[0] == "off")
		return
	}
	made := &scriptRegistry{}
	made.Registry = testkit.Start(r.t, true, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if made.off.Load() {
				panic(http.ErrAbortHandler) // the connection ends without an answer
			}
			next.ServeHTTP(w, q)
		})
	})
	ts.Setenv("REGISTRY", made.Host)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list[ts.Getenv("WORK")] = made
}

func (r *registries) requests(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(r.of(ts).Requests(), "\n")+"\n"), 0o600))
}

func capture(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.TrimSpace(ts.ReadFile("stdout"))
	if len(args) > 1 {
		found := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(text)
		if len(found) != 2 {
			ts.Fatalf("no %s in\n%s", args[1], text)
		}
		text = found[1]
	}
	ts.Setenv(args[0], text)
}

func replace(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %q:\n%s", args[0], args[1], text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}
