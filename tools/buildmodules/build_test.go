package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// build runs the command and gives its exit code, output and errors.
func build(t *testing.T, plugins, dist string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	code = run(t.Context(), []string{"-plugins", plugins, "-dist", dist, "-archive", ""}, &out, &problems)
	return code, out.String(), problems.String()
}

// distIn makes a dist folder; what the build leaves beside it is seen.
func distIn(t *testing.T, parent string) string {
	t.Helper()
	dist := filepath.Join(parent, "dist")
	must.Do(t, os.Mkdir(dist, 0o755))
	return dist
}

func TestTheSameSourcesGiveTheSameBytesWithAManifestAndNoPaths(t *testing.T) {
	t.Parallel()
	var built [2][]byte
	parent := t.TempDir()
	for i, dist := range []string{distIn(t, parent), distIn(t, t.TempDir())} {
		if code, _, stderr := build(t, "testdata/good", dist); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		built[i] = must.Get(os.ReadFile(filepath.Join(dist, "quiet.wasm")))(t)
	}
	if !bytes.Equal(built[0], built[1]) {
		t.Error("two builds differ")
	}
	info := must.Get(module.Inspect(built[0]))(t)
	if info.Manifest == nil || info.Manifest.Name != "quiet" || info.Manifest.Version != "1.0.0" {
		t.Errorf("the manifest is %+v (%v)", info.Manifest, info.ManifestError)
	}
	for _, path := range []string{must.Get(filepath.Abs("../.."))(t), parent} {
		if bytes.Contains(built[0], []byte(path)) {
			t.Errorf("the module names %s", path)
		}
	}
}

func TestOnlyWhatIsNewIsWrittenAndWhatIsGoneIsRemoved(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dist := distIn(t, parent)
	for name, content := range map[string]string{"gone.wasm": "old", "README.md": "kept", "quiet.wasm": "old"} {
		must.Do(t, os.WriteFile(filepath.Join(dist, name), []byte(content), 0o644))
	}
	for _, want := range []string{"built", "unchanged"} {
		code, stdout, stderr := build(t, "testdata/good", dist)
		if fields := strings.Fields(stdout); code != 0 || len(fields) != 4 || fields[0] != "quiet.wasm" || fields[3] != want {
			t.Errorf("exit code %d, %q, %q; want quiet.wasm to be %s", code, stdout, stderr, want)
		}
	}
	for folder, want := range map[string]string{dist: "README.md quiet.wasm", parent: "dist"} {
		entries := must.Get(os.ReadDir(folder))(t)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("there is %s, want %s", got, want)
		}
	}
}

func TestEveryBadPluginIsNamedAndNoneIsWritten(t *testing.T) {
	t.Parallel()
	dist := distIn(t, t.TempDir())
	code, stdout, stderr := build(t, "testdata/bad", dist)
	if code != 1 || stdout != "" {
		t.Errorf("exit code %d, output %q", code, stdout)
	}
	for _, want := range []string{
		"broken: exit status 1",
		"main.go:4:15: undefined: undefined",
		"misnamed: manifest.yaml says name: other, the folder is misnamed",
		"promises: testdata/bad/promises/manifest.yaml: it promises judge calls, and its `criteria` are empty",
		"unknown: testdata/bad/unknown/manifest.yaml:9:9: colour: is not known",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is missing in:\n%s", want, stderr)
		}
	}
	if entries, err := os.ReadDir(dist); err != nil || len(entries) > 0 {
		t.Errorf("something was written: %v %v", entries, err)
	}
}

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-help"}, 0, "-plugins"},
		{[]string{"extra"}, 2, "takes no arguments"},
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"-plugins", "testdata", "-dist", t.TempDir()}, 1, "testdata holds no folder with a manifest.yaml"},
		{[]string{"-plugins", "testdata/good", "-dist", "main.go"}, 1, "not a directory"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), test.args, &stdout, &stderr); code != test.code || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%v: exit code %d, want %d with %q:\n%s", test.args, code, test.code, test.want, stderr.String())
		}
	}
}
