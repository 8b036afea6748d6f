//go:build unix

package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/testkit/killtest"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// changing are the commands that are killed at each change of a folder, by the folder's name.
func changing() map[string]attacked {
	return map[string]attacked{
		"modules swap": {
			args: []string{"plugin", "swap", "specter=specter.wasm", "bulwark=bulwark.wasm", "--modules", "modules"}, prepare: twoModules,
			files: swapped, crashed: modulesAreWhole, ended: nextSwapCleans,
		},
		"modules rollback": {
			args: []string{"plugin", "rollback", "specter", "--modules", "modules"}, prepare: twoModulesSwapped,
			files: swapped, crashed: modulesAreWhole, ended: nextSwapCleans, again: true, // nothing to go back to, once it was done
		},
		"store of a record": {
			args:    []string{"try", "one.jsonl", "--format", "jsonl", "--output", "r.jsonl", "--record", "r.record", "--key", killKey, "--store", "store"},
			prepare: oneCase, resume: []string{"--resume"}, files: []string{"r.jsonl", "r.record"}, crashed: storeHolds, ended: nothingTemporary,
		},
		"tmp of a casebook": {
			args:    []string{"try", "one.jsonl", "--format", "jsonl", "--output", "r.jsonl", "--casebook", "book", "--remember"},
			env:     []string{"TMPDIR=tmp"},
			prepare: oneCase, resume: []string{"--resume"}, files: []string{"r.jsonl"}, again: true, ended: nextTrySnapshots,
		},
		"cache of compiled modules": {
			args:    []string{"plugin", "bench", "tiny.wasm", "--request", "request", "--time", "1ms", "--cache", "cache"},
			prepare: tinyModule, ended: cacheIsSealed,
		},
	}
}

// Commands are killed at changes of a folder: a file was created, written or renamed, and what follows was not done. What is
// there is complete, the command can be repeated, and then nothing of the killed process is left.
func TestAccept_FX2_KilledAtAnyChange(t *testing.T) {
	t.Parallel()
	for name, of := range changing() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "modules swap" {
				tier.Long(t, "internal/run", "internal/disk", "host/record", "host/casebook", "host/moduledir")
			}
			a := &crashing{attacked: of, random: killtest.NewRandom(killSeed), user: userEnv(t)}
			folder, _, _ := strings.Cut(name, " ")
			whole := a.folder(t)
			most := a.killAtChange(t, whole, folder, math.MaxInt).Changes
			kills := killsOr(t, 1)
			for i := range kills {
				change := 1 + i%max(most, 1)
				if kills < most {
					change = 1 + int(a.random.Offset(int64(most)))
				}
				a.killAndRepeat(t, whole, folder, change)
				if t.Failed() {
					t.Fatalf("seed %d, killed at change %d of %d", killSeed, change, most)
				}
			}
			t.Logf("%d kills, %d changes in a run", kills, most)
		})
	}
}

// killAndRepeat kills a run at a change, and lets another one end what it began.
func (a *crashing) killAndRepeat(t *testing.T, whole, folder string, change int) {
	t.Helper()
	dir, what := a.folder(t), fmt.Sprintf("killed at change %d", change)
	if a.killAtChange(t, dir, folder, change).Killed {
		if a.crashed != nil {
			a.crashed(t, dir)
		}
		if ending := a.run(t, a.program(dir, true)); ending.Code != cli.ExitDone && (!a.again || ending.Code != cli.ExitInput) {
			t.Fatalf("%s, then: %v", what, ending)
		}
	}
	a.finished(t, dir, whole, what)
}

func (a *crashing) killAtChange(t *testing.T, dir, folder string, change int) killtest.Ending {
	t.Helper()
	ending, err := a.program(dir, false).KillAtChange(t.Context(), folder, change)
	if err != nil {
		t.Fatal(err)
	}
	if !ending.Killed && ending.Code != cli.ExitDone {
		t.Fatalf("change %d: %v", change, ending)
	}
	return ending
}

// oneCase makes a docket of the first case of the other one, and a folder for temporary files.
func oneCase(dir string) error {
	return errors.Join(os.Mkdir(filepath.Join(dir, "tmp"), 0o700), copyLines(filepath.Join(dir, "one.jsonl"), filepath.Join(dir, "docket.jsonl"), 1))
}

// nextTrySnapshots checks that after one more run with a casebook no snapshot is left.
func nextTrySnapshots(t *testing.T, dir string) {
	t.Helper()
	a := &crashing{attacked: changing()["tmp of a casebook"], user: userEnv(t)}
	a.args = append(a.args, "--output", "again.jsonl")
	if ending := a.run(t, a.program(dir, false)); ending.Code != cli.ExitDone {
		t.Fatal(ending)
	}
	if left := names(t, filepath.Join(dir, "tmp")); len(left) > 0 {
		t.Errorf("%q are left in TMPDIR", left)
	}
}

// swapped are the modules that the commands change.
var swapped = []string{"modules/specter.wasm", "modules/bulwark.wasm"}

// twoModules copies the modules of the shipped pipeline, and makes a new one for each of two.
func twoModules(dir string) error {
	errs := []error{os.Mkdir(filepath.Join(dir, "modules"), 0o700)}
	for _, name := range []string{"abyss.wasm", "bulwark.wasm", "challenger.wasm", "clerk.wasm", "specter.wasm"} {
		module, err := os.ReadFile(filepath.Join("..", "..", "bin", "modules", name))
		errs = append(errs, err, os.WriteFile(filepath.Join(dir, "modules", name), module, 0o600))
	}
	for _, name := range swapped {
		module, err := os.ReadFile(filepath.Join(dir, name))
		errs = append(errs, err, os.WriteFile(filepath.Join(dir, filepath.Base(name)), append(module, newSection...), 0o600))
	}
	return errors.Join(errs...)
}

// newSection makes another module of one that does the same: an empty custom section of the name "x".
var newSection = []byte{0, 2, 1, 'x'}

// twoModulesSwapped is twoModules, and the new ones are in place.
func twoModulesSwapped(dir string) error {
	if err := twoModules(dir); err != nil {
		return err
	}
	modules := map[string][]byte{}
	for _, name := range swapped {
		name = filepath.Base(name)
		module, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		modules[strings.TrimSuffix(name, ".wasm")] = module
	}
	d, err := moduledir.Open(filepath.Join(dir, "modules"))
	if err == nil {
		_, err = d.Replace(modules)
	}
	return err
}

// modulesAreWhole checks that each module is the earlier or the new one, and that readers reject a mix of a swap that was
// interrupted.
func modulesAreWhole(t *testing.T, dir string) {
	t.Helper()
	var now [2]bool // which are new
	for i, name := range swapped {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			t.Fatal(err)
		}
		now[i] = bytes.Equal(got, after)
		if !now[i] && !bytes.Equal(got, after[:len(after)-len(newSection)]) {
			t.Errorf("%s has %d bytes", name, len(got))
		}
	}
	g, err := moduledir.ReadGeneration(os.DirFS(filepath.Join(dir, "modules")))
	if err != nil {
		t.Fatal(err)
	}
	err = g.Check(func(name string) string {
		module, err := os.ReadFile(filepath.Join(dir, "modules", name+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		return moduledir.Digest(module)
	})
	pair := len(g.Pending) > 0 && len(g.Pending[0]) == 2
	if mixed := pair && now[0] != now[1]; errors.Is(err, moduledir.ErrMixed) != mixed || err != nil && !mixed {
		t.Errorf("the new ones are %v of %v, and a reader gets: %v", now, swapped, err)
	}
}

// nextSwapCleans checks that after one more swap nothing is left of a killed process.
func nextSwapCleans(t *testing.T, dir string) {
	t.Helper()
	var args []string
	for _, name := range swapped {
		base := filepath.Base(name)
		module, err := os.ReadFile(filepath.Join(dir, base))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, base), append(module, newSection...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, strings.TrimSuffix(base, ".wasm")+"="+base)
	}
	a := &crashing{attacked: attacked{args: append([]string{"plugin", "swap", "--modules", "modules"}, args...)}, user: userEnv(t)}
	if ending := a.run(t, a.program(dir, false)); ending.Code != cli.ExitDone {
		t.Fatalf("the next swap: %v", ending)
	}
	nothingTemporary(t, dir)
	g, err := moduledir.ReadGeneration(os.DirFS(filepath.Join(dir, "modules")))
	if err != nil || len(g.Pending) > 0 {
		t.Errorf("pending: %v, %v", g.Pending, err)
	}
}

// nothingTemporary checks that no temporary file is left.
func nothingTemporary(t *testing.T, dir string) {
	t.Helper()
	for _, name := range temporary(t, dir) {
		t.Errorf("%s is left", name)
	}
}

func temporary(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(d.Name(), ".tmp") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// tinyModule writes a module that compiles at once, and a request: it has a memory, shadowcourt_alloc and shadowcourt_node,
// which answers nothing.
func tinyModule(dir string) error {
	wasm, err := hex.DecodeString("0061736d01000000010c0260017f017f60027f7f017e03030200010503010001" +
		"073103066d656d6f7279020011736861646f77636f7572745f616c6c6f63000010736861646f77636f7572745f6e6f64650001" +
		"0a0c0205004180080b040042000b")
	return errors.Join(err, os.WriteFile(filepath.Join(dir, "tiny.wasm"), wasm, 0o600), os.WriteFile(filepath.Join(dir, "request"), []byte{0x80}, 0o600))
}

// cacheIsSealed checks that every file of the cache is sealed. An entry that is not complete may belong to a living process until
// it is old.
func cacheIsSealed(t *testing.T, dir string) {
	t.Helper()
	incomplete := filepath.Join(dir, "cache", "v*", "*-new-*")
	left, err := filepath.Glob(incomplete)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		long := time.Now().Add(-24 * time.Hour)
		for _, name := range left {
			if err := os.Chtimes(name, long, long); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(filepath.Join(dir, "cache", "PRUNED")); err != nil {
			t.Fatal(err)
		}
		a := &crashing{attacked: changing()["cache of compiled modules"], user: userEnv(t)}
		if ending := a.run(t, a.program(dir, false)); ending.Code != cli.ExitDone {
			t.Fatal(ending)
		}
		if left, err = filepath.Glob(incomplete); err != nil || len(left) > 0 {
			t.Errorf("%q is left, %v", left, err)
		}
	}
	nothingTemporary(t, dir)
	seals, err := filepath.Glob(filepath.Join(dir, "cache", "v*", "*", "SEAL"))
	if err != nil || len(seals) != 3 {
		t.Fatalf("seals of %q, %v; want those of each way of metering", seals, err)
	}
	for _, name := range seals {
		seal, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		entry := filepath.Dir(name)
		err = filepath.WalkDir(entry, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path == name {
				return err
			}
			file, err := filepath.Rel(entry, path)
			if !strings.Contains(string(seal), " "+file+"\n") {
				t.Errorf("%s is not sealed", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
