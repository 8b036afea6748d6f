package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAccept_HS4_ResultsOfAllExamplesStay compares all that the command says of every example docket, report and opinion with
// what the version before said.
func TestAccept_HS4_ResultsOfAllExamplesStay(t *testing.T) {
	t.Parallel()
	dockets, err := filepath.Glob(filepath.Join(repositoryRoot(t), "examples", "dockets", "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	runs := []string{
		"try examples/dockets/inputs/surefire.xml",
		"audit examples/audit/opinions.jsonl",
		"audit examples/audit/opinion.txt --document examples/audit/log.txt",
		"audit examples/audit/invented.txt --document examples/audit/log.txt",
	}
	for _, docket := range dockets {
		runs = append(runs, "try examples/dockets/"+filepath.Base(docket))
	}
	compareResults(t, "results.golden", runs)
}

// TestAccept_LB4_ResultsWithProfilesStay does so for dockets with a profile, another Light and audits.
func TestAccept_LB4_ResultsWithProfilesStay(t *testing.T) {
	t.Parallel()
	compareResults(t, "results-profiles.golden", []string{
		"try examples/dockets/demo.jsonl --profile examples/dockets/demo.yaml",
		"try examples/dockets/go-test-1.jsonl --profile examples/dockets/demo.yaml",
		"try examples/dockets/go-test-1.jsonl --profile go-test",
		"try examples/dockets/go-fit-1.jsonl --light rca",
		"try examples/dockets/go-failures.jsonl --profile go-test --audit",
	})
}

// longDocket is a docket of examples; a run of all tests reads mostCases of its cases at most, and all with SHADOWCOURT_LONG or -update.
var longDocket = regexp.MustCompile(`examples/dockets/(?:banking|domains|go|sentiment)-[\w-]+\.jsonl`)

const mostCases = 40

// cut gives the command of a run that reads the first cases of its docket, and what golden files call it.
func cut(run string) (command, name string) {
	docket := longDocket.FindString(run)
	if docket == "" {
		return "shadowcourt " + run, run
	}
	return fmt.Sprintf("head -n %d %s | shadowcourt %s", mostCases, docket, strings.Replace(run, docket, "-", 1)), fmt.Sprintf("%s, %d cases", run, mostCases)
}

// compareResults compares a digest of each run's results with that of a golden file: all fields but the digests of modules and
// the fuel, which change with every build of a module.
func compareResults(t *testing.T, golden string, runs []string) {
	t.Helper()
	dir := repositoryRoot(t)
	var got strings.Builder
	compare := func(command, run string) {
		results, lines := shell(t, dir, command+" --format jsonl"), 0
		digest := sha256.New()
		for line := range strings.Lines(results) {
			var result map[string]any
			if err := json.Unmarshal([]byte(line), &result); err != nil {
				t.Fatalf("%s: %v", run, err)
			}
			fmt.Fprintln(digest, withoutBuilds(result))
			lines++
		}
		fmt.Fprintf(&got, "%s: %d, %x\n", run, lines, digest.Sum(nil)[:8])
	}
	whole := *update || os.Getenv("SHADOWCOURT_LONG") != ""
	for _, run := range runs {
		command, name := cut(run)
		compare(command, name)
		if whole && name != run {
			compare("shadowcourt "+run, run)
		}
	}
	name := filepath.Join(dir, "cmd", "shadowcourt", "testdata", golden)
	if *update {
		if err := os.WriteFile(name, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(want)) {
		if docket := longDocket.FindString(line); whole || docket == "" || strings.Contains(line, " cases: ") {
			kept.WriteString(line)
		}
	}
	if diff := cmp.Diff(kept.String(), got.String()); diff != "" {
		t.Errorf("results differ from those of the version before; if that is the purpose, `make golden` (-before +now):\n%s", diff)
	}
}

// withoutBuilds gives a JSON value as text, its fields in order, without the digests of modules and their fuel.
func withoutBuilds(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "modules" && name != "fuel" {
				fmt.Fprintf(&b, "%q:%s,", name, withoutBuilds(v[name]))
			}
		}
		return "{" + b.String() + "}"
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(withoutBuilds(e) + ",")
		}
		return "[" + b.String() + "]"
	}
	return fmt.Sprintf("%#v", v)
}
