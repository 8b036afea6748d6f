package conformance_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// zooOptions make the kit quick: what is wrong with the animals shows early.
func zooOptions() conformance.Options {
	return conformance.Options{Cases: 60, Fuel: 200_000_000}
}

func TestAccept_PL10_AGoodTinyModulePassesEverything(t *testing.T) {
	t.Parallel()
	report, err := conformance.Run(t.Context(), goodTiny().bytes(), conformance.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	for _, a := range animals {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			report, err := conformance.Run(t.Context(), a.wasm, zooOptions())
			if err != nil {
				t.Fatal(err)
			}
			failed := report.Failed()
			if len(failed) != 1 || failed[0].ID != a.check || failed[0].Clause != a.clause {
				t.Errorf("want %s %s", a.clause, a.check)
			}
			for _, c := range failed {
				if len(c.Failures) == 0 || c.Failures[0].Detail == "" || c.Broken == 0 {
					t.Errorf("%s is not told of: %+v", c.ID, c)
				}
				if c.ID != a.check {
					t.Errorf("%s %s: %s: %s", c.Clause, c.ID, c.Failures[0].Input, c.Failures[0].Detail)
				}
			}
		})
	}
}

// A check that no module can break is no check. Three are about what this
// sandbox never does; the kit's own test breaks them.
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
		report, err := conformance.Run(t.Context(), newTiny(verdict(v), challenges()).bytes(), zooOptions())
		if err != nil {
			t.Fatal(err)
		}
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
		report, err := conformance.Run(t.Context(), wasm, zooOptions())
		if err != nil {
			t.Fatal(err)
		}
		failed := report.Failed()
		if len(failed) != 1 || !strings.Contains(failed[0].Failures[0].Detail, want) {
			t.Errorf("%q is not in %+v", want, failed)
		}
	}
}
