// Package guests builds the guests of folder guests, with the Go toolchain and
// with clang.
package guests

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Go builds a folder of guests as a module, into dir.
func Go(ctx context.Context, dir, name string) ([]byte, error) {
	out := filepath.Join(dir, "go-"+name+".wasm")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-o", out, "./guests/"+name)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	return built(cmd, out)
}

// C builds a file of guests/c as a module, into dir. It needs clang, wasm-ld
// and wasi-libc.
func C(ctx context.Context, dir, name string) ([]byte, error) {
	out := filepath.Join(dir, "c-"+name+".wasm")
	cmd := exec.CommandContext(ctx, "clang", "--target=wasm32-wasi", "-O2", "-Wall", "-mexec-model=reactor",
		"-Wl,--strip-all", "-o", out, "guests/c/"+name+".c")
	return built(cmd, out)
}

func built(cmd *exec.Cmd, out string) ([]byte, error) {
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", filepath.Base(out), err, said)
	}
	return os.ReadFile(out)
}
