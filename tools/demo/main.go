// Command demo makes the failing test run that `make demo` tries: a public Go module at two pinned releases in a git repository, with
// faults planted on top of the newer one. The older release is tagged green.
//
//	go run ./tools/demo -out out/demo
//
// OUT/mux is the repository, OUT/report.json the true output of go test -json there.
package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	module = "github.com/gorilla/mux"
	older  = "v1.8.0"
	newer  = "v1.8.1"
)

// alsoGreen are tests that the older release gets, too: they passed until something around them changed.
//
//go:embed files
var alsoGreen embed.FS

// environment is what breaks a test of the demo on this machine: `make demo` sets it for the experiments, too.
const environment = "TZ=Asia/Tokyo"

// fault is a change on top of the newer release.
type fault struct{ what, file, from, to string }

// faults are those of the product and of the tests. That of the environment and the flaky test are in files.
func faults() []fault {
	return []fault{
		{
			"a regression", "middleware.go",
			"if route.Match(req, &match) || match.MatchErr == ErrMethodMismatch {", "if route.Match(req, &match) {",
		},
		{"a wrong expectation", "middleware_test.go", "if mw.timesCalled != 3 {", "if mw.timesCalled != 4 {"},
	}
}

func main() {
	out := flag.String("out", filepath.Join("out", "demo"), "folder to write to")
	flag.Parse()
	if err := run(context.Background(), *out); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out string) error {
	repository := filepath.Join(out, "mux")
	if err := errors.Join(os.RemoveAll(repository), os.MkdirAll(repository, 0o755)); err != nil {
		return err
	}
	if _, err := command(ctx, repository, "git", "init", "-q", "."); err != nil {
		return err
	}
	for _, version := range []string{older, newer} {
		if err := check(ctx, repository, version); err != nil {
			return err
		}
	}
	for _, f := range faults() {
		if err := f.plant(repository); err != nil {
			return err
		}
	}
	// The flaky test passes in some runs: the first in which it fails is the one that is looked at.
	for range 20 {
		report, err := command(ctx, repository, "env", environment, "go", "test", "-json", "-count=1", "./...")
		if len(report) == 0 {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, "report.json"), report, 0o644); err != nil {
			return err
		}
		if bytes.Contains(report, []byte("names in order")) {
			break
		}
	}
	return nil
}

// check puts a release into the repository, as a commit and a tag.
func check(ctx context.Context, repository, version string) error {
	answer, err := command(ctx, ".", "go", "mod", "download", "-json", module+"@"+version)
	if err != nil {
		return err
	}
	var downloaded struct {
		Dir string `json:"Dir"`
	}
	if err := json.Unmarshal(answer, &downloaded); err != nil {
		return err
	}
	if _, err := command(ctx, repository, "git", "rm", "-q", "-r", "--ignore-unmatch", "."); err != nil {
		return err
	}
	own, err := fs.Sub(alsoGreen, "files")
	if err != nil {
		return err
	}
	for _, files := range []fs.FS{os.DirFS(downloaded.Dir), own} {
		if err := copyAll(repository, files); err != nil {
			return err
		}
	}
	if _, err := command(ctx, repository, "git", "add", "."); err != nil {
		return err
	}
	if _, err := command(ctx, repository, "git", "-c", "user.name=demo", "-c", "user.email=demo@example.com", "commit", "-q", "-m", "Release "+version); err != nil {
		return err
	}
	_, err = command(ctx, repository, "git", "tag", version)
	return err
}

// copyAll writes files that can be changed: those of the module cache can't. A name that ends in .txt stands for one without.
func copyAll(to string, files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		target := filepath.Join(to, filepath.FromSlash(strings.TrimSuffix(name, ".go.txt")))
		if strings.HasSuffix(name, ".go.txt") {
			target += ".go"
		}
		if err != nil || d.IsDir() {
			return errors.Join(err, os.MkdirAll(target, 0o755))
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}

func (f *fault) plant(repository string) error {
	name := filepath.Join(repository, f.file)
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	changed := strings.Replace(string(data), f.from, f.to, 1)
	if changed == string(data) {
		return fmt.Errorf("%s: %s has no place for it", f.what, f.file)
	}
	return os.WriteFile(name, []byte(changed), 0o644)
}

// command runs a program and gives its output.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	// With a fixed time the commits have the same hashes everywhere, and README.md shows one.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GIT_AUTHOR_DATE=2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2024-01-01T00:00:00Z")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, err
}
