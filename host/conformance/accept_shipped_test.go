package conformance_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
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
	modules, err := bundle.FS()
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(modules, "*.wasm")
	if err != nil || len(names) < 9 {
		t.Fatalf("modules %v, %v", names, err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	options := conformance.Options{CacheDir: filepath.Join(cache, "shadowcourt", "modules"), Cases: fewCases}
	if text := os.Getenv(casesVariable); text != "" {
		if options.Cases, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains(oneOfEachRole, name) {
				tier.Long(t, "plugins", "abi", "host/conformance")
			}
			wasm, err := fs.ReadFile(modules, name)
			if err != nil {
				t.Fatal(err)
			}
			report, err := conformance.Run(t.Context(), wasm, options)
			if err != nil {
				t.Fatal(err)
			}
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
