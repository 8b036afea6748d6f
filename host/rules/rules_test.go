package rules_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/rules"
)

const sound = `# What we know.
rules:
  - name: registry-timeout
    label: system issue
    reason: the registry of images times out when it is rebuilt
    owner: "@infra"
    match: 'dial tcp .*:5000: i/o timeout'
    test: 'TestPush.*'
    confidence: 0.9
  - name: oom
    label: leak
    reason: "it leaks: see #7"
    match: ["out of memory", '^exit status 137$']
`

func TestRulesTravelAsADefinition(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte(sound), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := rules.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if set.File != "rules.yaml" || len(set.Digest) != len("sha256:")+64 || set.Rules[1].Believed() != rules.DefaultConfidence {
		t.Errorf("%+v", set)
	}
	def, err := set.For([]pipeline.Label{{ID: "pb001", Name: "product bug"}, {ID: "si001", Name: "System issue, no defect"}}).Definition()
	if err != nil {
		t.Fatal(err)
	}
	text, err := pipeline.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	again, err := pipeline.Parse("recorded", text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := rules.Of(again)
	if err != nil {
		t.Fatal(err)
	}
	want := *set
	want.Rules = append([]rules.Rule(nil), set.Rules...)
	want.Rules[0].Label = "si001" // what the pipeline calls so
	confidence := rules.DefaultConfidence
	want.Rules[1].Confidence = &confidence
	if !reflect.DeepEqual(got, &want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTheExamplesAreSound(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/rules/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		if _, err := rules.Load(file); err != nil {
			t.Error(err)
		}
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := rules.Parse("r.yaml", []byte(`rules:
  - name: a
    lable: x
    match: '('
  - name: a
    label: si001
    reason: "two
      lines"
    match: [x*, 'a{1000}{20}']
    confidence: 2
  - name: B b
    label: x
    reason: ""
    match: 3
    colour: red
extra: 1
`))
	if err == nil {
		t.Fatal("no fault")
	}
	want := `r.yaml:2:5: rules[0].label: is missing or empty [missing]
r.yaml:2:5: rules[0].reason: is missing or empty [missing]
r.yaml:3:5: rules[0].lable: unknown key; known are confidence, label, match, name, owner, reason, test [unknown_key]
r.yaml:4:12: rules[0].match: error parsing regexp: missing closing ): ` + "`(`" + ` [syntax]
r.yaml:5:11: rules[1].name: "a" is the name of the rule in line 2, too [duplicate_name]
r.yaml:9:13: rules[1].match[0]: matches the empty text, so it would match everywhere [out_of_range]
r.yaml:9:17: rules[1].match[1]: error parsing regexp: invalid nested repetition operator: ` + "`{1000}{20}`" + ` [syntax]
`
	if got := err.Error(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, fault := range []string{
		"r.yaml:10:17: rules[1].confidence: is 2: use a number above 0 and below 1", `r.yaml:11:11: rules[2].name: "B b": use small letters`,
		"r.yaml:13:13: rules[2].reason: is missing or empty", "r.yaml:14:12: rules[2].match: want a text, not the number 3",
		"r.yaml:15:5: rules[2].colour: unknown key; known are confidence, label, match, name, owner, reason, test", "r.yaml:16:1: extra: unknown key",
	} {
		if !strings.Contains(err.Error(), fault) {
			t.Errorf("%s is not among\n%v", fault, err)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	one := func(i int, match string) string {
		return fmt.Sprintf("  - {name: r%d, label: x, reason: y, match: %s}\n", i, match)
	}
	several := func(n int, match string) string {
		var b strings.Builder
		b.WriteString("rules:\n")
		for i := range n {
			b.WriteString(one(i, match))
		}
		return b.String()
	}
	many, large := several(rules.MaxRules+1, "z"), several(6, "'(abcdefg){1000}'")
	for text, want := range map[string]string{
		"":          "the file is empty",
		"rules: []": "has no rule",
		"rules: 3":  "want a list",
		large:       "rules[5].match: the patterns of the file have more than 50000 steps",
		many:        "has 201 rules, and 200 are allowed",
		"rules:\n" + one(1, "["+strings.Repeat("a, ", rules.MaxPatterns)+"a]"):   "has 9 patterns, and 8 are allowed",
		"rules:\n" + one(1, strings.Repeat("a", rules.MaxPatternBytes+1)):        "has 1001 bytes, and 1000 are allowed",
		"rules:\n" + one(1, "'"+strings.Repeat("(abcde){500}", 5)+"'"):           "steps with its repetitions written out, and 10000 are allowed",
		"rules:\n" + one(1, "a") + "#" + strings.Repeat("x", rules.MaxFileBytes): "is larger than",
		"rules:\n" + one(1, "[]"): "rules[0].match: is missing or empty",
	} {
		if _, err := rules.Parse("r.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
	if _, err := rules.Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// FuzzParse: what is read travels as a definition and comes back the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sound))
	f.Add([]byte("rules: [{name: a, label: b, reason: c, match: [d, 'e{2,}'], test: f}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := rules.Parse("fuzz.yaml", data)
		if err != nil {
			return
		}
		def, err := set.Definition()
		if err != nil {
			t.Fatal(err)
		}
		text, err := pipeline.Marshal(def)
		if err != nil {
			t.Fatal(err)
		}
		again, err := pipeline.Parse("again", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, err := rules.Of(again)
		if err != nil {
			t.Fatal(err)
		}
		for i := range set.Rules {
			confidence := set.Rules[i].Believed()
			set.Rules[i].Confidence = &confidence
		}
		if !reflect.DeepEqual(got, set) {
			t.Errorf("got %+v, want %+v", got, set)
		}
	})
}
