package cases

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

// function is the text of a function in a file.
type function struct {
	file             string
	line, start, end int
	text             string
}

// functions finds the functions of files, by their names; methods have their type's before.
func functions(folder string, names []string) (map[string]function, error) {
	found := map[string]function{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, 0)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil || f.Name.Name == "init" {
				continue
			}
			key := f.Name.Name
			if f.Recv != nil {
				from, to := fset.Position(f.Recv.List[0].Type.Pos()), fset.Position(f.Recv.List[0].Type.End())
				key = string(text[from.Offset:to.Offset]) + "." + key
			}
			from, to := fset.Position(f.Pos()), fset.Position(f.End())
			found[key] = function{name, from.Line, from.Offset, to.Offset, string(text[from.Offset:to.Offset])}
		}
	}
	return found, nil
}

// olderCode finds what of the older release can stand in the newer one: functions that both have with different texts, and behind
// them whole files. Each is a site in the newer release.
func olderCode(older, newer *tree, pick func(*tree) []string, wanted func(name string) bool) ([]mutate.Site, error) {
	was, err := functions(older.folder, pick(older))
	if err != nil {
		return nil, err
	}
	is, err := functions(newer.folder, pick(newer))
	if err != nil {
		return nil, err
	}
	var sites []mutate.Site
	for _, name := range slices.Sorted(maps.Keys(is)) {
		now, before := is[name], was[name]
		if before.text == "" || before.text == now.text || !wanted(name) {
			continue
		}
		sites = append(sites, mutate.Site{
			File: now.file, Line: now.line, Operator: "older function " + name, Start: now.start, End: now.end, Text: before.text,
		})
	}
	for _, name := range pick(newer) {
		before, errBefore := os.ReadFile(filepath.Join(older.folder, name))
		now, errNow := os.ReadFile(filepath.Join(newer.folder, name))
		if errBefore == nil && errNow == nil && string(before) != string(now) {
			sites = append(sites, mutate.Site{File: name, Line: 1, Operator: "older file", End: len(now), Text: string(before)})
		}
	}
	return sites, nil
}

func isTest(name string) bool { return strings.HasPrefix(name, "Test") }
