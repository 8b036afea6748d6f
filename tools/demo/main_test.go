package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// TestDemo makes the demo, and checks that each failure behaves as planted: culprits against their parents, the others against the base.
// It needs the releases, from the module cache or the proxy.
func TestDemo(t *testing.T) {
	t.Parallel()
	tier.Long(t, "tools/demo")
	out := t.TempDir()
	if err := run(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, "planted.json"))
	if err != nil {
		t.Fatal(err)
	}
	var planted truth
	if err := json.Unmarshal(data, &planted); err != nil {
		t.Fatal(err)
	}
	r := repository(filepath.Join(out, "uuid"))
	git := func(args ...string) string {
		answer, err := r.git(t.Context(), nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(answer))
	}
	if base, head := git("merge-base", "main", "change"), git("rev-parse", "change"); base != planted.Base || head != planted.Head {
		t.Errorf("base %s and head %s, want %s and %s", planted.Base, planted.Head, base, head)
	}
	if status := git("status", "--short"); status != "" {
		t.Errorf("files were changed:\n%s", status)
	}
	fails := func(commit, test, zone string) bool {
		git("checkout", "-q", "--detach", commit)
		name := strings.TrimPrefix(test, module+".")
		// A test that fails in one of three runs passes in forty once in ten million times.
		report, err := command(t.Context(), string(r), nil, []string{zone, "GOFLAGS=-mod=readonly", "GOWORK=off"}, "go", "test", "-json", "-vet=off", "-count=40", "-run=^"+name+"$", ".")
		if len(report) == 0 {
			t.Fatal(err)
		}
		return failedTests(report)[name]
	}
	change := strings.Fields(git("rev-list", planted.Base+".."+planted.Head))
	for _, f := range planted.Failures {
		before := planted.Base
		if f.Answer == "caused" {
			if before = f.Culprit + "^"; !strings.Contains(strings.Join(change[1:len(change)-1], " "), f.Culprit) || !fails(f.Culprit, f.Test, "TZ=UTC") {
				t.Errorf("%s: commit %s is not within the change, or no culprit", f.Test, f.Culprit)
			}
		}
		for zone, want := range map[string]bool{
			"TZ=UTC":    f.Answer == "flaky" || f.Answer == "preexisting",
			environment: f.Answer != "caused",
		} {
			if got := fails(before, f.Test, zone); got != want {
				t.Errorf("%s before the change with %s: failed %v, want %v", f.Test, zone, got, want)
			}
		}
	}
}
