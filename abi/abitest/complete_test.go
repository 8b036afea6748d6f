package abitest_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	"github.com/shadowcourt/shadowcourt/abi/schema"
)

// notOnTheWire are the structs of package abi that are no messages: they
// report what is wrong with one.
var notOnTheWire = []string{"PathElement", "Problem", "ValidationError", "Collector"}

// exportedStructs reads package abi without the help of the generators, so
// that a type which they overlook is found.
func exportedStructs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of package abi: %v", err)
	}
	var names []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				if _, ok := spec.Type.(*ast.StructType); ok && !slices.Contains(notOnTheWire, spec.Name.Name) {
					names = append(names, spec.Name.Name)
				}
			}
			return true
		})
	}
	return names
}

func vectorsByType(t *testing.T) map[string][]abitest.Vector {
	t.Helper()
	sets, err := abitest.Sets()
	if err != nil {
		t.Fatal(err)
	}
	byType := map[string][]abitest.Vector{}
	for _, s := range sets {
		byType[s.Type] = s.Vectors
	}
	return byType
}

func TestAccept_SC1_EveryTypeHasSchemaVectorsAndValidation(t *testing.T) {
	t.Parallel()
	names, vectors := exportedStructs(t), vectorsByType(t)
	if len(names) < 60 {
		t.Fatalf("only %d types were found", len(names))
	}
	wire := map[string]bool{}
	for _, goName := range names {
		name := model.WireName(goName)
		wire[name] = true
		if _, ok := schema.Get(name); !ok {
			t.Errorf("%s has no schema", goName)
		}
		valid := slices.IndexFunc(vectors[name], func(v abitest.Vector) bool { return v.Valid })
		broken := slices.IndexFunc(vectors[name], func(v abitest.Vector) bool { return !v.Valid })
		if valid < 0 || broken < 0 {
			t.Errorf("%s has no vectors", goName)
		}
		_, err := hostCodec(name, []byte("\x81\xa5bogus\x01"), 0)
		if _, ok := errors.AsType[*abi.ValidationError](err); !ok {
			t.Errorf("%s is not validated: %v", goName, err)
		}
	}
	for _, name := range schema.Names() {
		if !wire[name] {
			t.Errorf("there is a schema of %s, which is no type", name)
		}
	}
	for name := range vectors {
		if !wire[name] {
			t.Errorf("there are vectors of %s, which is no type", name)
		}
	}
}

// classes gives the codes that some vector of a type must carry.
func classes(s *model.StructType) []abi.Code {
	want := []abi.Code{
		abi.CodeUnknownField, abi.CodeDuplicateKey, abi.CodeWrongType, abi.CodeNil, abi.CodeExtension, abi.CodeInvalidUTF8,
		abi.CodeTruncated, abi.CodeBadLength, abi.CodeReservedByte, abi.CodeTooDeep, abi.CodeTrailingBytes, abi.CodeTooLarge,
	}
	for _, f := range s.Fields {
		if f.Required() {
			want = append(want, abi.CodeMissingField)
		}
		t := f.Type
		switch {
		case t.Kind == model.String:
			want = append(want, abi.CodeBinary)
		case t.Kind == model.Enum:
			want = append(want, abi.CodeBinary, abi.CodeInvalidValue)
		case t.Kind == model.Float:
			want = append(want, abi.CodeNotFinite)
		case t.MinCount != nil || t.MaxCount != nil:
			want = append(want, abi.CodeBadCount)
		}
		if t.NonEmpty {
			want = append(want, abi.CodeEmpty)
		}
		if t.Min != nil || t.Max != nil || t.Kind == model.Int {
			want = append(want, abi.CodeOutOfRange)
		}
	}
	return want
}

func TestAccept_FR10_VectorsCoverEveryTypeTimesEveryClass(t *testing.T) {
	t.Parallel()
	m, err := model.Load("..")
	if err != nil {
		t.Fatal(err)
	}
	vectors := vectorsByType(t)
	for _, s := range m.Structs {
		codes, missing := map[abi.Code]bool{}, map[string]bool{}
		nested := false
		for _, v := range vectors[s.WireName] {
			for _, p := range v.Problems {
				codes[p.Code] = true
				missing[p.Path+" "+string(p.Code)] = true
				nested = nested || strings.ContainsAny(p.Path, ".[")
			}
		}
		for _, code := range classes(s) {
			if !codes[code] {
				t.Errorf("no vector of %s shows %s", s.WireName, code)
			}
		}
		for _, f := range s.Fields {
			for _, code := range []abi.Code{abi.CodeDuplicateKey, abi.CodeNil, abi.CodeWrongType, abi.CodeExtension, abi.CodeReservedByte} {
				if !missing[f.WireName+" "+string(code)] {
					t.Errorf("no vector of %s shows %s of %s", s.WireName, code, f.WireName)
				}
			}
			if f.Required() && !missing[f.WireName+" "+string(abi.CodeMissingField)] {
				t.Errorf("no vector of %s shows a missing %s", s.WireName, f.WireName)
			}
			if inner := f.Type.Kind; inner >= model.List && !nested {
				t.Errorf("no vector of %s shows a problem inside", s.WireName)
			}
		}
	}
}

func TestEveryCodeOfOneTypeIsShown(t *testing.T) {
	t.Parallel()
	shown := map[abi.Code]bool{}
	for _, set := range vectorsByType(t) {
		for _, v := range set {
			for _, p := range v.Problems {
				shown[p.Code] = true
			}
		}
	}
	across := []abi.Code{ // Check functions: across artifacts, or by the host alone
		abi.CodeCharge, abi.CodeNotInCase, abi.CodeNotInDocuments, abi.CodeEvidenceIndex, abi.CodeIdentity, abi.CodeWrongArtifact,
		abi.CodeNotOffered, abi.CodeWrongAnswers, abi.CodeUnanswered, abi.CodeKeyMismatch, abi.CodeVersion, abi.CodeDuplicateEntry,
	}
	for _, code := range codesOfSource(t) {
		if !shown[code] && !slices.Contains(across, code) {
			t.Errorf("no vector shows %s", code)
		}
	}
}

// codesOfSource reads the constants of type Code.
func codesOfSource(t *testing.T) []abi.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "problem.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var codes []abi.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			codes = append(codes, abi.Code(strings.Trim(lit.Value, `"`)))
		}
		return true
	})
	if len(codes) < 30 {
		t.Fatalf("only %d codes were found", len(codes))
	}
	return codes
}
