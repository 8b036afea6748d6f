package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompare: the answers are right together or not at all.
func TestCompare(t *testing.T) {
	t.Parallel()
	commit, other := strings.Repeat("a", 40), strings.Repeat("b", 40)
	planted, err := json.Marshal(truth{Failures: []failure{
		{Test: module + ".TestA", Planted: "a regression", Answer: "caused", Culprit: commit},
		{Test: module + ".TestB", Planted: "chance", Answer: "flaky"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	const (
		caused = `{"id":"` + module + `.TestA","verdict":"yours","attribution":"caused","culprit":{"commit":"COMMIT","title":"Break A"},"seconds":1.5}` + "\n"
		flaky  = `{"id":"` + module + `.TestB","verdict":"not yours","attribution":"flaky","seconds":2}` + "\n"
	)
	right := strings.Replace(caused, "COMMIT", commit, 1)
	for name, c := range map[string]struct{ answers, says, err string }{
		"right":            {right + flaky, "All 2 are right.", ""},
		"another label":    {right + strings.Replace(flaky, "flaky", "preexisting", 1), "wrong: want flaky", "1 of 2"},
		"open":             {right + `{"id":"` + module + `.TestB","verdict":"open","why":"too few runs"}`, "open: too few runs", "1 of 2"},
		"another commit":   {strings.Replace(caused, "COMMIT", other, 1) + flaky, "wrong culprit: want " + commit[:12], "1 of 2"},
		"no commit":        {strings.Replace(right, `"culprit"`, `"beside"`, 1) + flaky, "no culprit: want " + commit[:12], "1 of 2"},
		"no answer":        {right, "no answer", "1 of 2"},
		"one more failure": {right + flaky + `{"id":"` + module + `.TestC","verdict":"open"}`, "right", "in 3 answers"},
		"no JSON":          {right + "{", "", answersFile},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{plantedFile: string(planted), answersFile: c.answers} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var said strings.Builder
		err := compare(dir, &said)
		if !strings.Contains(said.String(), c.says) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v\n%s", name, err, said.String())
		}
	}
}
