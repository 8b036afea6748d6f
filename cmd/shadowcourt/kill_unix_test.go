//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/testkit/killtest"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// killSeed is that of the moments and offsets. A failure names them.
const killSeed = 13

// killsOr is how often the tests kill: SHADOWCOURT_KILLS, which `make kills` sets, or a few times.
func killsOr(t *testing.T, few int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("SHADOWCOURT_KILLS"))
	if err != nil {
		return few
	}
	return n
}

// attacked is a command that is killed, and whose disk is full.
type attacked struct {
	args, resume []string // resume are added to args after the first crash
	files        []string // are compared with those of a run that nothing happened to
	prepare      func(dir string) error
	crashed      func(t *testing.T, dir string) // checks what is there after each crash
	ended        func(t *testing.T, dir string) // checks what is there in the end
	again        bool                           // a run after a crash may find everything done, and say so with exit code 2
	begins       string                         // the file that is there once modules are loaded; "-" where none are, "" where it writes before
	kills        int                            // in a run of all tests
	cached       bool                           // a run does without what it can't write, and the next one writes it
}

const killKey = "killed.key"

func attacks() map[string]attacked {
	try := func(flags ...string) []string {
		return append([]string{"try", "docket.jsonl", "--light", "rca"}, flags...)
	}
	resume := []string{"--resume"}
	return map[string]attacked{
		"output": {
			args: try("--format", "jsonl", "--output", "r.jsonl"), resume: resume, files: []string{"r.jsonl"}, crashed: journalGrows, begins: "r.jsonl.resume", kills: 4, again: true,
		},
		"output of JSON": {
			args: try("--format", "json", "--output", "r.json"), resume: resume, files: []string{"r.json"}, crashed: journalGrows, begins: "r.json.resume", kills: 1, again: true,
		},
		"report": {
			args: try("--report", "r.html", "--report", "r.md", "--output", "r.txt", "--cases", "r.cases"), resume: resume,
			files: []string{"r.html", "r.md", "r.txt", "r.cases"}, crashed: journalGrows, begins: "r.txt.resume", kills: 2, again: true,
		},
		"casebook": {
			args: try("--format", "jsonl", "--output", "r.jsonl", "--casebook", "book", "--remember"), resume: resume,
			files: []string{"r.jsonl"}, crashed: bookIsRead, ended: bookHasAll, begins: "r.jsonl.resume", kills: 2, again: true,
		},
		"record and store": {
			args: try("--format", "jsonl", "--output", "r.jsonl", "--record", "r.record", "--key", killKey, "--store", "store"), resume: resume,
			files: []string{"r.jsonl", "r.record"}, crashed: storeHolds, begins: "r.record", kills: 2, again: true,
		},
		"cache": {
			args: []string{"plugin", "bench", "tiny.wasm", "--request", "request", "--time", "1ms", "--cache", "cache"}, prepare: tinyModule, ended: cacheIsComplete, begins: "-", kills: 1, cached: true,
		},
		"profile": {args: []string{"fit", "fit.jsonl", "--output", "profile.yaml"}, files: []string{"profile.yaml"}, begins: "-", kills: 2},
		"key":     {args: []string{"key", "new", "new.key"}, ended: keyIsWhole, begins: "-", kills: 2, again: true},
		"plugin swap": {
			args: []string{"plugin", "swap", "specter=specter.wasm", "bulwark=bulwark.wasm", "--modules", "modules"}, prepare: twoModules,
			files: swapped, crashed: modulesAreWhole, ended: nextSwapCleans, begins: "modules/.history/bulwark", kills: 1,
		},
		"plugin rollback": {
			args: []string{"plugin", "rollback", "specter", "--modules", "modules"}, prepare: twoModulesSwapped,
			files: swapped, crashed: modulesAreWhole, ended: nextSwapCleans, again: true, kills: 1, // nothing to go back to, once it was done
		},
	}
}

// killCases is how many cases the docket of the kills has.
const killCases = 24

// Runs are killed at random moments. What was written before is there, and the run that goes on gives the same bytes.
func TestAccept_FX2_KilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	attackAll(t, func(t *testing.T, a *crashing) {
		t.Helper()
		whole := a.folder(t)
		begun := a.run(t, a.program(whole, false))
		must.Equal(t, begun.Code, cli.ExitDone, begun)
		dir, going, broken := "", false, 0
		kills := killsOr(t, a.kills)
		for range kills {
			if dir == "" {
				dir, going = a.folder(t), false
			}
			after := time.Duration(a.random.Int64N(int64(begun.Took)))
			ending, err := a.program(dir, going).Kill(t.Context(), after)
			switch {
			case err != nil:
				t.Fatal(err)
			case a.done(ending, going):
				a.finished(t, dir, whole, fmt.Sprintf("killed after %v", after))
				dir = ""
				continue
			case !ending.Killed && ending.Code != cli.ExitFailed:
				t.Fatalf("seed %d, killed after %v: %v", killSeed, after, ending)
			}
			going, broken = true, broken+1
			a.check(t, dir)
		}
		if dir != "" {
			a.goOn(t, dir, whole, "the last run", going)
		}
		t.Logf("seed %d: %d of %d runs broke off", killSeed, broken, kills)
	})
}

// Disks are full at random offsets of a file. The error names the file and what is kept, and the run that goes on gives the same bytes.
func TestAccept_FX2_FullAtAnyOffset(t *testing.T) {
	t.Parallel()
	attackAll(t, func(t *testing.T, a *crashing) {
		t.Helper()
		if a.begins == "" {
			return // it writes while modules are loaded, which need more than a file may have
		}
		whole := a.folder(t)
		if ending := a.run(t, a.program(whole, false)); ending.Code != cli.ExitDone {
			t.Fatal(ending)
		}
		most := a.largest(t, whole)
		for range min(killsOr(t, min(a.kills, 2)), 20) {
			dir, offset := a.folder(t), a.random.Int64N(max(most, 1))
			what := fmt.Sprintf("full behind %d of %d bytes", offset, most)
			ending := a.run(t, a.program(dir, false).Full(offset, strings.TrimPrefix(a.begins, "-")))
			if ending.Code == cli.ExitDone && a.cached {
				a.goOn(t, dir, whole, what, true)
				continue
			}
			if ending.Code == cli.ExitDone {
				a.finished(t, dir, whole, what)
				continue
			}
			if ending.Code != cli.ExitFailed || !strings.Contains(ending.Stderr, "file too large") && !strings.Contains(ending.Stderr, "disk") {
				t.Fatalf("seed %d, %s: %v", killSeed, what, ending)
			}
			if parts := strings.Split(ending.Stderr, ": "); len(slices.Compact(slices.Clone(parts))) < len(parts) {
				t.Errorf("it says a thing twice: %s", ending.Stderr)
			}
			a.check(t, dir)
			a.goOn(t, dir, whole, what, true)
		}
	})
}

func attackAll(t *testing.T, do func(*testing.T, *crashing)) {
	t.Helper()
	for name, of := range attacks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "output" {
				tier.Long(t, "internal/run", "internal/disk", "host/record", "host/casebook", "host/moduledir")
			}
			do(t, &crashing{attacked: of, random: rand.New(rand.NewPCG(killSeed, 1)), env: slices.Concat(os.Environ(), userEnv(t), []string{"TMPDIR=tmp"})})
		})
	}
}

// crashing is one command under attack.
type crashing struct {
	attacked
	random *rand.Rand
	env    []string
}

// check checks what a crash left.
func (a *crashing) check(t *testing.T, dir string) {
	t.Helper()
	if a.crashed != nil {
		a.crashed(t, dir)
	}
	if t.Failed() {
		t.FailNow()
	}
}

// done says whether a run came to its end.
func (a *crashing) done(ending killtest.Ending, going bool) bool {
	return ending.Code == cli.ExitDone || going && a.again && ending.Code == cli.ExitInput
}

// goOn has a run end what another began.
func (a *crashing) goOn(t *testing.T, dir, whole, what string, going bool) {
	t.Helper()
	if ending := a.run(t, a.program(dir, going)); !a.done(ending, going) {
		t.Fatalf("seed %d, behind %s: %v", killSeed, what, ending)
	}
	a.finished(t, dir, whole, what)
}

func (a *crashing) finished(t *testing.T, dir, whole, what string) {
	t.Helper()
	for _, name := range a.files {
		want, got := readFile(t, filepath.Join(whole, name)), readFile(t, filepath.Join(dir, name))
		if got != want {
			t.Fatalf("seed %d, %s: %s has %d bytes and not the %d of a run that nothing happened to", killSeed, what, name, len(got), len(want))
		}
	}
	if a.ended != nil {
		a.ended(t, dir)
	}
	for _, name := range filesIn(t, dir) {
		if strings.HasSuffix(name, ".tmp") && !strings.Contains(name, "-new-") { // an entry of the cache that is not complete may be of a living process
			t.Errorf("seed %d, %s: %s is left", killSeed, what, name)
		}
	}
	must.Do(t, os.RemoveAll(dir))
}

func (a *crashing) program(dir string, going bool) killtest.Program {
	args := a.args
	if going {
		args = append(slices.Clip(args), a.resume...)
	}
	return killtest.Program{Path: "shadowcourt-limited", Args: args, Dir: dir, Env: a.env}
}

func (a *crashing) run(t *testing.T, p killtest.Program) killtest.Ending {
	t.Helper()
	return must.Get(p.Run(t.Context()))(t)
}

// folder is one with what the commands read.
func (a *crashing) folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	_, secret := testKey(t)
	dockets := filepath.Join(repositoryRoot(t), "examples", "dockets")
	err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700)
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, killKey), secret, 0o600),
			copyLines(filepath.Join(dir, "docket.jsonl"), filepath.Join(dockets, "go-failures.jsonl"), killCases),
			copyLines(filepath.Join(dir, "fit.jsonl"), filepath.Join(dockets, "sentiment-fit.jsonl"), 40))
	}
	if err == nil && a.prepare != nil {
		err = a.prepare(dir)
	}
	must.Do(t, err)
	return dir
}

// testKey is always the same key.
func testKey(t *testing.T) (key *record.Key, secret []byte) {
	t.Helper()
	key, err := record.NewKey(bytes.NewReader(make([]byte, 32)))
	if err == nil {
		secret, err = key.PEM()
	}
	must.Do(t, err)
	return key, secret
}

func copyLines(to, from string, lines int) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, bytes.Join(bytes.SplitAfter(data, []byte("\n"))[:lines], nil), 0o600)
}

// largest is the size of the largest file that a run wrote, and an eighth more.
func (a *crashing) largest(t *testing.T, dir string) int64 {
	t.Helper()
	before := a.folder(t)
	most := 0
	for _, name := range filesIn(t, dir) {
		if _, there := os.Stat(strings.Replace(name, dir, before, 1)); there != nil || strings.Contains(name, ".history") {
			most = max(most, len(readFile(t, name)))
		}
	}
	return int64(most + most/8)
}

// journalGrows checks that no line of a journal is lost or changed by a crash and what goes on behind it.
func journalGrows(t *testing.T, dir string) {
	t.Helper()
	for _, name := range filesIn(t, dir) {
		if !strings.HasSuffix(name, run.JournalSuffix) {
			continue
		}
		now := readFile(t, name)
		now = now[:strings.LastIndexByte(now, '\n')+1]
		kept := name + ".seen"
		if before, err := os.ReadFile(kept); err == nil && !strings.HasPrefix(now, string(before)) {
			t.Errorf("%s had %d bytes of whole lines, and has other ones now, %d bytes", name, len(before), len(now))
		}
		must.Do(t, os.WriteFile(kept, []byte(now), 0o600))
	}
}

// bookIsRead checks that a casebook can be read after a crash, unless that came before anything was remembered.
func bookIsRead(t *testing.T, dir string) {
	t.Helper()
	s, err := casebook.OpenReadOnly(t.Context(), filepath.Join(dir, "book"), casebook.Options{})
	if err == nil {
		err = s.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, casebook.ErrNotCasebook) {
		t.Error(err)
	}
}

// bookHasAll checks that all verdicts of a run are in a casebook, and that one more run leaves no snapshot.
func bookHasAll(t *testing.T, dir string) {
	t.Helper()
	s := must.Get(casebook.OpenReadOnly(t.Context(), filepath.Join(dir, "book"), casebook.Options{Now: time.Now}))(t)
	check.Equal(t, s.Len(), killCases, "the casebook", "cases")
	must.Do(t, s.Close())
	next(t, dir, "try", "docket.jsonl", "--light", "rca", "--casebook", "book", "--output", "next.txt")
	if left := names(t, filepath.Join(dir, "tmp")); len(left) > 0 {
		t.Errorf("%q are left in TMPDIR", left)
	}
}

// next runs one more command in a folder.
func next(t *testing.T, dir string, args ...string) {
	t.Helper()
	p := killtest.Program{Path: "shadowcourt", Args: args, Dir: dir, Env: slices.Concat(os.Environ(), userEnv(t), []string{"TMPDIR=tmp"})}
	if ending, err := p.Run(t.Context()); err != nil || ending.Code != cli.ExitDone {
		t.Fatalf("%q: %v, %v", args, ending, err)
	}
}

// storeHolds checks that each module of a store is what its name says.
func storeHolds(t *testing.T, dir string) {
	t.Helper()
	for _, name := range filesIn(t, dir) {
		if filepath.Base(filepath.Dir(name)) != "store" || !strings.HasSuffix(name, ".wasm") {
			continue
		}
		check.Equal(t, filepath.Base(name), "sha256-"+record.DigestOf([]byte(readFile(t, name))).Hex()+".wasm", name, "has the digest of")
	}
}

// keyIsWhole checks that both halves of a key are there and belong to each other.
func keyIsWhole(t *testing.T, dir string) {
	t.Helper()
	var ids []string
	for _, name := range []string{"new.key", "new.key.pub"} {
		key := must.Get(record.ParseKey([]byte(readFile(t, filepath.Join(dir, name)))))(t)
		ids = append(ids, key.ID())
	}
	check.Equal(t, ids[0], ids[1], "the keys", ids)
}

// swapped are the modules that the commands change.
var swapped = []string{"modules/specter.wasm", "modules/bulwark.wasm"}

// newSection makes another module of one that does the same: an empty custom section of the name "x".
var newSection = []byte{0, 2, 1, 'x'}

// twoModules copies the modules of the shipped pipeline, and makes a new one for each of two.
func twoModules(dir string) error {
	errs := []error{os.Mkdir(filepath.Join(dir, "modules"), 0o700)}
	for _, name := range []string{"abyss.wasm", "bulwark.wasm", "challenger.wasm", "clerk.wasm", "specter.wasm"} {
		module, err := os.ReadFile(filepath.Join("..", "..", "bin", "modules", name))
		errs = append(errs, err, os.WriteFile(filepath.Join(dir, "modules", name), module, 0o600))
		if slices.Contains(swapped, "modules/"+name) {
			errs = append(errs, os.WriteFile(filepath.Join(dir, name), append(module, newSection...), 0o600))
		}
	}
	return errors.Join(errs...)
}

// twoModulesSwapped is twoModules, and the new ones are in place.
func twoModulesSwapped(dir string) error {
	if err := twoModules(dir); err != nil {
		return err
	}
	modules := map[string][]byte{}
	for _, name := range swapped {
		module, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			return err
		}
		modules[strings.TrimSuffix(filepath.Base(name), ".wasm")] = module
	}
	d, err := moduledir.Open(filepath.Join(dir, "modules"))
	if err == nil {
		_, err = d.Replace(modules)
	}
	return err
}

// modulesAreWhole checks that each module is the earlier or the new one, and that readers reject a mix of a swap that was interrupted.
func modulesAreWhole(t *testing.T, dir string) {
	t.Helper()
	var now [2]bool // which are new
	for i, name := range swapped {
		got, after := readFile(t, filepath.Join(dir, name)), readFile(t, filepath.Join(dir, filepath.Base(name)))
		now[i] = got == after
		if !now[i] && got != after[:len(after)-len(newSection)] {
			t.Errorf("%s has %d bytes", name, len(got))
		}
	}
	g, err := moduledir.ReadGeneration(os.DirFS(filepath.Join(dir, "modules")))
	must.Do(t, err)
	err = g.Check(func(name string) string {
		return moduledir.Digest([]byte(readFile(t, filepath.Join(dir, "modules", name+".wasm"))))
	})
	pair := len(g.Pending) > 0 && len(g.Pending[0]) == 2
	if mixed := pair && now[0] != now[1]; errors.Is(err, moduledir.ErrMixed) != mixed || err != nil && !mixed {
		t.Errorf("the new ones are %v of %v, and a reader gets: %v", now, swapped, err)
	}
}

// nextSwapCleans has one more swap remove what a killed process left.
func nextSwapCleans(t *testing.T, dir string) {
	t.Helper()
	for _, name := range swapped {
		file := filepath.Join(dir, filepath.Base(name))
		must.Do(t, os.WriteFile(file, append([]byte(readFile(t, file)), newSection...), 0o600))
	}
	next(t, dir, "plugin", "swap", "specter=specter.wasm", "bulwark=bulwark.wasm", "--modules", "modules")
	if g, err := moduledir.ReadGeneration(os.DirFS(filepath.Join(dir, "modules"))); err != nil || len(g.Pending) > 0 {
		t.Errorf("pending: %v, %v", g.Pending, err)
	}
}

// tinyModule writes a module that compiles at once, and a request: it has a memory, shadowcourt_alloc and shadowcourt_node,
// which answers nothing.
func tinyModule(dir string) error {
	wasm, err := hex.DecodeString("0061736d01000000010c0260017f017f60027f7f017e03030200010503010001" +
		"073103066d656d6f7279020011736861646f77636f7572745f616c6c6f63000010736861646f77636f7572745f6e6f64650001" +
		"0a0c0205004180080b040042000b")
	return errors.Join(err, os.WriteFile(filepath.Join(dir, "tiny.wasm"), wasm, 0o600), os.WriteFile(filepath.Join(dir, "request"), []byte{0x80}, 0o600))
}

// cacheIsComplete checks that the cache has the module in each way of metering, with its stub and its machine code.
func cacheIsComplete(t *testing.T, dir string) {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(dir, "cache", "v*", "*"))
	complete := slices.DeleteFunc(entries, func(name string) bool { return strings.Contains(name, "-new-") })
	if err != nil || len(complete) != 3 {
		t.Errorf("entries %q, %v", complete, err)
	}
	for _, entry := range complete {
		code, err := filepath.Glob(filepath.Join(entry, "*", "*"))
		if readFile(t, filepath.Join(entry, "stub")) == "" || len(code) != 1 || err != nil {
			t.Errorf("%s has %q, %v", entry, code, err)
		}
	}
}

// Runs are killed at any moment: what was acknowledged, by a result on the standard output, is in the record. Each run goes
// on where the one before was killed, and in the end there is the record of a run that nobody killed.
func TestAccept_RE3_KillsLoseNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	kills := killsOr(t, 2)
	t.Run("trials", func(t *testing.T) {
		t.Parallel()
		newKilling(t).all(t, kills)
	})
	t.Run("trials with audits", func(t *testing.T) {
		t.Parallel()
		tier.Long(t, "host/record", "internal/run")
		newKilling(t, "--audit").all(t, max(kills/8, 1))
	})
}

// all kills runs that often, one after the other.
func (k *killing) all(t *testing.T, kills int) {
	t.Helper()
	whole := k.path("whole.record")
	if !k.runInto(t, map[string]record.Digest{}, whole, -1) {
		t.Fatal("the run did not finish")
	}
	random := rand.New(rand.NewPCG(1, 2))
	name, acknowledged, interrupted := "", map[string]record.Digest{}, 0
	for i := range kills {
		if name == "" {
			name, acknowledged = k.path("killed-"+strconv.Itoa(i)+".record"), map[string]record.Digest{}
		}
		before := len(acknowledged)
		finished := k.runInto(t, acknowledged, name, time.Duration(random.Int64N(int64(k.took))))
		k.check(t, name, acknowledged)
		if finished {
			k.same(t, name, whole)
			name = ""
		} else if len(acknowledged) > before {
			interrupted++
		}
	}
	if name != "" {
		if !k.runInto(t, acknowledged, name, -1) {
			t.Fatal("the last run did not finish")
		}
		k.check(t, name, acknowledged)
		k.same(t, name, whole)
	}
	if interrupted < kills/4 {
		t.Errorf("of %d kills only %d came while results were given", kills, interrupted)
	}
}

// killing has what the runs have in common.
type killing struct {
	dir, docket string
	key         *record.Key
	flags       []string
	took        time.Duration // of the results of a run that nobody killed
}

func newKilling(t *testing.T, flags ...string) *killing {
	t.Helper()
	k := &killing{dir: t.TempDir(), flags: flags}
	k.docket = k.path("docket.jsonl")
	copyFile(t, filepath.Join(repositoryRoot(t), "examples", "dockets", "go-failures.jsonl"), k.docket)
	key, secret := testKey(t)
	k.key = key
	must.Do(t, os.WriteFile(k.path("key"), secret, 0o600))
	return k
}

func (k *killing) path(name string) string { return filepath.Join(k.dir, name) }

// runInto starts a run, notes the results that it gives, and kills it that long after the first new one; never if that is negative. It says
// whether the run came to its end before.
func (k *killing) runInto(t *testing.T, acknowledged map[string]record.Digest, name string, kill time.Duration) bool {
	t.Helper()
	args := slices.Concat([]string{"try", k.docket, "--record", name, "--key", k.path("key"), "--resume", "--format", "jsonl"}, k.flags)
	cmd := command(t, "", nil, append([]string{"shadowcourt"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.Do(t, err)
	in, began := bufio.NewReader(out), time.Time{}
	for known := len(acknowledged); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		if acknowledge(t, acknowledged, line); len(acknowledged) == known || !began.IsZero() {
			continue
		}
		if began = time.Now(); kill >= 0 {
			defer time.AfterFunc(kill, func() { _ = cmd.Process.Kill() }).Stop()
		}
	}
	if kill < 0 && k.took == 0 {
		k.took = time.Since(began)
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == -1 {
		return false
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return true
}

// acknowledge notes a result that was shown.
func acknowledge(t *testing.T, acknowledged map[string]record.Digest, line string) {
	t.Helper()
	var result struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(line), &result); err != nil || result.ID == "" {
		t.Fatalf("%q: %v", line, err)
	}
	digest := record.DigestOf([]byte(strings.TrimSuffix(line, "\n")))
	if before, again := acknowledged[result.ID]; again && before != digest {
		t.Fatalf("%s was tried twice", result.ID)
	}
	acknowledged[result.ID] = digest
}

// check checks every acknowledged result, with its audit, against the record.
func (k *killing) check(t *testing.T, name string, acknowledged map[string]record.Digest) {
	t.Helper()
	f := must.Get(os.Open(name))(t)
	defer func() { _ = f.Close() }()
	r, err := record.NewReader(f, k.key)
	must.Do(t, err)
	recorded := map[string]record.Digest{}
	for err == nil {
		var entry *record.Entry
		if entry, err = r.Next(); err == nil && entry.Trial != nil {
			recorded[entry.Trial.ID] = record.DigestOf(entry.Trial.Line())
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, record.ErrTorn) {
		t.Fatalf("after a kill: %v", err)
	}
	for id, digest := range acknowledged {
		must.Equal(t, recorded[id], digest, id, "was acknowledged, and the record", "for it")
	}
}

func (*killing) same(t *testing.T, a, b string) {
	t.Helper()
	must.Equal(t, readFile(t, a), readFile(t, b), "the record of killed runs is another than that of one that was not killed")
}
