package mine

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// TestPlantersAreDeterministic: what is saved of a plant gives the same text each time, and it is Go.
func TestPlantersAreDeterministic(t *testing.T) {
	t.Parallel()
	text := []byte("package p\n\nvar limit = 7\n\nfunc (t *T) Get(i int) bool {\n\tif i > limit {\n\t\treturn true\n\t}\n\tt.n++\n\treturn false\n}\n")
	var plants []history.Plant
	for _, p := range []history.Plant{{Name: defect, File: "a/p.go"}, {Name: chance, File: "a/p.go", Seed: 15}, {Name: chance, File: "a/p.go", Seed: 215}} {
		for _, p.Place = range []string{"T.Get#negate condition#0", "T.Get#flip boolean#1", "T.Get#return early#0"} {
			plants = append(plants, p)
		}
	}
	for state := range states {
		plants = append(plants, history.Plant{Name: polluter, File: "a_test.go", Place: "p#" + state}, history.Plant{Name: untracked, File: "a_test.go", Place: "p#" + state})
	}
	plants = append(plants, history.Plant{Name: polluter, File: "a_test.go", Place: "p#" + aVariable + "limit"})
	for _, p := range plants {
		of := text
		if p.Name == polluter || p.Name == untracked {
			of = nil
		}
		first, err := Planters()[p.Name](&p, of)
		if err != nil {
			t.Errorf("%+v: %v", p, err)
			continue
		}
		again, _ := Planters()[p.Name](&p, of)
		if string(first) != string(again) || string(first) == string(text) {
			t.Errorf("%+v plants nothing, or something else each time", p)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", first, 0); err != nil {
			t.Errorf("%+v: %v\n%s", p, err, first)
		}
	}
	for _, p := range []history.Plant{{Name: defect, Place: "none#drop statement#0"}, {Name: defect, Place: "x"}, {Name: polluter, Place: "p#none"}} {
		of := text
		if p.Name == polluter {
			of = nil
		}
		if _, err := Planters()[p.Name](&p, of); err == nil {
			t.Errorf("%+v is planted", p)
		}
	}
}
