package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/module"
)

const (
	manifestFile = "manifest.yaml"
	extension    = ".wasm"
)

type builder struct {
	plugins, dist string
	archive       string // empty for none
}

// run builds all plugins into dist, writes the archive, and reports a line each. The error joins the problems of all plugins.
func (b *builder) run(ctx context.Context, report io.Writer) error {
	manifests, err := filepath.Glob(filepath.Join(b.plugins, "*", manifestFile))
	if err != nil {
		return err
	}
	if len(manifests) == 0 {
		return fmt.Errorf("%s holds no folder with a %s", b.plugins, manifestFile)
	}
	if err := os.MkdirAll(b.dist, 0o755); err != nil {
		return err
	}
	// Beside dist, so that a rename stays on one file system.
	work, err := os.MkdirTemp(filepath.Dir(filepath.Clean(b.dist)), ".build-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()

	var names []string
	var problems []error
	for _, manifest := range manifests {
		name := filepath.Base(filepath.Dir(manifest))
		names = append(names, name+extension)
		size, changed, err := b.module(ctx, name, manifest, work)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
			continue
		}
		reportLine(report, name+extension, size, changed)
	}
	if err := errors.Join(append(problems, b.removeOthers(names))...); err != nil || b.archive == "" {
		return err
	}
	size, changed, err := writeArchive(b.archive, b.dist, names)
	if err != nil {
		return err
	}
	reportLine(report, filepath.Base(b.archive), size, changed)
	return nil
}

func reportLine(report io.Writer, name string, size int, changed bool) {
	state := "unchanged"
	if changed {
		state = "built"
	}
	fmt.Fprintf(report, "%-16s %6.2f MB  %s\n", name, float64(size)/1e6, state)
}

// module builds one plugin and puts it into dist if its bytes are new.
func (b *builder) module(ctx context.Context, name, manifest, work string) (size int, changed bool, err error) {
	built := filepath.Join(work, name)
	if err := compile(ctx, filepath.Join(b.plugins, name), built); err != nil {
		return 0, false, err
	}
	plain, err := os.ReadFile(built)
	if err != nil {
		return 0, false, err
	}
	text, err := os.ReadFile(manifest)
	if err != nil {
		return 0, false, err
	}
	wasm, err := module.Annotate(plain, manifest, text)
	if err != nil {
		return 0, false, err
	}
	// Otherwise a wrong name, or a call without its export, would only show at the first trial.
	if err := check(name, wasm); err != nil {
		return 0, false, err
	}
	target := filepath.Join(b.dist, name+extension)
	if old, err := os.ReadFile(target); err == nil && bytes.Equal(old, wasm) {
		return len(wasm), false, nil
	}
	if err := os.WriteFile(built, wasm, 0o644); err != nil {
		return 0, false, err
	}
	if err := os.Rename(built, target); err != nil {
		return 0, false, err
	}
	return len(wasm), true, nil
}

// compile runs the Go toolchain. The flags make the bytes a function of sources and toolchain alone, and so does the environment: settings
// of the user that change what is built are left out.
func compile(ctx context.Context, folder, output string) error {
	target, err := filepath.Abs(output)
	if err != nil {
		return err
	}
	args := []string{"build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", target, "."}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOWASM=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(text))
	}
	// go build -o makes what it builds executable.
	return os.Chmod(target, 0o644) //nolint:gosec // as above
}

// check checks the manifest against the folder and against the module: the
// court finds a module by its name, and calls what the manifest promises.
func check(name string, wasm []byte) error {
	info, err := module.Inspect(wasm)
	if err != nil {
		return err
	}
	if info.ManifestError != nil {
		return info.ManifestError
	}
	if got := info.Manifest.Name; got != name {
		return fmt.Errorf("%s says name: %s, the folder is %s", manifestFile, got, name)
	}
	for _, call := range info.Manifest.Calls {
		if !slices.Contains(info.Calls, call) {
			return fmt.Errorf("%s promises the call %s, the module has no export for it: import its package of abi/guest", manifestFile, call)
		}
	}
	return nil
}

// removeOthers removes the modules from dist that no plugin stands for.
func (b *builder) removeOthers(names []string) error {
	entries, err := os.ReadDir(b.dist)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension) && !slices.Contains(names, e.Name()) {
			if err := os.Remove(filepath.Join(b.dist, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
