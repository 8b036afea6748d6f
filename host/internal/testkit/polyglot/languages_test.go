//go:build sdk

package polyglot

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// inGo is not among the languages of sdk/: its SDK is abi/guest, and has tests of its own.
func inGo() *language {
	return &language{
		name:     "go",
		commands: []string{"go run ./build"},
		tests:    []string{"go vet ./...", "go test ./..."},
		output:   "*.wasm",
		find:     func() ([]string, string) { return []string{"GOFLAGS=-mod=mod", "GOWORK=off"}, "" },
	}
}

// languages that there are SDKs for, beside Go.
func languages() []*language {
	return []*language{inRust(), inC(), inTypeScript()}
}

func inRust() *language {
	return &language{
		name:     "rust",
		vectors:  "guest",
		ownTests: true, // those of prepared.rs, and the examples in the documentation
		commands: []string{"cargo build --quiet --offline --release --target wasm32-unknown-unknown"},
		tests:    []string{"cargo test --quiet --offline"},
		output:   "target/wasm32-unknown-unknown/release/*.wasm",
		find:     findRust,
	}
}

// findRust looks for a rustc that has the library of the wasm target: rustup's with the target added, or Debian's.
func findRust() (env []string, missing string) {
	const install = "apt install rustc cargo libstd-rust-dev-wasm32, or rustup target add wasm32-unknown-unknown"
	for _, rustc := range []string{tool("RUSTC", "rustc"), "/usr/bin/rustc"} {
		if rustc == "" {
			continue
		}
		out, err := exec.Command(rustc, "--print", "target-libdir", "--target", "wasm32-unknown-unknown").Output()
		if err != nil {
			continue
		}
		core, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "libcore-*.rlib"))
		cargo := filepath.Join(filepath.Dir(rustc), "cargo")
		if err == nil && len(core) > 0 && succeeds(cargo, "--version") {
			return []string{"RUSTC=" + rustc, "PATH=" + filepath.Dir(rustc) + string(os.PathListSeparator) + os.Getenv("PATH")}, ""
		}
	}
	return nil, "no rustc with the target wasm32-unknown-unknown and cargo beside it: " + install
}

func inC() *language {
	return &language{
		name:     "c",
		vectors:  "",
		commands: []string{"make --silent"},
		tests:    []string{"make --silent test"},
		output:   "build/*.wasm",
		find:     findC,
	}
}

func findC() (env []string, missing string) {
	const install = "apt install clang lld make gcc"
	clang := tool("CLANG", "clang")
	if clang == "" || !succeeds(clang, "--print-targets") {
		return nil, "no clang: " + install
	}
	out, err := exec.Command(clang, "--print-targets").Output()
	switch {
	case err != nil || !strings.Contains(string(out), "wasm32"):
		return nil, "clang has no target wasm32: " + install
	case tool("", "wasm-ld") == "":
		return nil, "no wasm-ld: " + install
	case tool("", "make") == "" || tool("CC", "cc") == "":
		return nil, "no make, or no cc for the tests: " + install
	}
	return []string{"CLANG=" + clang}, ""
}

// inD has no SDK: the one module in it is written from SPEC.md alone.
func inD() *language {
	return &language{name: "d", commands: []string{"sh build.sh"}, output: "build/*.wasm", find: findD}
}

func findD() (env []string, missing string) {
	const install = "apt install ldc lld"
	ldc, linker := tool("LDC", "ldc2"), tool("WASM_LD", "wasm-ld")
	switch {
	case ldc == "" || !succeeds(ldc, "--version"):
		return nil, "no ldc2: " + install
	case linker == "":
		return nil, "no wasm-ld: " + install
	}
	return []string{"LDC=" + ldc, "WASM_LD=" + linker}, ""
}

func inTypeScript() *language {
	return &language{
		name:     "typescript",
		vectors:  "",
		commands: []string{"npm install --silent --no-audit --no-fund", "npm run --silent build"},
		tests:    []string{"npm run --silent test"},
		output:   "build/*.wasm",
		find:     findTypeScript,
	}
}

func findTypeScript() (env []string, missing string) {
	if tool("", "node") == "" || tool("", "npm") == "" {
		return nil, "no node with npm: apt install nodejs npm; npm install then brings assemblyscript"
	}
	return nil, ""
}
