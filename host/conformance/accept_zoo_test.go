package conformance_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/host/conformance"
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
