package model_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestWireName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"NodeRequest": "node_request", "ABI": "abi", "TTLMark": "ttl_mark", "CaseID": "case_id", "Case": "case"} {
		check.Equal(t, model.WireName(in), want, in)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ body, want string }{
		"any":                 {"V any `abi:\"v\"`", "cannot hold a any"},
		"interface":           {"V interface{ F() } `abi:\"v\"`", "cannot hold a"},
		"bytes":               {"V []byte `abi:\"v\"`", "cannot hold a []byte"},
		"map of any":          {"V map[string]any `abi:\"v\"`", "cannot hold a map[string]any"},
		"other keys":          {"V map[int]string `abi:\"v\"`", "cannot hold a map[int]string"},
		"foreign":             {"V json.RawMessage `abi:\"v\"`", "cannot hold a json.RawMessage"},
		"untagged struct":     {"V plain `abi:\"v\"`", "cannot hold a plain"},
		"list of pointers":    {"V []*T2 `abi:\"v\"`", "cannot hold a []*T2"},
		"pointer to list":     {"V *[]string `abi:\"v\"`", "no pointers to lists"},
		"array":               {"V [2]int `abi:\"v\"`", "cannot hold a [2]int"},
		"uint":                {"V uint `abi:\"v\"`", "cannot hold a uint"},
		"float32":             {"V float32 `abi:\"v\"`", "cannot hold a float32"},
		"unknown option":      {"V int `abi:\"v,omitempty\"`", "is not known"},
		"empty option":        {"V int `abi:\"v,,opt\"`", "is not known"},
		"no tag":              {"V int `abi:\"v\"`; W int", "T.W has no abi tag"},
		"bad name":            {"V int `abi:\"caseID\"`", "no snake_case"},
		"twice":               {"V int `abi:\"v\"`; W int `abi:\"v\"`", "two fields"},
		"opt number":          {"V int `abi:\"v,opt\"`", "is for strings, lists and maps"},
		"min of string":       {"V string `abi:\"v,min=1\"`", "is for numbers, lists and maps"},
		"min no number":       {"V int `abi:\"v,min=x\"`", "is no number"},
		"min of int no whole": {"V int `abi:\"v,min=0.5\"`", "is no whole number"},
		"min above max":       {"V int `abi:\"v,min=2,max=1\"`", "min is above max"},
		"most of a number":    {"V int `abi:\"v,most=1\"`", "is for lists of numbers"},
		"most no length":      {"V []int `abi:\"v,most=0\"`", "is no length"},
		"opt nonempty":        {"V string `abi:\"v,opt,nonempty\"`", "say nothing"},
		"opt default":         {"V string `abi:\"v,opt,default=x\"`", "default excludes opt"},
		"default of int":      {"V int `abi:\"v,default=1\"`", "is for strings"},
		"unexported":          {"v int `abi:\"v\"`", "is not exported"},
		"embedded":            {"T2 `abi:\"v\"`", "embedded"},
		"recursive":           {"V []T `abi:\"v\"`", "T contains itself"},
		"enum by conversion":  {"V word `abi:\"v\"` }\ntype word string\nconst A = word(\"a\")\ntype U struct { X int `abi:\"x\"`", "A must be declared with its type"},
		"enum computed":       {"V word `abi:\"v\"` }\ntype word string\nconst A word = \"a\" + \"b\"\ntype U struct { X int `abi:\"x\"`", "A must be a literal"},
		"other rules":         {"V int `abi:\"v\"` }\nfunc (*T) Rules() {}\ntype U struct { X int `abi:\"x\"`", "T.Rules must be"},
		"enum without values": {"V hollow `abi:\"v\"`", "has no values"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, "type T struct { "+c.body+" }\ntype T2 struct { X int `abi:\"x\"` }\ntype plain struct { X int }\ntype hollow string")
			check.Fails(t, err, c.want, "error")
		})
	}
}

func read(t *testing.T, body string) (*model.Model, error) {
	t.Helper()
	fset := token.NewFileSet()
	f := must.Get(parser.ParseFile(fset, "p.go", "package p\n"+body, parser.ParseComments))(t)
	return model.FromSyntax(fset, []*ast.File{f})
}

// TestEveryListOfAModuleHasAMaximum walks all that a module sends: its responses, its questions to the host, its manifest. An
// element of one byte costs the host 16 times as much memory.
func TestEveryListOfAModuleHasAMaximum(t *testing.T) {
	t.Parallel()
	m := must.Get(model.Load("../.."))(t)
	sent := []string{
		"NodeResponse", "ContestResponse", "EdgeResponse", "JudgeResponse", "Manifest",
		"RecallQuery", "CorrelateQuery", "SourceQuery", "LogLine",
	}
	seen, lists := map[string]bool{}, 0
	var walk func(of string, typ *model.Type)
	walk = func(of string, typ *model.Type) {
		switch {
		case typ == nil:
		case typ.Kind == model.Struct && !seen[typ.GoName]:
			seen[typ.GoName] = true
			for _, f := range typ.Struct.Fields {
				walk(typ.Struct.WireName+"."+f.WireName, f.Type)
			}
		case typ.Kind == model.List || typ.Kind == model.Map:
			lists++
			if typ.MaxCount == nil {
				t.Errorf("%s has no maximum", of)
			}
			walk(of, typ.Elem)
		}
	}
	for _, s := range m.Structs {
		for i, name := range sent {
			if s.GoName == name {
				sent[i] = ""
				walk(s.WireName, &model.Type{Kind: model.Struct, GoName: s.GoName, Struct: s})
			}
		}
	}
	for _, name := range sent {
		check.Equal(t, name, "", "there is no type")
	}
	if lists < 25 {
		t.Errorf("only %d lists were looked at", lists)
	}
}
