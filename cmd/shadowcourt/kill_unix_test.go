//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/testkit/killtest"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// seed of the moments and offsets. A failure names them.
const killSeed = 13

// killsOr is how often the tests kill: SHADOWCOURT_KILLS, or a few times.
func killsOr(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv(killsVariable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// attacked is a command that is killed, and whose disk is full.
type attacked struct {
	args []string
	// env are variables of the command.
	env []string
	// prepare adds to a folder what args need beside dockets and a key; nil adds nothing.
	prepare func(dir string) error
	// resume are added to args after the first crash.
	resume []string
	// files are compared with those of a run that nothing happened to.
	files []string
	// crashed checks what is there after each crash; nil checks nothing.
	crashed func(t *testing.T, dir string)
	// ended checks what is there in the end.
	ended func(t *testing.T, dir string)
	// again says that a run after a crash may find everything done, and say so with exit code 2.
	again bool
	// begins is the file that is there once modules are loaded; empty for a command that writes before.
	begins string
	kills  int // in a run of all tests
	// divide SHADOWCOURT_KILLS by it; 0 is 1.
	divide int
}

// fromTheBeginning is for commands that load no modules.
const fromTheBeginning = "-"

const killKey = "killed.key"

func attacks() map[string]attacked {
	try := func(flags ...string) []string {
		return append([]string{"try", "docket.jsonl", "--light", "rca"}, flags...)
	}
	resume := []string{"--resume"}
	return map[string]attacked{
		"output": {
			args: try("--format", "jsonl", "--output", "r.jsonl"), resume: resume, files: []string{"r.jsonl"},
			crashed: journalGrows(), begins: "r.jsonl.resume", kills: 4, again: true,
		},
		"output of JSON": {
			args: try("--format", "json", "--output", "r.json"), resume: resume, files: []string{"r.json"}, crashed: journalGrows(), begins: "r.json.resume", kills: 1,
			again: true,
		},
		"report": {
			args:   try("--report", "r.html", "--report", "r.md", "--output", "r.txt", "--cases", "r.cases"),
			resume: resume, files: []string{"r.html", "r.md", "r.txt", "r.cases"}, crashed: journalGrows(), begins: "r.txt.resume", kills: 2,
			again: true,
		},
		"casebook": {
			args: try("--format", "jsonl", "--output", "r.jsonl", "--casebook", "book", "--remember"), resume: resume,
			files: []string{"r.jsonl"}, crashed: bookIsRead, ended: bookHas(killCases), begins: "r.jsonl.resume", kills: 2, again: true,
		},
		"record and store": {
			args: try("--format", "jsonl", "--output", "r.jsonl", "--record", "r.record", "--key", killKey, "--store", "store"), resume: resume,
			files: []string{"r.jsonl", "r.record"}, crashed: storeHolds, begins: "r.record", kills: 2,
		},
		"cache": {
			args: []string{"try", "docket.jsonl", "--light", "docket", "--cache", "cache", "--format", "jsonl", "--output", "r.jsonl"}, resume: resume,
			files: []string{"r.jsonl"}, divide: 4, again: true, // compiling takes seconds: by make kills alone
		},
		"profile": {
			args: []string{"fit", "fit.jsonl", "--output", "profile.yaml"}, files: []string{"profile.yaml"}, begins: fromTheBeginning, kills: 2,
		},
		"key": {
			args: []string{"key", "new", "new.key"}, ended: keyIsWhole, begins: fromTheBeginning, kills: 2, again: true,
		},
		"plugin swap": {
			args: []string{"plugin", "swap", "specter=specter.wasm", "bulwark=bulwark.wasm", "--modules", "modules"}, prepare: twoModules,
			files: swapped, crashed: modulesAreWhole, kills: 1,
		},
	}
}

// killCases is how many cases the docket of the kills has.
const killCases = 24

// Runs are killed at random moments. What was written before is there, and the run that goes on gives the same bytes.
func TestAccept_FX2_KilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	attackAll(t, attacks(), func(t *testing.T, a *crashing) {
		t.Helper()
		kills := killsOr(t, a.kills) / max(a.divide, 1)
		if kills == 0 {
			return
		}
		whole := a.folder(t)
		begun := a.run(t, a.program(whole, false))
		if begun.Code != cli.ExitDone {
			t.Fatal(begun)
		}
		a.loop(t, whole, kills, func(p killtest.Program) (killtest.Ending, string) {
			after := a.random.Moment(begun.Took)
			ending, err := p.Kill(t.Context(), after)
			if err != nil {
				t.Fatal(err)
			}
			return ending, fmt.Sprintf("killed after %v", after)
		})
	})
}

// Disks are full at random offsets of a file. The error names the file and what is kept, and the run that goes on gives the
// same bytes.
func TestAccept_FX2_FullAtAnyOffset(t *testing.T) {
	t.Parallel()
	attackAll(t, attacks(), func(t *testing.T, a *crashing) {
		t.Helper()
		if a.begins == "" {
			return // it writes while modules are loaded, see the test with a disk of its own
		}
		whole := a.folder(t)
		if ending := a.run(t, a.program(whole, false)); ending.Code != cli.ExitDone {
			t.Fatal(ending)
		}
		most := a.largest(t, whole)
		for range a.offsets(t) {
			dir, offset := a.folder(t), a.random.Offset(most)
			after := a.begins
			if after == fromTheBeginning {
				after = ""
			}
			a.full(t, dir, whole, fmt.Sprintf("full behind %d of %d bytes", offset, most), "file too large", func() killtest.Ending {
				return a.run(t, a.program(dir, false).Full(offset, after))
			})
		}
	})
}

func (a *crashing) offsets(t *testing.T) int {
	t.Helper()
	return min(killsOr(t, min(a.kills, 2)), 20)
}

// full has a run meet the end of its disk, and another one go on.
func (a *crashing) full(t *testing.T, dir, whole, what, text string, run func() killtest.Ending) {
	t.Helper()
	ending := run()
	if ending.Code == cli.ExitDone {
		a.finished(t, dir, whole, what)
		return
	}
	if ending.Code != cli.ExitFailed || !strings.Contains(ending.Stderr, text) && !strings.Contains(ending.Stderr, "disk") {
		t.Fatalf("seed %d, %s: %v", killSeed, what, ending)
	}
	t.Logf("%s: %s", what, ending.Stderr)
	if parts := strings.Split(ending.Stderr, ": "); len(slices.Compact(slices.Clone(parts))) < len(parts) {
		t.Errorf("it says a thing twice: %s", ending.Stderr)
	}
	if a.crashed != nil {
		a.crashed(t, dir)
	}
	if ending = a.run(t, a.program(dir, true)); ending.Code != cli.ExitDone && (!a.again || ending.Code != cli.ExitInput) {
		t.Fatalf("seed %d, behind %s: %v", killSeed, what, ending)
	}
	a.finished(t, dir, whole, what)
}

func attackAll(t *testing.T, all map[string]attacked, do func(*testing.T, *crashing)) {
	t.Helper()
	for name, of := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "output" {
				tier.Long(t, "internal/run", "internal/disk", "host/record", "host/casebook")
			}
			do(t, &crashing{attacked: of, random: killtest.NewRandom(killSeed), user: userEnv(t)})
		})
	}
}

// crashing is one command under attack.
type crashing struct {
	attacked
	random *killtest.Random
	user   []string // variables, see userEnv
}

// loop lets runs crash, each going on in the folder of the one before until one comes to its end.
func (a *crashing) loop(t *testing.T, whole string, crashes int, crash func(killtest.Program) (killtest.Ending, string)) {
	t.Helper()
	dir, begun, broken := "", false, 0
	for i := range crashes {
		if dir == "" {
			dir, begun = a.folder(t), false
		}
		ending, what := crash(a.program(dir, begun))
		switch {
		case ending.Code == cli.ExitDone || begun && a.again && ending.Code == cli.ExitInput:
			a.finished(t, dir, whole, what)
			dir = ""
			continue
		case !ending.Killed && ending.Code != cli.ExitFailed:
			t.Fatalf("seed %d, run %d, %s: %v", killSeed, i, what, ending)
		}
		begun, broken = true, broken+1
		if a.crashed != nil {
			a.crashed(t, dir)
		}
		if t.Failed() {
			t.Fatalf("seed %d, run %d, %s: %v", killSeed, i, what, ending)
		}
	}
	if dir != "" {
		ending := a.run(t, a.program(dir, begun))
		if ending.Code != cli.ExitDone && (!begun || !a.again || ending.Code != cli.ExitInput) {
			t.Fatalf("the last run: %v", ending)
		}
		a.finished(t, dir, whole, "the last run")
	}
	t.Logf("seed %d: %d of %d runs broke off", killSeed, broken, crashes)
}

func (a *crashing) finished(t *testing.T, dir, whole, what string) {
	t.Helper()
	for _, name := range a.files {
		want, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d, %s: %s has %d bytes and not the %d of a run that nothing happened to: %v", killSeed, what, name, len(got), len(want), err)
		}
	}
	for _, name := range names(t, dir) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("seed %d, %s: %s is left", killSeed, what, name)
		}
	}
	if a.ended != nil {
		a.ended(t, dir)
	}
	for _, name := range names(t, dir) {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func (a *crashing) program(dir string, begun bool) killtest.Program {
	args := a.args
	if begun {
		args = append(slices.Clip(args), a.resume...)
	}
	return killtest.Program{Path: "shadowcourt-limited", Args: args, Dir: dir, Env: slices.Concat(os.Environ(), a.user, a.env)}
}

func (a *crashing) run(t *testing.T, p killtest.Program) killtest.Ending {
	t.Helper()
	ending, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ending
}

// folder is one with what the commands read.
func (a *crashing) folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	a.fill(t, dir)
	return dir
}

func (a *crashing) fill(t *testing.T, dir string) {
	t.Helper()
	key, err := record.NewKey(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	dockets := filepath.Join(repositoryRoot(t), "examples", "dockets")
	err = errors.Join(os.WriteFile(filepath.Join(dir, killKey), secret, 0o600),
		copyLines(filepath.Join(dir, "docket.jsonl"), filepath.Join(dockets, "go-failures.jsonl"), killCases),
		copyLines(filepath.Join(dir, "fit.jsonl"), filepath.Join(dockets, "sentiment-fit.jsonl"), 40))
	if err == nil && a.prepare != nil {
		err = a.prepare(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyLines(to, from string, lines int) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, bytes.Join(bytes.SplitAfter(data, []byte("\n"))[:lines], nil), 0o600)
}

// largest is the size of the largest file that a run wrote.
func (a *crashing) largest(t *testing.T, dir string) int64 {
	t.Helper()
	before := a.folder(t)
	var most int64
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if _, there := os.Stat(filepath.Join(before, name)); there != nil || strings.Contains(name, ".history") {
			most = max(most, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return most + most/8
}

// journalGrows checks that no line of a journal is lost or changed by a crash and what goes on behind it.
func journalGrows() func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(dir, "*"+run.JournalSuffix))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			now, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			now = now[:bytes.LastIndexByte(now, '\n')+1]
			kept := name + ".seen"
			if before, err := os.ReadFile(kept); err == nil && !bytes.HasPrefix(now, before) {
				t.Errorf("%s had %d bytes of whole lines, and has other ones now, %d bytes", name, len(before), len(now))
			}
			if err := os.WriteFile(kept, now, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// bookIsRead checks that a casebook can be read after a crash, unless that came before anything was remembered.
func bookIsRead(t *testing.T, dir string) {
	t.Helper()
	s, err := casebook.OpenReadOnly(context.Background(), filepath.Join(dir, "book"), casebook.Options{})
	if err == nil {
		err = s.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, casebook.ErrNotCasebook) {
		t.Error(err)
	}
}

// bookHas checks that the verdicts of a run are in a casebook, all of them.
func bookHas(cases int) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		s, err := casebook.OpenReadOnly(context.Background(), filepath.Join(dir, "book"), casebook.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if s.Len() != cases {
			t.Errorf("the casebook has %d cases, not %d", s.Len(), cases)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// storeHolds checks that each module of a store is what its name says.
func storeHolds(t *testing.T, dir string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "store", "sha256-*.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		wasm, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if want := "sha256-" + record.DigestOf(wasm).Hex() + ".wasm"; filepath.Base(name) != want {
			t.Errorf("%s has the digest of %s", name, want)
		}
	}
}

// keyIsWhole checks that both halves of a key are there and belong to each other.
func keyIsWhole(t *testing.T, dir string) {
	t.Helper()
	var ids []string
	for _, name := range []string{"new.key", "new.key.pub"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		key, err := record.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, key.ID())
	}
	if ids[0] != ids[1] {
		t.Errorf("the keys are %q", ids)
	}
}
