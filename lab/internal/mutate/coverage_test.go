package mutate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestCoverageKeepsWhatIsRun holds that sites in lines that no test runs are left out, also after the lines were kept.
func TestCoverageKeepsWhatIsRun(t *testing.T) {
	t.Parallel()
	profile := filepath.Join(t.TempDir(), "profile")
	if err := os.WriteFile(profile, []byte("mode: atomic\nexample.com/m/a.go:3.20,5.2 2 7\nexample.com/m/a.go:9.1,9.30 1 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	covered, err := ReadProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(covered)
	if err != nil {
		t.Fatal(err)
	}
	var kept map[string][]LineRange
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	all := Sites{"op": {{File: "a.go", Line: 4}, {File: "a.go", Line: 9}, {File: "b.go", Line: 4}}, "other": {{File: "a.go", Line: 6}}}
	if got := all.Within(kept); len(got["op"]) != 1 || got["op"][0].Line != 4 || len(got["other"]) != 0 {
		t.Errorf("kept are %v", got)
	}
}
