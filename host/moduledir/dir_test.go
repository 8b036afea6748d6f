package moduledir_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func open(t *testing.T) (*moduledir.Dir, string) {
	t.Helper()
	path := t.TempDir()
	d := must.Get(moduledir.Open(path))(t)
	return d, path
}

func replace(t *testing.T, d *moduledir.Dir, content string) moduledir.Change {
	t.Helper()
	changes, err := d.Replace(map[string][]byte{"judge": []byte(content)})
	if err != nil || len(changes) != 1 {
		t.Fatal(changes, err)
	}
	return changes[0]
}

func rollback(t *testing.T, d *moduledir.Dir, digest string) {
	t.Helper()
	must.Get(d.Rollback("judge", digest))(t)
}

// holds compares the module in place, and that the folder has no other file.
func holds(t *testing.T, path, want string) {
	t.Helper()
	got := must.Get(os.ReadFile(filepath.Join(path, "judge.wasm")))(t)
	check.Equal(t, string(got), want, "judge.wasm holds")
	names, err := filepath.Glob(filepath.Join(path, ".*tmp"))
	if err != nil || len(names) > 0 {
		t.Errorf("left behind: %q, %v", names, err)
	}
}

func TestRollbacksGoBackStepByStep(t *testing.T) {
	t.Parallel()
	d, path := open(t)
	if c := replace(t, d, "one"); c.Before != "" || c.After != moduledir.Digest([]byte("one")) || c.Name != "judge" {
		t.Errorf("the first: %+v", c)
	}
	check.Is(t, check.Err(d.Rollback("judge", "")), moduledir.ErrNothingBefore, "before anything was replaced")
	replace(t, d, "two")
	replace(t, d, "three")
	if c := replace(t, d, "three"); c.Before != c.After {
		t.Errorf("the same again: %+v", c)
	}
	holds(t, path, "three")
	rollback(t, d, "")
	holds(t, path, "two")
	rollback(t, d, "")
	holds(t, path, "one")
	check.Is(t, check.Err(d.Rollback("judge", "")), moduledir.ErrNothingBefore, "at the beginning")
	holds(t, path, "one")
	// What was rolled back is there still, and going to it is a step like others.
	rollback(t, d, moduledir.Digest([]byte("three"))[:20])
	holds(t, path, "three")
	rollback(t, d, "")
	holds(t, path, "one")
	h, err := d.History("judge")
	if err != nil || h.Now != moduledir.Digest([]byte("one")) || len(h.Order) != 0 || len(h.Kept) != 3 {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestSwapAfterARollbackIsOneStep(t *testing.T) {
	t.Parallel()
	d, path := open(t)
	for _, content := range []string{"one", "two"} {
		replace(t, d, content)
	}
	rollback(t, d, "")
	replace(t, d, "three")
	rollback(t, d, "")
	holds(t, path, "one")
}

func TestHistoryThatIsNotWhatItSays(t *testing.T) {
	t.Parallel()
	d, path := open(t)
	replace(t, d, "one")
	replace(t, d, "two")
	history := filepath.Join(path, ".history", "judge")
	kept := filepath.Join(history, strings.TrimPrefix(moduledir.Digest([]byte("one")), "sha256:")+".wasm")
	must.Do(t, os.WriteFile(kept, []byte("other"), 0o600))
	check.Is(t, check.Err(d.Rollback("judge", "")), moduledir.ErrChanged, "another content")
	holds(t, path, "two")
	check.Is(t, check.Err(d.Before("judge", "sha256:12")), moduledir.ErrNotKept, "an unknown digest")
	must.Do(t, os.WriteFile(filepath.Join(history, "order"), []byte("../../secret\n"), 0o600))
	check.Fails(t, check.Err(d.Rollback("judge", "")), "is no digest", "a path in the order")
	for _, name := range []string{"", ".", "..", "../judge", "a/b", ".history"} {
		if _, err := d.Replace(map[string][]byte{name: nil}); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
	// Stopped between the two halves of a swap: the order names what is in place.
	order := moduledir.Digest([]byte("one")) + "\n" + moduledir.Digest([]byte("two")) + "\n"
	must.Do(t, errors.Join(os.WriteFile(filepath.Join(history, "order"), []byte(order), 0o600), os.WriteFile(kept, []byte("one"), 0o600)))
	rollback(t, d, "")
	holds(t, path, "one")
}

func TestAllAreReplacedOrNone(t *testing.T) {
	t.Parallel()
	d, path := open(t)
	replace(t, d, "one")
	must.Do(t, os.Mkdir(filepath.Join(path, "spoiled.wasm"), 0o700))
	if _, err := d.Replace(map[string][]byte{"judge": []byte("two"), "spoiled": []byte("x")}); err == nil {
		t.Error("a folder was replaced")
	}
	holds(t, path, "one")
	if h, err := d.History("judge"); err != nil || len(h.Order) > 0 {
		t.Errorf("the history of what did not happen: %+v, %v", h, err)
	}
	changes, err := d.Replace(map[string][]byte{"judge": []byte("two"), "clerk": []byte("x")})
	if err != nil || !slices.IsSortedFunc(changes, func(a, b moduledir.Change) int { return strings.Compare(a.Name, b.Name) }) || len(changes) != 2 {
		t.Errorf("%+v, %v", changes, err)
	}
	must.Do(t, os.Chmod(filepath.Join(path, "judge.wasm"), 0o640))
	replace(t, d, "three")
	if info, err := os.Stat(filepath.Join(path, "judge.wasm")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v, %v", info.Mode(), err)
	}
}

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	d, _ := open(t)
	unlock := must.Get(d.Lock())(t)
	got := make(chan func())
	go func() {
		other, err := d.Lock()
		if err != nil {
			t.Error(err)
		}
		got <- other
	}()
	select {
	case <-got:
		t.Error("two have the lock")
	default:
	}
	unlock()
	(<-got)()
}

// TestWhatAKilledProcessLeftIsRemoved writes the files that a killed change leaves: the next change removes them.
func TestWhatAKilledProcessLeftIsRemoved(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	dir := must.Get(moduledir.Open(path))(t)
	put := func(content string) {
		t.Helper()
		must.Get(dir.Replace(map[string][]byte{"a": []byte(content)}))(t)
	}
	put("one")
	put("two")
	left := []string{
		filepath.Join(path, ".a.wasm.0.tmp"), filepath.Join(path, ".history", ".generation.0.tmp"),
		filepath.Join(path, ".history", "a", ".order.0.tmp"),
	}
	for _, name := range left {
		must.Do(t, os.WriteFile(name, []byte("cut"), 0o600))
	}
	must.Get(dir.Rollback("a", ""))(t)
	for _, name := range left {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	d, path := open(t)
	prunes := func(keep int, want ...string) {
		t.Helper()
		removed, err := d.Prune("judge", keep)
		for i := range want {
			want[i] = moduledir.Digest([]byte(want[i]))
		}
		h, err2 := d.History("judge")
		if errors.Join(err, err2) != nil || !slices.Equal(removed, want) {
			t.Errorf("removed %q, want %q: %v, %v", removed, want, err, err2)
		}
		for _, digest := range append(removed, h.Order...) {
			if gone := slices.Contains(removed, digest); slices.Contains(h.Kept, digest) == gone || gone && slices.Contains(h.Order, digest) {
				t.Errorf("%s: removed %t, %+v", digest, gone, h)
			}
		}
	}
	for _, content := range []string{"a", "b", "c", "d", "e", "f"} {
		replace(t, d, content)
	}
	prunes(5)
	prunes(4, "a")
	replace(t, d, "c") // again: it is in place, and was not removed
	prunes(3, "b")
	for _, want := range []string{"f", "e"} {
		rollback(t, d, "")
		holds(t, path, want)
	}
	prunes(2, "f") // rolled back, and so is c, which comes later in the history; d is next
	prunes(1, "c")
	prunes(1)
	rollback(t, d, "")
	holds(t, path, "d")
	if _, err := d.Prune("judge", 0); err == nil {
		t.Error("nothing at all was kept")
	}
	if removed, err := d.Prune("nobody", 1); err != nil || len(removed) > 0 {
		t.Errorf("without a history: %q, %v", removed, err)
	}
	// Two modules that take turns don't make the order grow for ever.
	turns := strings.Repeat(moduledir.Digest([]byte("d"))+"\n"+moduledir.Digest([]byte("e"))+"\n", 2000)
	must.Do(t, os.WriteFile(filepath.Join(path, ".history", "judge", "order"), []byte(turns), 0o600))
	prunes(20)
	check.Equal(t, len(must.Get(d.History("judge"))(t).Order), 1000, "steps")
}

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
		again := must.Get(json.Marshal(g))(t)
		if other, err := read(again); err != nil || !g.Equal(other) {
			t.Fatalf("%+v is read again as %+v, %v", g, other, err)
		}
		must.Do(t, g.Check(func(string) string { return "" }), "a folder without modules")
		for _, change := range g.Pending {
			one := moduledir.Generation{Pending: []map[string]moduledir.Swap{change}}
			must.Do(t, one.Check(func(name string) string { return change[name].After }), "a change that ended")
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
	f.Add([]byte(one+"\n"+two+"\n"), one[len("sha256:"):], "one", "")
	f.Add([]byte(one), two[len("sha256:"):], "not two", "sha256:")
	f.Add([]byte("nonsense"), "notes", "a file of the operator", "no")
	f.Add([]byte(two+" "+one), "", "one", one[:9])
	f.Fuzz(func(t *testing.T, order []byte, keptName, content, digest string) {
		if len(keptName) > 100 || keptName != "" && filepath.Base(keptName) != keptName {
			return
		}
		path := t.TempDir()
		history := filepath.Join(path, ".history", "judge")
		must.Do(t, os.MkdirAll(history, 0o700))
		for name, text := range map[string][]byte{"order": order, keptName + ".wasm": []byte(content)} {
			if os.WriteFile(filepath.Join(history, name), text, 0o600) != nil {
				return // no name of a file
			}
		}
		d := must.Get(moduledir.Open(path))(t)
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
		must.Get(os.Stat(filepath.Join(history, keptName+".wasm")))(t)
	})
}
