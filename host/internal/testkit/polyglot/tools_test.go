//go:build sdk

package polyglot

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// language is one that modules are written in, and how its folders are built: by the ordinary tools, run in the folder.
type language struct {
	name string
	// vectors is the folder below tests of the guest for the test vectors, "" for tests itself.
	vectors string
	// ownTests: the SDK has tests beside the vectors, run in its folder.
	ownTests bool
	// commands build the module, tests run the folder's own tests. A command is a line without quoting; a first word in capitals is the
	// variable of find's environment that holds the program.
	commands, tests []string
	// output is the pattern of the built module, below the folder.
	output string
	// find gives the environment under which the commands run, or says what is missing and how to get it.
	find func() (env []string, missing string)
}

// need skips the test where the tools are missing. `make sdk-tests` says so at its end, and fails if SDK_REQUIRE names the language.
func (l *language) need(t *testing.T) []string {
	t.Helper()
	if only := strings.Fields(os.Getenv("SDK_ONLY")); len(only) > 0 && !slices.Contains(only, l.name) {
		t.Skipf("%s is not among SDK_ONLY", l.name)
	}
	env, missing := l.find()
	if missing == "" {
		note(l.name, true, t.Name())
		return env
	}
	note(l.name, false, missing)
	if required(l.name) {
		t.Fatalf("SDK_REQUIRE names %s, but its tools are missing: %s", l.name, missing)
	}
	t.Skipf("%s: %s", l.name, missing)
	return nil
}

func required(name string) bool {
	list := strings.Fields(os.Getenv("SDK_REQUIRE"))
	return slices.Contains(list, name) || slices.Contains(list, "all")
}

// run runs commands in a folder.
func (l *language) run(t *testing.T, dir string, commands []string) {
	t.Helper()
	env := l.need(t)
	for _, line := range commands {
		words := strings.Fields(line)
		for _, variable := range env {
			if program, ok := strings.CutPrefix(variable, words[0]+"="); ok {
				words[0] = program
			}
		}
		cmd := exec.CommandContext(t.Context(), "env", append(slices.Clone(env), words...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %s in %s: %v\n%s", l.name, line, dir, err, out)
		}
	}
}

// build builds the module of a folder and reads it.
func (l *language) build(t *testing.T, dir string) []byte {
	t.Helper()
	l.run(t, dir, l.commands)
	found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(l.output)))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d files %s in %s, want one (%v)", l.name, len(found), l.output, dir, err)
	}
	return must.Get(os.ReadFile(found[0]))(t)
}

// root gives a path below the folder of the Go module.
func root(t *testing.T, parts ...string) string {
	t.Helper()
	return must.Get(filepath.Abs(filepath.Join(append([]string{"..", "..", "..", ".."}, parts...)...)))(t)
}

// load loads a module into the sandbox, with the capabilities that are granted. Its manifest
// must be there, canonical, and promise no call that it has no export for.
func load(t *testing.T, wasm []byte, granted ...abi.Capability) *sandbox.Module {
	t.Helper()
	engine := must.Get(sandbox.New(t.Context(), sandbox.Config{}))(t)
	t.Cleanup(func() {
		must.Do(t, engine.Close(context.Background()))
	})
	info := must.Get(sandbox.Inspect(wasm))(t)
	m := must.Get(engine.LoadInspected(t.Context(), info, granted))(t)
	message := m.Info().ManifestBytes
	manifest, err := codec.DecodeManifest(message, 0)
	if err != nil {
		t.Fatalf("manifest %x: %v", message, err)
	}
	if want := codec.AppendManifest(nil, &manifest); !bytes.Equal(message, want) {
		t.Errorf("the manifest is\n  %x, canonical is\n  %x", message, want)
	}
	if !slices.Equal(manifest.Calls, m.Info().Calls) || manifest.ABI != abi.Version {
		t.Errorf("manifest %+v, exports for %v", manifest, m.Info().Calls)
	}
	return m
}

// answer makes a call that succeeds, and decodes its response.
func answer[R any](t *testing.T, m *sandbox.Module, call abi.Call, request []byte, decode func([]byte, int) (R, error)) R {
	t.Helper()
	return answerAfter(t, m, nil, call, request, decode)
}

// answerAfter is answer of a module that was prepared.
func answerAfter[R any](t *testing.T, m *sandbox.Module, after *sandbox.Preparation, call abi.Call, request []byte, decode func([]byte, int) (R, error)) R {
	t.Helper()
	out := must.Get(m.CallPrepared(t.Context(), after, call, request))(t)
	return decoded(t, out.Bytes, decode)
}

func decoded[R any](t *testing.T, message []byte, decode func([]byte, int) (R, error)) R {
	t.Helper()
	return must.Get(decode(message, 0))(t)
}

// opened is a host until the test ends.
func opened(t *testing.T, config host.Config) *host.Host {
	t.Helper()
	h := must.Get(host.Open(t.Context(), config))(t)
	t.Cleanup(func() {
		must.Do(t, h.Close(context.Background()))
	})
	return h
}

// succeeds says whether a program runs and ends well.
func succeeds(name string, args ...string) bool {
	return exec.Command(name, args...).Run() == nil
}

// tool gives the first of the candidates that is there; the environment variable may name another.
func tool(variable string, candidates ...string) string {
	if name := os.Getenv(variable); name != "" {
		candidates = []string{name}
	}
	for _, name := range candidates {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
