package answers_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// golden is what package render writes.
func golden(t testing.TB) []byte {
	t.Helper()
	return must.Get(os.ReadFile("../render/testdata/answers.json"))(t)
}

func compile(t testing.TB) *jsonschema.Schema {
	t.Helper()
	parsed := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(answers.Schema())))(t)
	c := jsonschema.NewCompiler()
	must.Do(t, c.AddResource(answers.Version, parsed))
	return must.Get(c.Compile(answers.Version))(t)
}

func TestAccept_IG2_TheSchemaFitsWhatIsWritten(t *testing.T) {
	t.Parallel()
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(golden(t))))(t)
	must.Do(t, compile(t).Validate(document))
	d := must.Get(answers.Read(bytes.NewReader(golden(t))))(t)
	again := must.Get(json.Marshal(d))(t)
	var want bytes.Buffer
	if err := json.Compact(&want, golden(t)); err != nil || want.String() != string(again) {
		t.Errorf("%v: reading and writing changes the document", err)
	}
}

// TestAccept_IG2_TheSchemaNamesEveryField compares the fields of the Go types with the properties of the schema, both ways.
func TestAccept_IG2_TheSchemaNamesEveryField(t *testing.T) {
	t.Parallel()
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Defs       map[string]struct {
			Properties map[string]struct {
				Description string `json:"description"`
			} `json:"properties"`
		} `json:"$defs"`
	}
	must.Do(t, json.Unmarshal(answers.Schema(), &s))
	properties := func(def string) (names []string) {
		if def == "" {
			for name := range s.Properties {
				names = append(names, name)
			}
		}
		for name := range s.Defs[def].Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	for def, typ := range map[string]reflect.Type{
		"": reflect.TypeFor[answers.Document](), "failure": reflect.TypeFor[answers.Failure](), "culprit": reflect.TypeFor[alibi.Culprit](), "tally": reflect.TypeFor[alibi.Tally](),
	} {
		if want, got := fields(typ), properties(def); !slices.Equal(want, got) {
			t.Errorf("%q: the type has %v, the schema %v", def, want, got)
		}
	}
	for _, name := range []string{"message", "file", "line", "attribution", "culprit", "owners"} {
		if _, ok := s.Defs["failure"].Properties[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
}

// fields are the JSON names of a struct, sorted.
func fields(typ reflect.Type) (names []string) {
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, fields(f.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestAccept_IG2_FaultyDocumentsAreRejected(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, old, now string
		want           []string
	}{
		{"no JSON", "{", "<", []string{"not a document of answers"}},
		{"another schema", answers.Version, "x", []string{"schema: \"x\" is not"}},
		{"a path out of the tree", "cart/parse_test.go", "../parse_test.go", []string{"failures[1].file", "failures[2].file"}},
		{"an absolute path", "cart/parse_test.go", "/etc/passwd", []string{"failures[1].file"}},
		{"several faults", `"verdict": "yours"`, `"verdict": "mine", "confidence": 7`, []string{`failures[1].verdict: "mine"`, "failures[4].verdict", "yours, not_yours, open"}},
		{"a wrong attribution", `"attribution": "caused"`, `"attribution": "flaky"`, []string{`failures[1].attribution: "flaky" does not fit the verdict "yours"`}},
		{"a commit that is none", "9ab12cd0e1f2a3b4c5d6e7f8091a2b3c4d5e6f70", "--upload-pack=x", []string{"failures[1].culprit.commit"}},
		{"a tree that is none", `"product": "merge"`, `"product": "x | @all ![a](https://e)"`, []string{"failures[5].runs"}},
		{"runs below none", `"passed": 300`, `"passed": -300`, []string{"failures[4].runs"}},
		{"more runs than anybody makes", `"passed": 300`, `"passed": 1000000000`, []string{"failures[4].runs"}},
		{"a probability above 1", `"probability": 0.019`, `"probability": 1e300`, []string{"failures[1].culprit.ribbon[2].probability"}},
		{"a date that is none", "2027-01-31", "soon", []string{"quarantined.expires"}},
		{"the same id twice", "cart.TestParse/blank", "cart.TestParse/empty", []string{"stands twice"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := answers.Read(strings.NewReader(strings.ReplaceAll(string(golden(t)), tc.old, tc.now)))
			for _, want := range tc.want {
				check.Fails(t, err, want, "not in")
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(golden(f))
	f.Add([]byte(`{"schema":"` + answers.Version + `","failures":[{"file":"a/../b"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := answers.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if text, err := json.Marshal(d); err != nil || d.Check() != nil {
			t.Errorf("%s: %v", text, err)
		}
	})
}
