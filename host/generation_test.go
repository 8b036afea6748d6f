package host_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// swapping replaces modules of a folder by those of two generations in turns until the test calls stop.
func swapping(t *testing.T, dir string, generations [2]map[string][]byte) (stop func()) {
	t.Helper()
	d := must.Get(moduledir.Open(dir))(t)
	must.Get(d.Put(generations[1]))(t)
	var ended atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		for n := 0; !ended.Load(); n++ {
			if _, err := d.Put(generations[n%2]); err != nil {
				t.Error(err)
				return
			}
		}
	})
	return func() {
		ended.Store(true)
		all.Wait()
	}
}

// TestAccept_FX9_AFolderIsReadInOneGeneration reads a folder again and again while it is swapped.
func TestAccept_FX9_AFolderIsReadInOneGeneration(t *testing.T) {
	t.Parallel()
	const modules, reads, readers = 6, 150, 3
	var generations [2]map[string][]byte
	var names []string
	for g := range generations {
		generations[g] = map[string][]byte{}
		for m := range modules {
			generations[g]["m"+strconv.Itoa(m)] = fmt.Appendf(nil, "module %d of generation %d", m, g)
		}
	}
	for m := range modules {
		names = append(names, "m"+strconv.Itoa(m))
	}
	dir := t.TempDir()
	defer swapping(t, dir, generations)()
	var all sync.WaitGroup
	var seen [2]atomic.Int64
	for range readers {
		all.Go(func() {
			for range reads {
				files, err := host.ReadModules(os.DirFS(dir), names...)
				if err != nil {
					continue
				}
				g := generationOf(generations, files)
				if g < 0 {
					t.Errorf("a mix: %q", files)
					return
				}
				seen[g].Add(1)
			}
		})
	}
	all.Wait()
	if total := seen[0].Load() + seen[1].Load(); total == 0 {
		t.Error("no reading succeeded")
	}
}

// meddled is a folder in which something happens before the nth file is opened.
type meddled struct {
	fs.FS
	n    int
	then func()
}

func (m *meddled) Open(name string) (fs.File, error) {
	if m.n--; m.n == 0 {
		m.then()
	}
	return m.FS.Open(name)
}

// TestAccept_FX9_AChangeAtEveryMomentOfAReading has swaps, or another program that copies files, change the folder before each
// of the files that a reading opens. Two swaps in a row give the modules of the first moment back.
func TestAccept_FX9_AChangeAtEveryMomentOfAReading(t *testing.T) {
	t.Parallel()
	generations := [2]map[string][]byte{{"a": []byte("a0"), "b": []byte("b0"), "c": []byte("c0")}, {"a": []byte("a1"), "b": []byte("b1"), "c": []byte("c1")}}
	for moment := 1; moment <= 16; moment++ {
		for changes := 1; changes <= 2; changes++ {
			for how, put := range map[string]func(*moduledir.Dir, string, map[string][]byte) error{
				"swap": func(d *moduledir.Dir, _ string, files map[string][]byte) error {
					_, err := d.Put(files)
					return err
				},
				"copy": func(_ *moduledir.Dir, dir string, files map[string][]byte) error {
					for name, data := range files {
						if err := os.WriteFile(filepath.Join(dir, name+".wasm"), data, 0o600); err != nil {
							return err
						}
					}
					return nil
				},
			} {
				dir := t.TempDir()
				d := must.Get(moduledir.Open(dir))(t)
				must.Get(d.Put(generations[0]))(t)
				files, err := host.ReadModules(&meddled{os.DirFS(dir), moment, func() {
					for c := range changes {
						if err := put(d, dir, generations[(c+1)%2]); err != nil {
							t.Error(err)
						}
					}
				}}, "a", "b", "c")
				if err != nil || generationOf(generations, files) < 0 {
					t.Errorf("%s, %d changes before file %d: %q, %v", how, changes, moment, files, err)
				}
			}
		}
	}
}

func generationOf(generations [2]map[string][]byte, files map[string][]byte) int {
	for g, want := range generations {
		if maps.EqualFunc(want, files, func(a, b []byte) bool { return string(a) == string(b) }) {
			return g
		}
	}
	return -1
}

// TestAccept_FX9_AHostThatOpensWhileModulesAreSwapped opens hosts as a start of try --watch does.
func TestAccept_FX9_AHostThatOpensWhileModulesAreSwapped(t *testing.T) {
	t.Parallel()
	list := editions(t)[1:3]
	dir := t.TempDir()
	for name, file := range list[0].files {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), file.Data, 0o600))
	}
	var generations [2]map[string][]byte
	for g, e := range list {
		generations[g] = map[string][]byte{"abyss": e.files["abyss.wasm"].Data, "specter": e.files["specter.wasm"].Data}
	}
	defer swapping(t, dir, generations)()
	for range 8 {
		h, err := host.Open(t.Context(), host.Config{Modules: os.DirFS(dir), CacheDir: cacheDir})
		if err != nil {
			t.Logf("rejected: %v", err)
			continue
		}
		digests := h.Modules(t.Context())
		must.Do(t, h.Close(t.Context()))
		whole := false
		for _, g := range generations {
			whole = whole || digests["abyss"] == moduledir.Digest(g["abyss"]) && digests["specter"] == moduledir.Digest(g["specter"])
		}
		if !whole {
			t.Errorf("a mix: %v", digests)
		}
	}
}

// TestAccept_FX9_AnInterruptedSwap leaves a folder with one new module of two.
func TestAccept_FX9_AnInterruptedSwap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := must.Get(moduledir.Open(dir))(t)
	must.Get(d.Put(map[string][]byte{"a": []byte("old a"), "b": []byte("old b")}))(t)
	pending := fmt.Sprintf(`{"serial":9,"pending":[{"a":{"before":%q,"after":%q},"b":{"before":%q,"after":%q}}]}`,
		moduledir.Digest([]byte("old a")), moduledir.Digest([]byte("new a")), moduledir.Digest([]byte("old b")), moduledir.Digest([]byte("new b")))
	put := func(name, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	read := func() error {
		_, err := host.ReadModules(os.DirFS(dir), "a", "b")
		return err
	}
	put(".history/generation", pending)
	must.Do(t, read(), "before the first file was in place")
	put("a.wasm", "new a")
	if err := read(); err == nil || err.Error() != "a change of modules has not ended: a changed, b not yet; if none is under way, one was interrupted: "+
		"repeat it with `shadowcourt plugin swap`, or take it back with `shadowcourt plugin rollback`" {
		t.Errorf("between two files: %v", err)
	}
	must.Get(host.ReadModules(os.DirFS(dir), "a"))(t, "who needs one of them")
	must.Get(d.Put(map[string][]byte{"c": []byte("c")}))(t)
	if err := read(); err == nil {
		t.Error("a change of another module made the mix whole")
	}
	must.Get(host.ReadModules(d.With(map[string][]byte{"b": []byte("new b")}), "a", "b"))(t, "the check before the change is repeated")
	must.Get(d.Put(map[string][]byte{"b": []byte("new b")}))(t)
	must.Do(t, read(), "repeated")
	if g, err := moduledir.ReadGeneration(os.DirFS(dir)); err != nil || len(g.Pending) > 0 {
		t.Errorf("%+v, %v", g, err)
	}
	put(".history/generation", "{")
	if err := read(); err == nil {
		t.Error("a generation that cannot be read was taken for none")
	}
}

// A swap compiles what is new; the others were compiled when they came.
func TestASwapCompilesOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	files := editions(t)[1].files
	check := func(changed ...string) (compiled int, err error) {
		dir := t.TempDir()
		err = host.CheckSwap(t.Context(), host.Config{Modules: files, CacheDir: dir}, changed)
		return len(entriesOf(t, dir)), err
	}
	one, err := check("abyss")
	if err != nil || one == 0 {
		t.Fatalf("%d files in the cache, %v", one, err)
	}
	if two, err := check("abyss", "specter"); err != nil || two <= one || two > 2*one || one >= len(files) {
		t.Errorf("%d files in the cache for two modules, %d for one, %v", two, one, err)
	}
	files["bulwark.wasm"] = files["abyss.wasm"] // which does not do its part
	if _, err := check("specter"); err == nil || !strings.Contains(err.Error(), "bulwark: ") {
		t.Errorf("beside a module that does not fit: %v", err)
	}
	files["specter.wasm"] = &fstest.MapFile{Data: []byte("no module")}
	if _, err := check("specter"); err == nil || !strings.Contains(err.Error(), "bulwark: ") || !strings.Contains(err.Error(), "specter: ") {
		t.Errorf("not all faults are named: %v", err)
	}
}

// entriesOf are the files below a folder.
func entriesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	return files
}
