package experiment

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// goModule writes a module into a scratch folder, and gives the folder and the module's place in it.
func goModule(t *testing.T, files map[string]string) (scratch, tree string) {
	t.Helper()
	scratch = t.TempDir()
	tree = filepath.Join(scratch, "tree")
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	must.Write(t, tree, files)
	return scratch, tree
}

const goTestsText = `package cart

import ("os"; "os/exec"; "testing"; "time")

func TestPass(t *testing.T) {}
func TestFail(t *testing.T) { t.Errorf("got %d, want 3", 2) }
func TestSkip(t *testing.T) { t.Skip("not here") }
func TestPanic(t *testing.T) { var p *int; _ = *p }
func TestExit(t *testing.T) { os.Exit(3) }
func TestSlow(t *testing.T) { time.Sleep(time.Hour) }
func TestTable(t *testing.T) {
	t.Run("a b", func(t *testing.T) {})
	t.Run("a b#2", func(t *testing.T) { t.Error("second") })
}
var dirty bool
func TestBefore(t *testing.T) { dirty = true }
func TestShared(t *testing.T) {
	n := 0
	t.Run("first", func(*testing.T) { n++ })
	t.Run("second", func(t *testing.T) {
		if n++; n != 2 {
			t.Error("run alone")
		}
	})
}
func TestOrder(t *testing.T) { if dirty { t.Error("dirty") } }
func TestSecret(t *testing.T) { if os.Getenv("MY_SECRET") != "" { t.Error("it is there") } }
func TestZone(t *testing.T) { t.Errorf("TZ=%s", os.Getenv("TZ")) }
func TestFixture(t *testing.T) {
	if b, err := os.ReadFile("testdata/a"); err != nil || string(b) != "fixture" { t.Error(string(b), err) }
}
func TestGoCommand(t *testing.T) {
	if out, err := exec.Command("go", "vet", ".").CombinedOutput(); err != nil { t.Errorf("%v\n%s", err, out) }
}
`

func TestOutcomesOfATest(t *testing.T) {
	t.Setenv("MY_SECRET", "secret")
	t.Setenv("TZ", "Asia/Tokyo")
	scratch, tree := goModule(t, map[string]string{"cart/cart.go": "package cart\n", "cart/cart_test.go": goTestsText, "cart/testdata/a": "fixture"})
	g := &goTests{hide: t.TempDir()}
	must.Do(t, g.start(t.Context(), t.TempDir()))
	b := must.Get(g.compile(t.Context(), tree, "./cart", scratch))(t)
	if b.pack != "example.com/m/cart" || b.dir != filepath.Join(tree, "cart") {
		t.Errorf("got %+v", b)
	}
	for _, c := range []struct {
		test string
		want kind
		log  string
		env  environment
	}{
		{"TestPass", kindPassed, "", environment{}},
		{"TestFail", kindFailed, "got 2, want 3", environment{}},
		{"TestSkip", kindSkipped, "", environment{}},
		{"TestPanic", kindFailed, "nil pointer dereference", environment{}},
		{"TestExit", kindFailed, "exit status 3", environment{}},
		{"TestNo", kindAbsent, "", environment{}},
		{"TestSlow", kindFailed, "panic: test timed out after", environment{Limits: isolate.Limits{Time: time.Second}}},
		{"TestTable/a_b", kindPassed, "", environment{}},
		{"TestTable", kindFailed, "second", environment{}},
		{"TestTable/a_b#2", kindFailed, "second", environment{}},
		{"TestShared/second", kindPassed, "", environment{}},
		{"TestOrder", kindPassed, "", environment{}},
		{"TestSecret", kindPassed, "", environment{}},
		{"TestZone", kindFailed, "TZ=Asia/Tokyo", environment{}},
		{"TestZone", kindFailed, "TZ=UTC", environment{Clean: true}},
		{"TestFixture", kindPassed, "", environment{}},
		{"TestGoCommand", kindPassed, "", environment{}},
	} {
		t.Run(c.test, func(t *testing.T) {
			c.env.Scratch = scratch
			run := must.Get(g.test(t.Context(), &workspace{folder: scratch}, b, c.test, c.env))(t)
			if run.Kind != c.want || !strings.Contains(run.Log(), c.log) || (run.Kind == kindFailed) != (run.Log() != "") {
				t.Errorf("%s: %q (%s)\n%s", run.Kind, run.Log(), run.Result.Ending, run.Result.Output)
			}
		})
	}
}

func TestWhatDoesNotBuild(t *testing.T) {
	scratch, tree := goModule(t, map[string]string{
		"bad/bad.go": "package bad\n\nfunc F() int { return \"x\" }\n", "bad/bad_test.go": "package bad\n",
		"none/none.go": "package none\n", "far/far_test.go": "package far\n\nimport _ \"example.com/other\"\n",
	})
	g := &goTests{}
	must.Do(t, g.start(t.Context(), t.TempDir()))
	_, err := g.compile(t.Context(), tree, "./bad", scratch)
	var build *buildError
	if !errors.As(err, &build) || !strings.Contains(err.Error(), "bad.go:3:") {
		t.Errorf("got %v", err)
	}
	if _, err := g.compile(t.Context(), tree, "./nosuch", scratch); !errors.As(err, &build) {
		t.Errorf("got %v", err)
	}
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	if _, err := g.compile(t.Context(), tree, "./far", scratch); err == nil || errors.As(err, &build) {
		t.Errorf("the machine has no modules: got %v", err)
	}
	if _, err := g.compile(t.Context(), tree, "./none", scratch); !errors.Is(err, errNoTests) {
		t.Errorf("got %v", err)
	}
}
