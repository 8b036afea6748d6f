package shadowcourt

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// realTime are the test files that look at the machine's clock, or limit something by it, and the room that they leave: at least ten times
// what is usual. A test that only waits for something, without a limit, needs no entry. Everything else uses a clock of its own; see
// wasmtest.Ticking.
var realTime = map[string]string{
	"cmd/shadowcourt/signal_unix_test.go":                 "a run that waits for nobody ends in milliseconds; it gets 10 s, the one left behind sleeps for 20",
	"cmd/shadowcourt/kill_unix_test.go":                   "a run is killed within the time that another one took; whichever comes first is right",
	"host/accept_edges_test.go":                           "HD10: a trial ends within its TTL of 2 s and a second; it gets 30 s, the clock of its calls a minute",
	"host/accept_hostile_test.go":                         "the clock goes on by readings",
	"host/accept_record_audit_test.go":                    "the clock goes on by readings",
	"host/accept_record_test.go":                          "the clock goes on by readings",
	"host/casebook/book_test.go":                          "the database is locked for as long as the test lasts: any timeout will do",
	"host/execlight/light_test.go":                        "programs that never answer get 300 ms, those that do 20 s; who must not be waited for sleeps for a minute",
	"host/internal/sandbox/testkit/bombs/measure_test.go": "a measurement, which runs only when it is asked for",
	"host/internal/sandbox/fuzz_test.go":                  "whichever limit ends a call is right",
	"host/internal/sandbox/hostile_test.go":               "the clock goes on by readings",
	"host/internal/sandbox/prepare_test.go":               "a module spins for a second while two of eight calls begin; garbage is collected within a minute",
	"host/internal/sandbox/lifecycle_test.go":             "a deadline that ends a guest which nothing else ends",
	"host/internal/sandbox/load_test.go":                  "the compiler takes fifty times as long as it may",
	"host/internal/sandbox/spin_test.go":                  "what takes milliseconds gets 10 s, what takes a second gets a minute",
	"host/pipeline/load_test.go":                          "a value that is read, and limits nothing",
	"host/record/lock_unix_test.go":                       "opening a FIFO fails at once; it gets 10 s",
	"internal/service/accept_nginx_test.go":               "nginx is waited for until it listens or ends",
	"internal/service/accept_slow_test.go":                "limits of 300 ms end requests that would last for ever; each gets a minute",
	"internal/service/store/suite_test.go":                "an event arrives within milliseconds; it gets 30 s",
	"internal/service/web/browser_test.go":                "a page takes a second; a test in the browser gets three minutes",
	"internal/service/work/faults_test.go":                "faults come at random moments, and the time of the run is only printed",
	"internal/service/work/main_test.go":                  "a docket takes seconds; it gets five minutes",
	"host/waiting_linux_test.go":                          "the time of a thousand trials that wait is only printed",
	"host/spin_test.go":                                   "what takes milliseconds gets 10 s, what takes a second gets a minute",
}

// clockCalls are functions whose result depends on how fast the machine is.
var clockCalls = map[string][]string{
	"time":    {"Since", "After", "NewTimer", "Tick", "NewTicker"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline"},
}

// limitFields are limits that the machine's clock ends, of less than a minute.
var limitFields = []string{"WallClock", "Timeout", "CompileTime", "TTL", "BusyTimeout"}

// TestAccept_FX11_NoTestMeasuresRealTimeWithoutRoom finds the tests that could fail on a slow machine.
func TestAccept_FX11_NoTestMeasuresRealTimeWithoutRoom(t *testing.T) {
	t.Parallel()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "bench" || d.Name() == "out" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		if uses := clockUses(t, path); len(uses) > 0 {
			found[filepath.ToSlash(path)] = uses
		}
		return nil
	})
	must.Do(t, err)
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if realTime[path] == "" {
			t.Errorf("%s measures real time (%s): use a clock of the test's own, or say in realTime which room it leaves", path, strings.Join(found[path], ", "))
		}
	}
	for path := range realTime {
		if found[path] == nil {
			t.Errorf("%s measures no real time any more: remove it from realTime", path)
		}
	}
}

// clockUses names what a test file does with the machine's clock, outside of its benchmarks.
func clockUses(t *testing.T, path string) []string {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
	var uses []string
	add := func(use string) {
		if !slices.Contains(uses, use) {
			uses = append(uses, use)
		}
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && takesB(f) {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(clockCalls[pkg.Name], n.Sel.Name) {
					add(pkg.Name + "." + n.Sel.Name)
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && slices.Contains(limitFields, key.Name) && short(n.Value) {
					add(key.Name)
				}
			}
			return true
		})
	}
	return uses
}

// takesB says whether a function is a benchmark, or a part of one.
func takesB(f *ast.FuncDecl) bool {
	for _, param := range f.Type.Params.List {
		if star, ok := param.Type.(*ast.StarExpr); ok {
			if sel, ok := star.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "B" {
				return true
			}
		}
	}
	return false
}

// short says whether a duration is written in units of less than a minute.
func short(value ast.Expr) bool {
	is := false
	ast.Inspect(value, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			is = is || slices.Contains([]string{"Nanosecond", "Microsecond", "Millisecond", "Second"}, sel.Sel.Name)
		}
		return true
	})
	return is
}
