package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/testkit/killtest"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// tests runs with a folder for data of its own: services keep their tokens there.
type tests struct{ *testing.M }

func (m tests) Run() int {
	dir, err := os.MkdirTemp("", "shadowcourt-tests-")
	if err == nil {
		err = os.Setenv("XDG_DATA_HOME", dir)
	}
	if err == nil { // most tests wait for other programs
		err = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return m.M.Run()
}

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"shadowcourt":         main,
		"shadowcourt-limited": limitedMain,
		"biglog":              bigLog,
		"bigdoc":              bigDocument,
		"longline":            longLine,
		"hostile":             hostile,
	})
}

// limitedMain is the command, on a disk that killtest fills.
func limitedMain() {
	if err := killtest.LimitFiles(); err != nil {
		panic(err)
	}
	main()
}

// TestScripts runs testdata/script/*.txtar. Beyond testscript's commands they
// have `exits CODE COMMAND...`, `lines N FILE`, `oneline FILE TEXT`, `surer LABEL WITHOUT WITH`, `unsurer FIRST LATER`, and those of [registries].
func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, filepath.Join("testdata", "script"))
}

// TestSwapScripts have $PUPPET, a module that plays any persona and knows nothing.
func TestSwapScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, filepath.Join("testdata", "swap"), "PUPPET="+buildPuppet(t))
}

// buildPuppet builds the module that the tests of package host use, with a manifest, and gives its file.
func buildPuppet(t *testing.T) string {
	t.Helper()
	file, dir := filepath.Join(t.TempDir(), "puppet.wasm"), filepath.Join(repositoryRoot(t), "host", "testdata", "puppet")
	execute(t, dir, []string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", file, ".").wants(t, 0)
	succeeds(t, dir, "plugin", "annotate", file, "--manifest", "manifest.yaml")
	return file
}

func TestLongScripts(t *testing.T) {
	t.Parallel()
	tier.Long(t, "cmd/shadowcourt/testdata/script/long", "cmd/shadowcourt/internal/plugin", "host/experiment", "host/docket", "internal/measure", "internal/oci", "abi/guest")
	runScripts(t, filepath.Join("testdata", "script", "long"))
}

func runScripts(t *testing.T, dir string, vars ...string) {
	t.Helper()
	root := repositoryRoot(t)
	servers := &registries{t: t, list: map[string]*scriptRegistry{}}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			e.Setenv("BAD", badPattern)
			e.Setenv("SECRET", secretPattern)
			for _, v := range append(userEnv(t), vars...) {
				name, value, _ := strings.Cut(v, "=")
				e.Setenv(name, value)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "lines": lines, "oneline": oneLine, "surer": surer, "unsurer": unsurer, "tamper": tamper,
			"registry": servers.registry, "requests": servers.requests, "capture": capture, "replace": replace,
		},
	})
}

// userEnv has no progress in logs, whose lines depend on the machine's speed, and lets all runs share the user's caches: of compiled modules, and of the go command. Runs of tests aren't spread. A run lives for half a second, of
// which it spends a tenth less when it hardly collects garbage.
func userEnv(t *testing.T) []string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"HOME=" + home, "XDG_CACHE_HOME=" + cache, "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GOGC=400", "SHADOWCOURT_PROGRESS=off", "SHADOWCOURT_RUNS_APART=-1s"}
}

func repositoryRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// exits runs a command and checks its exit code against the wanted one.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\n%s%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// lines counts the lines of a file, or of stdout or stderr.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines N FILE")
	}
	if got := strconv.Itoa(strings.Count(ts.ReadFile(args[1]), "\n")); got != args[0] {
		ts.Fatalf("%s has %s lines, want %s:\n%s", args[1], got, args[0], ts.ReadFile(args[1]))
	}
}

// oneLine looks for a line that is this text and no more.
func oneLine(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] oneline FILE TEXT")
	}
	found := false
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		found = found || strings.TrimSuffix(line, "\n") == args[1]
	}
	if found == neg {
		ts.Fatalf("%s, line %q: found %t\n%s", args[0], args[1], found, ts.ReadFile(args[0]))
	}
}
