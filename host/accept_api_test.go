package host_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// The example itself is run with the tests; this holds it to its size.
func TestAccept_API1_TryingACaseTakesAboutTenLines(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "example_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "ExampleHost" {
			if n := len(f.Body.List); n > 10 {
				t.Errorf("the example has %d statements", n)
			}
			return
		}
	}
	t.Error("there is no ExampleHost")
}
