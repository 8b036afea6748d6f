package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

const testVersion = "v0.0.1-rc.1"

// program is the smallest program that tries a case.
const program = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

func main() {
	h, err := host.Open(context.Background(), host.Config{CacheDir: os.Args[1]})
	if err != nil {
		panic(err)
	}
	trial, err := h.Try(context.Background(), abi.Case{
		ID: "disk-7", Subject: "a disk that fills up", Labels: []string{"leak", "quota"},
		Light: &abi.LightAnswer{Classification: "leak", Confidence: 0.3},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(trial.Result.Final.Status)
}
`

// TestAccept_LB1_InstallFromTheProxy makes a release of the files as they stand in the work tree, twice, and uses it as somebody
// does who has nothing but Go and the proxy.
func TestAccept_LB1_InstallFromTheProxy(t *testing.T) {
	t.Parallel()
	tier.Long(t, "go.mod", "host/bundle", "Makefile")
	first := committed(t, freshClone(t))
	outs, tags := []string{t.TempDir(), t.TempDir()}, []string{testVersion, bundleDir + "/" + testVersion, keylessDir + "/" + testVersion}
	var commits []string
	for _, out := range outs { // each is built in a new folder
		makeRelease(t, first, out, 0)
		commits = append(commits, gitOutput(t, first, "rev-parse", tags[0], tags[1], tags[2]))
	}
	if diff := cmp.Diff(files(t, outs[0]), files(t, outs[1])); diff != "" {
		t.Errorf("the same release is different a second time (-first +second):\n%s", diff)
	}
	check.Equal(t, commits[0], commits[1], tags, "are the commits", "and", "a second time")
	if large := gitOutput(t, first, "diff", "--stat", "HEAD.."+testVersion); !strings.Contains(large, "modules.zip.zst") || !strings.Contains(large, "3 files changed") {
		t.Errorf("the release adds the archive and changes go.mod and go.sum; it has:\n%s", large)
	}

	user := newUser(t, outs[0])
	user.run(t, user.dir, "go", "install", "-trimpath", "github.com/shadowcourt/shadowcourt/"+keylessDir+"@"+testVersion)
	user.run(t, user.dir, "go", "install", "-trimpath", "github.com/shadowcourt/shadowcourt/cmd/shadowcourt@"+testVersion)
	bin := filepath.Join(user.dir, "bin", "shadowcourt")
	if out := user.run(t, user.dir, bin, "version"); !strings.HasPrefix(out, "shadowcourt "+testVersion+",") {
		t.Errorf("version prints %q", out)
	}
	docket := filepath.Join(first, "examples", "dockets", "tour.jsonl")
	if out := user.run(t, user.dir, bin, "try", docket, "--format", "jsonl"); strings.Count(out, "\n") < 5 {
		t.Errorf("the docket gives %q", out)
	}

	app := filepath.Join(user.dir, "app")
	for name, text := range map[string]string{"go.mod": "module example.com/app\n\ngo 1.26.0\n", "main.go": program} {
		must.Do(t, os.MkdirAll(app, 0o755))
		must.Do(t, os.WriteFile(filepath.Join(app, name), []byte(text), 0o600))
	}
	user.run(t, app, "go", "get", "github.com/shadowcourt/shadowcourt/host@"+testVersion)
	cache := must.Get(os.UserCacheDir())(t)
	check.Equal(t, user.run(t, app, "go", "run", "-trimpath", ".", filepath.Join(cache, "shadowcourt", "modules")), "rejected\n", "the program prints")
}

func TestWhatIsNotCommittedIsNamed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	readme := func(text string) {
		must.Do(t, os.WriteFile(filepath.Join(root, "README.md"), []byte(text), 0o600))
	}
	readme("as it was\n")
	committed(t, root)
	readme("changed\n")
	if stderr := makeRelease(t, root, t.TempDir(), 1); !strings.Contains(stderr, "not committed") || !strings.Contains(stderr, "README.md") {
		t.Errorf("stderr %q", stderr)
	}
}

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-version", "0.1.0", "-out", "x"},
		{"-version", "v0.1", "-out", "x"},
		{"-version", "v2.0.0", "-out", "x"},
		{"-version", "v0.1.0"},
		{"-version", "v0.1.0", "-out", "x", "extra"},
		{"-nonsense"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%v: exit code %d, want 2; stderr %q", args, code, stderr.String())
		}
	}
}

// committed makes a folder a repository whose only commit has the files there, always with the same hash.
func committed(t *testing.T, root string) string {
	t.Helper()
	gitOutput(t, root, "init", "--quiet")
	gitOutput(t, root, "add", "--all")
	gitOutput(t, root, "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "all")
	return root
}

func gitOutput(t *testing.T, dir string, args ...string) string {
	t.Helper()
	g := git{dir: dir, env: []string{
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	}}
	return must.Get(g.output(t.Context(), args...))(t)
}

func makeRelease(t *testing.T, root, out string, want int) (stderr string) {
	t.Helper()
	var stdout, problems bytes.Buffer
	if code := run(t.Context(), []string{"-root", root, "-version", testVersion, "-out", out}, &stdout, &problems); code != want {
		t.Fatalf("exit code %d, want %d: %s", code, want, problems.String())
	}
	return problems.String()
}

// files are the contents of all files below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(text)
		return err
	})
	must.Do(t, err)
	return all
}

// user has an empty GOPATH, and gets modules from the proxy of a release, and all others from the cache of this build.
type user struct {
	dir string
	env []string
}

func newUser(t *testing.T, out string) *user {
	t.Helper()
	dir := t.TempDir()
	cache := must.Get(output(t.Context(), ".", nil, "go", "env", "GOMODCACHE"))(t)
	// The whole graph of modules: the user's go command asks for go.mod files that this build never read.
	for folder, args := range map[string][]string{".": {"-m", "all"}, keylessDir: {"-deps", "."}} {
		must.Get(output(t.Context(), filepath.Join("..", "..", folder), nil, "go", append([]string{"list"}, args...)...))(t)
	}
	return &user{dir, []string{
		"GOPATH=" + dir, "GOBIN=" + filepath.Join(dir, "bin"), "GOMODCACHE=" + filepath.Join(dir, "mod"), "GOFLAGS=-modcacherw -ldflags=-w", "GOWORK=off",
		"GOPROXY=file://" + filepath.ToSlash(filepath.Join(out, "proxy")) + ",file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download")) + ",off",
		"GOSUMDB=off",
	}}
}

func (u *user) run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	// The build cache stays: with -trimpath it has what the dependencies compile to, which is not what is tested.
	gocache := must.Get(output(t.Context(), ".", nil, "go", "env", "GOCACHE"))(t)
	cmd.Env = append(append(os.Environ(), u.env...), "GOCACHE="+gocache)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.String())
	}
	return string(out)
}
