package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/testkit/killtest"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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
	tier.Long(t, "cmd/shadowcourt/testdata/swap", "cmd/shadowcourt/internal/plugin", "host/moduledir", "host/internal/court")
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
	tier.Long(t, "cmd/shadowcourt/testdata/script/long", "cmd/shadowcourt/internal/plugin", "cmd/shadowcourt/internal/records", "host/experiment", "host/record", "host/audit", "host/docket", "host/casebook", "internal/measure", "internal/oci",
		"internal/quarantine", "internal/publish", "internal/render", "cmd/shadowcourt/internal/alibi", "host/replay", "abi/guest")
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
	home := must.Get(os.UserHomeDir())(t)
	cache := must.Get(os.UserCacheDir())(t)
	return []string{"HOME=" + home, "XDG_CACHE_HOME=" + cache, "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GOGC=400", "SHADOWCOURT_PROGRESS=off", "SHADOWCOURT_RUNS_APART=-1s"}
}

func repositoryRoot(t *testing.T) string {
	t.Helper()
	return must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
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

// These write what is too large, or too hostile to an editor, to stand in a script.

// bigLog writes `go test -json` of one failing test with a log of 100 MB.
func bigLog() {
	w := bufio.NewWriter(os.Stdout)
	event := func(action, output string) {
		fmt.Fprintf(w, `{"Action":%q,"Package":"example.com/big","Test":"TestBig","Output":%q}`+"\n", action, output)
	}
	event("run", "")
	event("output", "=== RUN   TestBig\n")
	event("output", "    big_test.go:7: the first line that counts\n")
	filler := strings.Repeat("0123456789abcdef", 250) + "\n"
	for written := 0; written < 100<<20; written += len(filler) {
		event("output", filler)
	}
	event("output", "panic: runtime error: invalid memory address or nil pointer dereference\n")
	event("output", "--- FAIL: TestBig (1.00s)\n")
	event("fail", "")
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// longLine writes one line of 100 MB, and then what stands in the standard input.
func longLine() {
	w := bufio.NewWriter(os.Stdout)
	_, err := w.WriteString(`{"id":"` + strings.Repeat("x", 100<<20) + "\"}\n")
	if err == nil {
		_, err = io.Copy(w, os.Stdin)
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bigDocument writes a docket of one case with a document of 30 MB.
func bigDocument() {
	fmt.Fprintf(os.Stdout, `{"id":"big","subject":"s","labels":["a","b"],"light":{"classification":"a","confidence":0.7,"reasoning":""},`+
		`"evidence":[],"documents":[{"name":"log","text":"%s"}]}`+"\n", strings.Repeat("line of a log\\n", 2<<20))
}

const (
	// attack is markup, a colour, a title, a link, a right-to-left override, a carriage return, and what a C1 control is in UTF-8.
	attack = "<script>alert(1)</script> <img src=x onerror=alert(1)> \x1b[31mred \x1b]0;owned\x07 \x1b]8;;http://evil\x1b\\link" +
		" \u202egnol\u2066 \r# owned \u009b2J ![x](http://evil) s3cret token abcdef"
	// badPattern matches what may be in no output.
	badPattern = "[\x1b\x07\r\u202e\u2066\u009b]"
	// secretPattern matches what is redacted.
	secretPattern = "s3cret|abcdef"
)

// hostile writes a docket in which every text attacks its reader, or with an argument a docket with a fault that quotes one, or a pipeline.
func hostile() {
	quoted, err := json.Marshal(attack)
	if err != nil {
		panic(err)
	}
	text := string(quoted)
	switch what := strings.Join(os.Args[1:], " "); what {
	case "fault":
		fmt.Fprintf(os.Stdout, `{"id":"f","subject":%s,"labels":["a","b"],"light":{"classification":%s,"confidence":0.7,"reasoning":""},"evidence":[],"documents":[],%s:1}`+"\n",
			text, text, text)
	case "pipeline":
		fmt.Fprintf(os.Stdout, "pipeline: %s\nnodes:\n  - name: %s\n    family: %s\nedges: []\nstart: %s\n", text, text, text, text)
	default:
		fmt.Fprintf(os.Stdout, `{"id":"h","group":%s,"subject":%s,"labels":["a","b"],"light":{"classification":"a","confidence":0.7,"reasoning":%s},`+
			`"evidence":[{"source_ref":%s,"content":%s,"relevance_confidence":0.9,"supports":"b","element":"water"}],"documents":[{"name":%s,"text":%s}]}`+"\n",
			text, text, text, text, text, text, text)
	}
}

// answers are what scripts compare of the results in a file, by the case's id.
type answer struct {
	ID    string   `json:"id"`
	Light answered `json:"light"`
	Final answered `json:"final"`
}

type answered struct {
	Classification string  `json:"classification"` // empty for null
	Confidence     float64 `json:"confidence"`
}

func answersIn(ts *testscript.TestScript, file string) []answer {
	var all []answer
	for line := range strings.Lines(ts.ReadFile(file)) {
		var a answer
		ts.Check(json.Unmarshal([]byte(line), &a))
		all = append(all, a)
	}
	if len(all) == 0 {
		ts.Fatalf("%s has no results", file)
	}
	return all
}

// surer says whether Light is surer of a label in the second file than in the
// first, in every case: it comes to name it, or names it with more confidence.
func surer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: surer LABEL WITHOUT WITH")
	}
	without, with := answersIn(ts, args[1]), answersIn(ts, args[2])
	for i := range with {
		before, after := without[i].Light, with[i].Light
		if after.Classification != args[0] || before.Classification == args[0] && after.Confidence <= before.Confidence {
			ts.Fatalf("%s: %+v, and before %+v", with[i].ID, after, before)
		}
	}
}

// unsurer says whether no verdict of the second file is surer than that of the first, in which every case got one.
func unsurer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unsurer FIRST LATER")
	}
	first, later := answersIn(ts, args[0]), answersIn(ts, args[1])
	for i := range later {
		was, is := first[i].Final, later[i].Final
		if was.Classification == "" || is.Classification != was.Classification || is.Confidence > was.Confidence {
			ts.Fatalf("%s: %+v, and before %+v", later[i].ID, is, was)
		}
	}
}

// tamper copies a record, and replaces the first text in its statements that is OLD by NEW, as somebody does who has no key: tamper FROM TO OLD NEW.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: tamper FROM TO OLD NEW")
	}
	var out bytes.Buffer
	found := false
	for line := range bytes.Lines([]byte(ts.ReadFile(args[0]))) {
		var envelope struct {
			Payload string `json:"payload"`
		}
		ts.Check(json.Unmarshal(line, &envelope))
		payload, err := base64.StdEncoding.DecodeString(envelope.Payload)
		ts.Check(err)
		if !found && bytes.Contains(payload, []byte(args[2])) {
			found = true
			payload = bytes.Replace(payload, []byte(args[2]), []byte(args[3]), 1)
			line = bytes.Replace(line, []byte(envelope.Payload), []byte(base64.StdEncoding.EncodeToString(payload)), 1)
		}
		out.Write(line)
	}
	if !found {
		ts.Fatalf("no statement of %s has %q", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}
