package main

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit"
)

// rulesOf are the parameters of one rule.
func rulesOf(name, label string, patterns ...string) []abi.Param {
	confidence := 0.7
	list := []abi.Param{{Name: "file", Text: &name}, {Name: name + ".label", Text: &label}, {Name: name + ".confidence", Number: &confidence}}
	for i := range patterns {
		list = append(list, abi.Param{Name: name + ".match." + string(rune('1'+i)), Text: &patterns[i]})
	}
	return list
}

func evaluate(t *testing.T, r *abi.NodeRequest) []abi.Evidence {
	t.Helper()
	a, failure := play(r)
	if failure != nil {
		t.Fatal(failure)
	}
	return a.Investigate.Evidence
}

func TestMatch(t *testing.T) {
	t.Parallel()
	const log = "setup\r\n  dial tcp 10.0.0.7:5000: i/o timeout\r\nretry 1\nretry 2"
	for _, tc := range []struct {
		name         string
		label        string
		patterns     []string
		ref, content string
	}{
		{"a line", testkit.Flake, []string{`dial tcp .*:5000: i/o timeout$`}, "r:log:L2", "dial tcp 10.0.0.7:5000: i/o timeout"},
		{"the first of several", testkit.Flake, []string{`retry \d`}, "r:log:L3", "retry 1"},
		{"the last, without a break", testkit.Flake, []string{`^retry 2$`}, "r:log:L4", "retry 2"},
		{"all patterns", testkit.Flake, []string{"retry", "setup"}, "r:log:L3", "retry 1\nsetup"},
		{"the same line twice", testkit.Flake, []string{"retry", "retry 1"}, "r:log:L3", "retry 1"},
		{"not all patterns", testkit.Flake, []string{"retry", "teardown"}, "", ""},
		{"no pattern reaches over a line", testkit.Flake, []string{`retry 1\s+retry`}, "", ""},
		{"another label", "elsewhere", []string{"retry"}, "", ""},
		{"no pattern", testkit.Flake, nil, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := testkit.LightCase(abi.FamilyInvestigate, log)
			r.Params = rulesOf("r", tc.label, tc.patterns...)
			found := evaluate(t, r)
			if tc.ref == "" {
				check.Len(t, found, 0, "found")
				return
			}
			want := abi.Evidence{SourceRef: tc.ref, Content: tc.content, RelevanceConfidence: 0.7, Supports: tc.label, Element: abi.Fire}
			if len(found) != 1 || found[0] != want {
				t.Errorf("found %+v, want %+v", found, want)
			}
		})
	}
}

func TestARuleMayBeForSomeTests(t *testing.T) {
	t.Parallel()
	r := testkit.LightCase(abi.FamilyInvestigate, "it failed")
	r.Case.Subject = "TestPushLarge fails in registry"
	for test, want := range map[string]int{"TestPush.*": 1, "^TestPull": 0} {
		r.Params = append(rulesOf("r", testkit.Flake, "failed"), abi.Param{Name: "r.test", Text: &test})
		check.Len(t, evaluate(t, r), want, test)
	}
}

func TestALongLineIsCutAroundTheMatch(t *testing.T) {
	t.Parallel()
	r := testkit.LightCase(abi.FamilyInvestigate, strings.Repeat("x", 5000)+" needle "+strings.Repeat("y", 5000))
	r.Params = rulesOf("r", testkit.Flake, "needle")
	if found := evaluate(t, r); len(found) != 1 || len(found[0].Content) > 400 || !strings.Contains(found[0].Content, "needle") {
		t.Errorf("found %+v", found)
	}
}

func TestWhatTheRulebookRejects(t *testing.T) {
	t.Parallel()
	word, number := "x", 2.0
	for name, param := range map[string]abi.Param{
		"a pattern that does not compile": {Name: "r.match.2", Text: &word},
		"an unknown part":                 {Name: "r.matches", Text: &word},
		"a number for a text":             {Name: "r.label", Number: &number},
		"a confidence above 1":            {Name: "r.confidence", Number: &number},
	} {
		r := testkit.LightCase(abi.FamilyInvestigate, "x")
		broken := "("
		if param.Name == "r.match.2" {
			param.Text = &broken
		}
		r.Params = append(rulesOf("r", testkit.Flake, "x"), param)
		if _, failure := play(r); failure == nil || failure.Code != guest.BadParameter {
			t.Errorf("%s: %+v", name, failure)
		}
	}
	if _, failure := play(testkit.LightCase(abi.FamilyTriage, "")); failure == nil || failure.Code != guest.WrongFamily {
		t.Errorf("failure %+v", failure)
	}
}
