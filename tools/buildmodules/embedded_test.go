package main

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestEveryPluginIsEmbedded(t *testing.T) {
	t.Parallel()
	modules := must.Get(bundle.FS())(t)
	manifests := must.Get(filepath.Glob(filepath.Join("..", "..", "plugins", "*", "manifest.yaml")))(t)
	var want []string
	for _, manifest := range manifests {
		want = append(want, filepath.Base(filepath.Dir(manifest))+".wasm")
	}
	got := must.Get(fs.Glob(modules, "*.wasm"))(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("`make plugins` mends this (-plugins +modules):\n%s", diff)
	}
	for _, name := range got {
		wasm, err := fs.ReadFile(modules, name)
		if err != nil {
			t.Error(err)
		}
		if !bytes.HasPrefix(wasm, []byte("\x00asm")) {
			t.Errorf("%s is no module", name)
		}
	}
}

// What a program reads before it compiles a module is what it would read in the file.
func TestHeadsTellWhatTheModulesTell(t *testing.T) {
	t.Parallel()
	modules := must.Get(bundle.FS())(t)
	heads := must.Get(module.Embedded())(t)
	names := must.Get(fs.Glob(modules, "*.wasm"))(t)
	if len(names) != len(heads) {
		t.Errorf("%d heads of %d modules", len(heads), len(names))
	}
	for _, name := range names {
		wasm := must.Get(fs.ReadFile(modules, name))(t)
		want := must.Get(module.Inspect(wasm))(t)
		if diff := cmp.Diff(want, heads[strings.TrimSuffix(name, extension)]); diff != "" {
			t.Errorf("%s (-file +head):\n%s", name, diff)
		}
	}
}
