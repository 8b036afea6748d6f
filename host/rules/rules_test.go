package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/rules"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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
	must.Do(t, os.WriteFile(path, []byte(sound), 0o600))
	set := must.Get(rules.Load(path))(t)
	if set.File != "rules.yaml" || len(set.Digest) != len("sha256:")+64 || set.Rules[1].Believed() != rules.DefaultConfidence {
		t.Errorf("%+v", set)
	}
	def := must.Get(set.For([]pipeline.Label{{ID: "pb001", Name: "product bug"}, {ID: "si001", Name: "System issue, no defect"}}).Definition())(t)
	text := must.Get(pipeline.Marshal(def))(t)
	again := must.Get(pipeline.Parse("recorded", text))(t)
	got := must.Get(rules.Of(again))(t)
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
		must.Get(rules.Load(file))(t)
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
		check.Contains(t, err.Error(), fault, "not among", err)
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
		check.Fails(t, check.Err(rules.Parse("r.yaml", []byte(text))), want, text)
	}
	check.Is(t, check.Err(rules.Load(filepath.Join(t.TempDir(), "none.yaml"))), os.ErrNotExist, "a file")
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
		def := must.Get(set.Definition())(t)
		text := must.Get(pipeline.Marshal(def))(t)
		again := must.Get(pipeline.Parse("again", text))(t, text)
		got := must.Get(rules.Of(again))(t)
		for i := range set.Rules {
			confidence := set.Rules[i].Believed()
			set.Rules[i].Confidence = &confidence
		}
		if !reflect.DeepEqual(got, set) {
			t.Errorf("got %+v, want %+v", got, set)
		}
	})
}
