package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each kind has both trees, in each of its languages, whatever the seed.
func TestKindsHaveTrees(t *testing.T) {
	kinds, err := readKinds()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		for i := range 2 * len(k.variants) {
			d := k.draw(7, i)
			folder := t.TempDir()
			for _, head := range []bool{false, true} {
				if err := d.write(folder, "stamp", head); err != nil {
					t.Errorf("%s, %s, head %t: %v", k.name, d.runner, head, err)
				}
			}
			for _, field := range []string{"with", "run", "flags", "row", "begin", "change", "setup"} {
				text, err := d.render(d.fields[field], true)
				if err != nil || field == "run" && text == "" {
					t.Errorf("%s, %s: %s is %q: %v", k.name, d.runner, field, text, err)
				}
			}
			if _, err := regexp.Compile(d.fields["row"]); err != nil {
				t.Errorf("%s: %v", k.name, err)
			}
			tests := 0
			err := filepath.WalkDir(folder, func(name string, e os.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				text, err := os.ReadFile(name)
				if strings.Contains(string(text), "«") {
					t.Errorf("%s: %s has a field without a value", k.name, name)
				}
				if strings.Contains(strings.ToLower(filepath.Base(name)), "test") {
					tests++
				}
				if filepath.Ext(name) == ".go" && k.truth == caused { // others don't build on purpose
					_, err = parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
				}
				return err
			})
			if err != nil || tests == 0 {
				t.Errorf("%s, %s: %d tests, %v", k.name, d.runner, tests, err)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	type failure = struct{ ID, Verdict, Attribution, Why, Next string }
	yours, alibi, undecided, archive := failure{ID: "TestA", Verdict: "yours"}, failure{ID: "TestA", Verdict: "not yours"}, failure{ID: "TestA", Verdict: "open"}, failure{ID: "TestArchive", Verdict: "yours"}
	for _, c := range []struct {
		truth    string
		exit     int
		failures []failure
		want     string
	}{
		{caused, 3, []failure{yours}, right},
		{caused, 0, []failure{alibi}, falseAlibi},
		{caused, 4, []failure{undecided}, open},
		{caused, 4, []failure{undecided, alibi}, open},
		{caused, 3, []failure{yours, archive}, falseBlame},
		{old, 3, []failure{yours}, falseBlame},
		{old, 0, []failure{alibi}, right},
		{environment, 0, []failure{alibi}, right},
		{cannot, 0, []failure{alibi}, falseAlibi},
		{cannot, 4, []failure{undecided}, open},
	} {
		r := result{Truth: c.truth, Exit: c.exit}
		if r.judge(&answers{Failures: c.failures}, regexp.MustCompile("TestA$")); r.Outcome != c.want {
			t.Errorf("%s, exit code %d, %v: %s, want %s", c.truth, c.exit, c.failures, r.Outcome, c.want)
		}
	}
}
