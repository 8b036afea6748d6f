package host_test

import (
	"context"
	"errors"
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var update = flag.Bool("update", false, "write testdata/exported.txt")

// TestAccept_LB2_ExportedNames compares the exported names of package host with testdata/exported.txt; -update writes it.
func TestAccept_LB2_ExportedNames(t *testing.T) {
	t.Parallel()
	const most = 30
	names := exported(t, ".")
	if len(names) > most {
		t.Errorf("%d exported names, at most %d are allowed", len(names), most)
	}
	const golden = "testdata/exported.txt"
	got := strings.Join(names, "\n") + "\n"
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want := must.Get(os.ReadFile(golden))(t)
	if got != string(want) {
		t.Errorf("the exported names are\n%s\nand %s has\n%s", got, golden, want)
	}
}

// exported are the exported constants, variables, functions and types of a package, sorted.
func exported(t *testing.T, dir string) []string {
	t.Helper()
	fset := token.NewFileSet()
	files := sources(t, fset, dir, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
	p := must.Get(doc.NewFromFiles(fset, files, "host"))(t)
	var names []string
	values := func(list []*doc.Value) {
		for _, v := range list {
			names = append(names, v.Names...)
		}
	}
	functions := func(list []*doc.Func) {
		for _, f := range list {
			names = append(names, f.Name)
		}
	}
	values(p.Consts)
	values(p.Vars)
	functions(p.Funcs)
	for _, typ := range p.Types {
		names = append(names, typ.Name)
		values(typ.Consts)
		values(typ.Vars)
		functions(typ.Funcs)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !ast.IsExported(name) })
	slices.Sort(names)
	return names
}

// sources parses the files of a folder that are selected by name.
func sources(t *testing.T, fset *token.FileSet, dir string, selected func(name string) bool) []*ast.File {
	t.Helper()
	names := must.Get(filepath.Glob(filepath.Join(dir, "*.go")))(t)
	var files []*ast.File
	for _, name := range names {
		if !selected(name) {
			continue
		}
		file := must.Get(parser.ParseFile(fset, name, nil, parser.ParseComments))(t)
		files = append(files, file)
	}
	return files
}

// TestAccept_LB2_ImportingHostLinksNoRenderer lists everything that a program links which imports host alone.
func TestAccept_LB2_ImportingHostLinksNoRenderer(t *testing.T) {
	t.Parallel()
	out := must.Get(exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output())(t)
	forbidden := []string{
		"html/template", "text/template", "github.com/jedib0t/go-pretty", "github.com/mattn/go-runewidth", // renderers
		"github.com/shadowcourt/shadowcourt/internal/render$",
		"github.com/spf13/cobra", "github.com/spf13/pflag", // the command line
		"database/sql", "modernc.org/sqlite", // SQL drivers
		"testing$",
	}
	for dep := range strings.FieldsSeq(string(out)) {
		for _, f := range forbidden {
			exact, whole := strings.CutSuffix(f, "$")
			if dep == exact || !whole && strings.HasPrefix(dep, exact+"/") {
				t.Errorf("host links %s", dep)
			}
		}
	}
}

// TestAccept_LB3_Examples counts the runnable examples of the public packages.
func TestAccept_LB3_Examples(t *testing.T) {
	t.Parallel()
	const least = 20
	var names []string
	for _, root := range []string{"../abi", "."} {
		must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "internal" || d.Name() == "testdata" {
				return fs.SkipDir
			}
			for _, example := range doc.Examples(sources(t, token.NewFileSet(), path, func(name string) bool { return strings.HasSuffix(name, "_test.go") })...) {
				if example.Output != "" || example.EmptyOutput {
					names = append(names, path+" "+example.Name)
				}
			}
			return nil
		}))
	}
	if len(names) < least {
		t.Errorf("%d runnable examples, at least %d are needed:\n%s", len(names), least, strings.Join(names, "\n"))
	}
}

// The example itself is run with the tests; this holds it to its size.
func TestAccept_API1_TryingACaseTakesAboutTenLines(t *testing.T) {
	t.Parallel()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "example_test.go", nil, 0))(t)
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

// Every entry that TryAll reads comes back, also when the context ends meanwhile: what was not tried to the end wraps its cause.
func TestTryAllReportsInterruptedCases(t *testing.T) {
	t.Parallel()
	h := shared(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	read := 0
	endless := func(yield func(docket.Entry, error) bool) {
		for {
			read++
			if !yield(docket.Entry{Case: dispute()}, nil) {
				return
			}
		}
	}
	yielded, interrupted := 0, 0
	for tried := range h.TryAll(ctx, endless, 4) {
		if yielded++; yielded == 5 {
			cancel(cause)
		}
		if tried.Err == nil {
			continue
		}
		interrupted++
		if !errors.Is(tried.Err, cause) || !strings.HasPrefix(tried.Err.Error(), `case "`) {
			t.Errorf("error %v", tried.Err)
		}
	}
	if read != yielded || interrupted == 0 {
		t.Errorf("%d entries were read, %d yielded, %d of them interrupted", read, yielded, interrupted)
	}
	for range h.TryAll(ctx, func(yield func(docket.Entry, error) bool) {
		t.Error("an entry is read after the end of the context")
		yield(docket.Entry{Case: abi.Case{}}, nil)
	}, 2) {
		t.Error("an entry is yielded that nobody read")
	}
}
