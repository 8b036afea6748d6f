package model_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// TestEveryListOfAModuleHasAMaximum walks all that a module sends: its responses, its questions to the host, its manifest. An
// element of one byte costs the host 16 times as much memory.
func TestEveryListOfAModuleHasAMaximum(t *testing.T) {
	t.Parallel()
	m, err := model.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
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
		if name != "" {
			t.Errorf("there is no type %s", name)
		}
	}
	if lists < 25 {
		t.Errorf("only %d lists were looked at", lists)
	}
}
