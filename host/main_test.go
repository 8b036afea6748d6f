package host_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// cacheDir is the compile cache that all test packages and the command share.
var cacheDir string

// puppet is the module of testdata/puppet, built for this run.
var puppet []byte

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	user, err := os.UserCacheDir()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cacheDir = filepath.Join(user, "shadowcourt", "modules")
	if _, err := bundle.FS(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if puppet, err = buildGuest("./testdata/puppet"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	flag.Parse()
	if run := flag.Lookup("test.run").Value.String(); run == "" || strings.Contains(run, "Example") {
		// Examples name no folder for compiled modules. While a host is open, they share its modules.
		h, err := host.Open(context.Background(), host.Config{CacheDir: cacheDir})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = h.Close(context.Background()) }()
	}
	return m.Run()
}

// buildGuest builds a Go package as a module, with the manifest beside it.
func buildGuest(dir string) ([]byte, error) {
	out, err := os.CreateTemp("", "guest-*.wasm")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(out.Name()) }()
	_ = out.Close()
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", out.Name(), dir)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", dir, err, text)
	}
	wasm, err := os.ReadFile(out.Name())
	if err != nil {
		return nil, err
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.yaml"))
	if err != nil {
		return nil, err
	}
	return module.Annotate(wasm, dir, manifest)
}

// shipped gives the shipped pipeline, to be changed by edit as text.
func shipped(t testing.TB, edits ...string) *pipeline.Definition {
	t.Helper()
	text := must.Get(fs.ReadFile(pipelines.FS, pipelines.DefectCourt))(t)
	for i := 0; i+1 < len(edits); i += 2 {
		if !strings.Contains(string(text), edits[i]) {
			t.Fatalf("the pipeline has no %q", edits[i])
		}
		text = []byte(strings.Replace(string(text), edits[i], edits[i+1], 1))
	}
	return must.Get(pipeline.Parse("test.yaml", text))(t)
}

// behave gives the shipped pipeline with the puppet in the place of a persona's module, told what to do at a node.
func behave(t testing.TB, persona, node, how string, edits ...string) *pipeline.Definition {
	t.Helper()
	def := shipped(t, append([]string{"module: " + persona, "module: puppet"}, edits...)...)
	for i := range def.Nodes {
		if n := &def.Nodes[i]; n.Name == node {
			n.With = []pipeline.Param{pipeline.Text("behave", how)}
		}
	}
	return def
}

// modules gives the embedded modules with the puppet beside them, in files of the test's own. The bytes are shared: the modules take 35 MB.
func modules(t testing.TB) fstest.MapFS {
	t.Helper()
	shared := must.Get(embedded())(t)
	files := fstest.MapFS{}
	for name, file := range shared {
		files[name] = &fstest.MapFile{Data: slices.Clip(file.Data)}
	}
	return files
}

var embedded = sync.OnceValues(func() (fstest.MapFS, error) {
	modules, err := bundle.FS()
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{"puppet.wasm": {Data: puppet}}
	names, err := fs.Glob(modules, "*.wasm")
	for _, name := range names {
		wasm, readErr := fs.ReadFile(modules, name)
		files[name], err = &fstest.MapFile{Data: wasm}, errors.Join(err, readErr)
	}
	return files, err
})

// defaults sets the shared compile cache, and the modules where the puppet is among them: those of a folder are read and parsed for each
// host, embedded ones are not.
func defaults(t testing.TB, config host.Config) host.Config {
	t.Helper()
	if config.CacheDir == "" {
		config.CacheDir = cacheDir
	}
	isPuppet := func(p pipeline.Persona) bool { return p.Module == "puppet" }
	if def := config.Pipeline; config.Modules == nil && def != nil && (def.Clerk == "puppet" || slices.ContainsFunc(def.Personas, isPuppet)) {
		config.Modules = modules(t)
	}
	return config
}

// open opens a host with the [defaults], closed with the test.
func open(t testing.TB, config host.Config) *host.Host {
	t.Helper()
	h := must.Get(host.Open(context.Background(), defaults(t, config)))(t)
	t.Cleanup(func() {
		must.Do(t, h.Close(context.Background()))
	})
	return h
}

// shared is one host on the shipped court for all tests that change nothing of it.
func shared(t testing.TB) *host.Host {
	t.Helper()
	return must.Get(sharedHost())(t)
}

// spies of trials in the shared host, by case id.
var spies sync.Map

var sharedHost = sync.OnceValues(func() (*host.Host, error) {
	return host.Open(context.Background(), host.Config{CacheDir: cacheDir, Observe: func(r host.CallRecord) {
		if s, ok := spies.Load(r.CaseID); ok {
			s.(*spy).observe(r)
		}
	}})
})

// tryShared tries a case in the shared host, under an id of the test's own, and gives the calls too.
func tryShared(t *testing.T, c abi.Case) (*trial.Trial, *spy) {
	t.Helper()
	s := &spy{}
	c.ID += " in " + t.Name()
	spies.Store(c.ID, s)
	defer spies.Delete(c.ID)
	return try(t, shared(t), c), s
}

// try tries a case that must come to an end.
func try(t testing.TB, h *host.Host, c abi.Case) *trial.Trial {
	t.Helper()
	return must.Get(h.Try(context.Background(), c))(t)
}

// dispute is a case that comes to a full trial: witnesses disagree.
func dispute() abi.Case {
	return abi.Case{
		ID: "dispute", Subject: "a disk that fills up", Labels: []string{"leak", "load", "quota"},
		Light: &abi.LightAnswer{Classification: "leak", Confidence: 0.65, Reasoning: "the curve only rises"},
		Evidence: []abi.Evidence{
			{SourceRef: "log:L2", Content: "quota exceeded for volume data-7", RelevanceConfidence: 0.8, Supports: "quota", Element: abi.Water},
			{SourceRef: "graph", Content: "usage rises by 2 GB an hour", RelevanceConfidence: 0.7, Supports: "leak", Element: abi.Earth},
			{SourceRef: "operator", Content: "nothing was deployed this week", RelevanceConfidence: 0.6, Supports: "load", Element: abi.Air},
		},
		Documents: []abi.Document{{Name: "log", Text: "12:00 write failed\nquota exceeded for volume data-7\n12:01 retrying\n"}},
	}
}

// long says that tests try all cases of many.
func long() bool { return tier.Whole("host/internal", "plugins") && !raceEnabled }
