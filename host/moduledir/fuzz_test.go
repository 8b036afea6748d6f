package moduledir_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/host/moduledir"
)

// FuzzGeneration: no bytes panic; a generation that is read is written and read
// again as the same, and accepts a folder in which a change is whole.
func FuzzGeneration(f *testing.F) {
	f.Add([]byte(`{"serial":3}`))
	f.Add([]byte(`{"serial":4,"pending":[{"judge":{"before":"","after":"a"},"clerk":{"before":"a","after":"b"}}]}`))
	f.Add([]byte(`{"serial":9223372036854775807,"pending":[null,{},{"../judge":{"before":"a","after":"a"}}]}`))
	f.Add([]byte(`{"serial":1}{"serial":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		read := func(text []byte) (moduledir.Generation, error) {
			return moduledir.ReadGeneration(fstest.MapFS{".history/generation": {Data: text}})
		}
		g, err := read(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := read(again); err != nil || !g.Equal(other) {
			t.Fatalf("%+v is read again as %+v, %v", g, other, err)
		}
		if err := g.Check(func(string) string { return "" }); err != nil {
			t.Fatalf("a folder without modules: %v", err)
		}
		for _, change := range g.Pending {
			one := moduledir.Generation{Pending: []map[string]moduledir.Swap{change}}
			if err := one.Check(func(name string) string { return change[name].After }); err != nil {
				t.Fatalf("a change that ended: %v", err)
			}
		}
		err = g.Check(func(name string) string { return string(text) + name })
		if err != nil && !errors.Is(err, moduledir.ErrMixed) {
			t.Fatal(err)
		}
	})
}

var digestText = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// FuzzHistory: whatever the files of a history hold and are called, it names
// digests only, and a module that it gives is the one that was asked for.
func FuzzHistory(f *testing.F) {
	one, two := moduledir.Digest([]byte("one")), moduledir.Digest([]byte("two"))
	f.Add([]byte(one+"\n"+two+"\n"), []byte(two+"\n"), one[len("sha256:"):], "one", "")
	f.Add([]byte(one), []byte("sha256:"), two[len("sha256:"):], "not two", "sha256:")
	f.Add([]byte("nonsense"), []byte(nil), "notes", "a file of the operator", "no")
	f.Add([]byte(two+" "+one), []byte{0}, "", "one", one[:9])
	f.Fuzz(func(t *testing.T, order, left []byte, keptName, content, digest string) {
		if len(keptName) > 100 || keptName != "" && filepath.Base(keptName) != keptName {
			return
		}
		path := t.TempDir()
		history := filepath.Join(path, ".history", "judge")
		if err := os.MkdirAll(history, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{"order": order, "left": left, keptName + ".wasm": []byte(content)} {
			if os.WriteFile(filepath.Join(history, name), text, 0o600) != nil {
				return // no name of a file
			}
		}
		d, err := moduledir.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if h, err := d.History("judge"); err == nil {
			for _, listed := range slices.Concat(h.Order, h.Kept) {
				if !digestText.MatchString(listed) {
					t.Fatalf("%q is in the history", listed)
				}
			}
		}
		for _, wanted := range []string{"", digest} {
			if module, err := d.Before("judge", wanted); err == nil && (string(module) != content || moduledir.Digest(module) != "sha256:"+keptName) {
				t.Fatalf("%q gives %q", wanted, module)
			}
		}
		if removed, err := d.Prune("judge", 1); err == nil && len(removed) > 0 {
			t.Fatalf("%q was removed, which is the last", removed)
		}
		if _, err := os.Stat(filepath.Join(history, keptName+".wasm")); err != nil {
			t.Fatal(err)
		}
	})
}
