package conformance_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// casesVariable says how many random cases each module is asked; `make conformance` sets it.
const casesVariable = "SHADOWCOURT_CASES"

// fewCases are enough for every check to be tried, in a run of all tests.
const fewCases = 2

// oneOfEachRole are modules of the quick tier.
var oneOfEachRole = []string{"assayer.wasm", "bulwark.wasm", "clerk.wasm", "herald.wasm", "seeker.wasm", "specter.wasm"}

// The modules that the command embeds pass every check, and answer every case.
func TestAccept_PL10_TheShippedModulesPass(t *testing.T) {
	t.Parallel()
	modules := must.Get(bundle.FS())(t)
	names, err := fs.Glob(modules, "*.wasm")
	if err != nil || len(names) < 9 {
		t.Fatalf("modules %v, %v", names, err)
	}
	cache := must.Get(os.UserCacheDir())(t)
	options := conformance.Options{CacheDir: filepath.Join(cache, "shadowcourt", "modules"), Cases: fewCases}
	if text := os.Getenv(casesVariable); text != "" {
		options.Cases = must.Get(strconv.Atoi(text))(t)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains(oneOfEachRole, name) {
				tier.Long(t, "plugins", "abi", "host/conformance")
			}
			wasm := must.Get(fs.ReadFile(modules, name))(t)
			report := must.Get(conformance.Run(t.Context(), wasm, options))(t)
			for i := range report.Checks {
				if c := &report.Checks[i]; c.Status != abitest.Passed {
					t.Errorf("%s %s is %s: %d of %d", c.Clause, c.ID, c.Status, c.Broken, c.Tried)
					for _, f := range c.Failures {
						t.Errorf("  %s: %s %s", f.Input, f.Detail, f.Stderr)
					}
				}
			}
			for _, n := range report.Notes {
				t.Errorf("%s: %s", n.Clause, n.Text)
			}
			t.Logf("%d calls; the most expensive %d units of fuel, %s", report.Calls, report.Most.Fuel, report.Most.FuelInput)
		})
	}
}

// zooOptions make the kit quick: what is wrong with the animals shows early.
func zooOptions() conformance.Options {
	return conformance.Options{Cases: 60, Fuel: 200_000_000}
}

func TestAccept_PL10_AGoodTinyModulePassesEverything(t *testing.T) {
	t.Parallel()
	report := must.Get(conformance.Run(t.Context(), goodTiny().bytes(), conformance.Options{}))(t)
	if !report.Passed() || len(report.Notes) > 0 || report.Cases != abitest.DefaultCases || report.Calls < 5000 {
		t.Errorf("%+v", report)
	}
	conformance.Check(t, goodTiny().bytes())
}

// Each animal breaks one clause, and the kit finds that one and no other.
func TestAccept_PL10_EachAnimalBreaksItsOwnClause(t *testing.T) {
	t.Parallel()
	animals := zoo()
	if len(animals) < 25 {
		t.Fatalf("%d animals", len(animals))
	}
	whole := tier.Whole("host/conformance", "host/internal/sandbox", "abi")
	for i, a := range animals {
		if i%3 != 0 && !whole {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			report := must.Get(conformance.Run(t.Context(), a.wasm, zooOptions()))(t)
			failed := report.Failed()
			if len(failed) != 1 || failed[0].ID != a.check || failed[0].Clause != a.clause {
				t.Errorf("want %s %s", a.clause, a.check)
			}
			for _, c := range failed {
				if len(c.Failures) == 0 || c.Failures[0].Detail == "" || c.Broken == 0 {
					t.Errorf("%s is not told of: %+v", c.ID, c)
				}
				check.Equal(t, c.ID, a.check, c.Clause, c.Failures[0].Input, c.Failures[0].Detail)
			}
		})
	}
}

// A check that no module can break is no check. Three are about what this sandbox never does; the kit's own test breaks them.
func TestAccept_PL10_EveryCheckHasAnAnimal(t *testing.T) {
	t.Parallel()
	found := map[abitest.CheckID]bool{
		abitest.CheckBytes: true, abitest.CheckFuel: true, abitest.CheckAfter: true, abitest.CheckTime: true,
	}
	for _, a := range zoo() {
		found[a.check] = true
	}
	for _, rule := range abitest.Catalogue() {
		if !found[rule.ID] {
			t.Errorf("no animal breaks %s %s", rule.Clause, rule.ID)
		}
	}
}

// What breaks no clause, and ends a trial without a decision all the same, is
// noted: a verdict of mistrial, and a remand that nobody can answer any more.
func TestAccept_PL10_VerdictsThatDecideNothingAreNoted(t *testing.T) {
	t.Parallel()
	remand := abi.Verdict{Decision: abi.Remand, RemandFeedback: &abi.RemandFeedback{Challenged: []abi.ChallengedItem{}, Questions: []abi.Question{}}}
	for want, v := range map[string]abi.Verdict{"answers are `mistrial`": {Decision: abi.Mistrial}, "remands where `remands_left` is 0": remand} {
		report := must.Get(conformance.Run(t.Context(), newTiny(verdict(v), challenges()).bytes(), zooOptions()))(t)
		if !report.Passed() || len(report.Notes) != 1 || !strings.Contains(report.Notes[0].Text, want) {
			t.Errorf("%s: notes %v, passed %v", v.Decision, report.Notes, report.Passed())
		}
	}
}

// Faults that authors make come with what to look for.
func TestAccept_PL10_MessagesSayWhatToLookFor(t *testing.T) {
	t.Parallel()
	good := verdict(abi.Verdict{Decision: abi.Acquit, Reasoning: "it cannot say"})
	for want, wasm := range map[string][]byte{
		"are pointer and length of the result swapped? §2.4": broken(func(t *tiny) {
			t.Data = make([]byte, 5000)
			t.Funcs[node].Body = t.gives(good)
			t.Funcs[node].Body = answerAt(len(good), 8+5000)
		}),
		"§2.4): are they swapped?":        broken(func(t *tiny) { t.Funcs[node].Body = answerAt(8, 2<<20) }),
		"begins with `{`: is it JSON? §3": broken(func(t *tiny) { t.Funcs[node].Body = t.gives([]byte(`{"artifact":{}}`)) }),
		"imports come from wasi_snapshot_preview1": broken(func(t *tiny) {
			t.Imports = []wasmtest.Import{{Module: "env", Name: "puts2", Params: []byte{wasmtest.I32}}}
		}),
	} {
		report := must.Get(conformance.Run(t.Context(), wasm, zooOptions()))(t)
		failed := report.Failed()
		if len(failed) != 1 || !strings.Contains(failed[0].Failures[0].Detail, want) {
			t.Errorf("%q is not in %+v", want, failed)
		}
	}
}

// A module without a manifest is tried in the roles that it is asked for, and told that it needs one.
func TestRolesStandInForAManifest(t *testing.T) {
	t.Parallel()
	bare := broken(func(m *tiny) { m.manifest = nil })
	options := zooOptions()
	options.Roles = &abitest.Roles{Families: []abi.Family{abi.FamilyVerdict}}
	report, err := conformance.Run(t.Context(), bare, options)
	if err != nil || !report.Passed() || len(report.Notes) != 1 || report.Notes[0].Clause != "§1.4" {
		t.Errorf("%v, %+v", err, report)
	}
	options.Roles = &abitest.Roles{Families: []abi.Family{abi.FamilyDiscover}, Criteria: []string{"clear"}}
	report, err = conformance.Run(t.Context(), bare, options)
	if err != nil || len(report.Failed()) != 1 || report.Failed()[0].ID != abitest.CheckCalls {
		t.Errorf("asked for what it does not export: %v, %+v", err, report.Failed())
	}
	options.Roles = &abitest.Roles{Families: []abi.Family{abi.FamilyDiscover}}
	report, err = conformance.Run(t.Context(), bare, options)
	if err != nil || len(report.Failed()) != 1 || report.Failed()[0].ID != abitest.CheckArtifact {
		t.Errorf("asked to discover it gives a verdict: %v, %+v", err, report.Failed())
	}
}

// TestAccept_PR4_WhoIsNeverPreparedPasses: a host does not call the export of a module whose tables change, or that gets no requests from
// which something could be left out.
func TestAccept_PR4_WhoIsNeverPreparedPasses(t *testing.T) {
	t.Parallel()
	for want, also := range map[string]func(m *tiny){
		"it changes its tables": func(m *tiny) {
			m.TableMin = 1
			m.Funcs = append(m.Funcs, wasmtest.Func{Body: []byte{0x41, 0, 0xd0, 0x70, 0x26, 0}}) // table.set 0 null
		},
		"neither nodes nor contests": func(m *tiny) {
			m.serve(abi.CallEdges, codec.AppendEdgeResponse(nil, &abi.EdgeResponse{Failure: &abi.Failure{Code: "never"}}))
			m.manifest.Edges = []string{"HD1"}
		},
	} {
		report, err := conformance.Run(t.Context(), broken(func(m *tiny) {
			also(m)
			i32s := []byte{wasmtest.I32, wasmtest.I32}
			m.Funcs = append(m.Funcs, wasmtest.Func{Export: abi.ExportPrepare, Params: i32s, Results: []byte{wasmtest.I64}, Body: []byte{wasmtest.Unreachable}})
		}), zooOptions())
		if err != nil || !report.Passed() || !slices.ContainsFunc(report.Notes, func(n abitest.Note) bool {
			return n.Clause == "§2.19" && strings.Contains(n.Text, want)
		}) {
			t.Errorf("%s: %v, %+v", want, err, report)
		}
	}
}

// The module that SPEC.md shows whole keeps the contract that it stands in.
func TestTheModuleOfTheSpecificationPasses(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "abi", "SPEC.md")))(t)
	_, text1, _ := strings.Cut(string(text), "<!-- begin module -->\n```text\n")
	text1, _, _ = strings.Cut(text1, "```")
	var wasm []byte
	for line := range strings.Lines(text1) {
		code, _, _ := strings.Cut(line, ";")
		b := must.Get(hex.DecodeString(strings.Join(strings.Fields(code), "")))(t)
		wasm = append(wasm, b...)
	}
	report, err := conformance.Run(t.Context(), wasm, zooOptions())
	if err != nil || !report.Passed() || len(report.Notes) != 1 || report.Notes[0].Clause != "§2.18" {
		t.Errorf("%v, %+v", err, report)
	}
}

// recorder is a test that is told of failures.
type recorder struct {
	ctx      context.Context //nolint:containedctx // as a *testing.T has one
	failures []string
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, strings.TrimSpace(strings.ReplaceAll(format, "%s", args[0].(string))))
}

func TestCheckFailsTheTestOfABrokenModule(t *testing.T) {
	t.Parallel()
	r := &recorder{ctx: t.Context()}
	conformance.CheckWith(r, broken(func(m *tiny) { m.Funcs[node].Body = m.gives(nil) }), zooOptions())
	if len(r.failures) != 1 || !strings.HasPrefix(r.failures[0], "SPEC.md §2.9, message: ") || !strings.Contains(r.failures[0], "\n  plain case 0, verdict: ") {
		t.Errorf("%q", r.failures)
	}
	r = &recorder{ctx: t.Context()}
	conformance.CheckWith(r, goodTiny().bytes(), zooOptions())
	if len(r.failures) > 0 {
		t.Errorf("%q", r.failures)
	}
}

func TestACheckThatIsCancelledSaysSo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	options := zooOptions()
	options.Progress = func(what string, done, _ int) {
		if what == "random cases" && done == 5 {
			cancel()
		}
	}
	check.Is(t, check.Err(conformance.Run(ctx, goodTiny().bytes(), options)), context.Canceled)
}

// A program holds a module to the contract, and tells of what fails. In a test of the module, conformance.Check(t, wasm) does the same.
func ExampleRun() {
	wasm := []byte("#!/bin/sh\n") // os.ReadFile("judge.wasm")
	report, err := conformance.Run(context.Background(), wasm, conformance.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, check := range report.Failed() {
		fmt.Println(check.Clause, check.Title)
		for _, failure := range check.Failures {
			fmt.Println(" ", failure.Detail)
		}
	}
	// Output:
	// §1.1 is a valid WebAssembly module
	//   offset 0: not a WebAssembly file: it does not begin with \0asm [not_wasm]
}
