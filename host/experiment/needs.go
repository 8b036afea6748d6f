package experiment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/repo"
	"github.com/shadowcourt/shadowcourt/repo/testcode"
)

// errNoSuchTest: no test file of the package declares the test.
var errNoSuchTest = errors.New("no such test")

// errSeveral: both packages of a folder declare the test.
var errSeveral = errors.New(plan.SeveralTests)

// needed is what one test needs of the test files of its package.
type needed struct {
	// files are the test files without everything that the test does not need, by their names. Their lines stand where they
	// stood. Files of which nothing is left are nil.
	files map[string][]byte
	// digest names the code of what the test names, wherever it stands and however it is formatted; process that of all that is needed.
	digest, process string
}

// needsOf finds what a test needs of the test files of its package: its function, what that names, and what the whole process needs:
// init functions and TestMain. A name that several files declare, as for several systems, is needed from each of them. Only the
// part of the test's name before a slash counts. The error is errNoSuchTest, errSeveral, or that of a file that is no Go.
func needsOf(files map[string][]byte, test string) (*needed, error) {
	test, _, _ = strings.Cut(test, "/")
	p := &testPackage{fset: token.NewFileSet(), declared: map[string][]*declaration{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := p.add(name, files[name]); err != nil {
			return nil, err
		}
	}
	packages := map[string]bool{} // such as shop and shop_test, whose tests run in one process
	for _, d := range p.declared[test] {
		if _, ok := d.decl.(*ast.FuncDecl); ok {
			packages[d.pack] = true
		}
	}
	switch {
	case len(packages) == 0:
		return nil, fmt.Errorf("%w: %s", errNoSuchTest, test)
	case len(packages) > 1:
		return nil, errSeveral
	}
	p.need(test)
	found := &needed{files: map[string][]byte{}, digest: p.digest()}
	p.need("TestMain")
	p.need("init")
	found.process = p.digest()
	for i := range p.files {
		found.files[p.files[i].name] = p.files[i].needed(p.fset)
	}
	return found, nil
}

// testPackage are the declarations of test files by the names that they declare; methods by the names of their types, too.
type testPackage struct {
	fset     *token.FileSet
	files    []testFile
	declared map[string][]*declaration
}

type testFile struct {
	name         string
	text         []byte
	syntax       *ast.File
	declarations []*declaration
}

type declaration struct {
	decl   ast.Decl
	pack   string
	text   []byte
	needed bool
}

func (p *testPackage) add(name string, text []byte) error {
	syntax, err := parser.ParseFile(p.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := testFile{name: name, text: text, syntax: syntax}
	for _, decl := range syntax.Decls {
		names := namesOf(decl)
		if names == nil {
			continue // imports
		}
		d := &declaration{decl: decl, pack: syntax.Name.Name, text: text[p.fset.Position(decl.Pos()).Offset:p.fset.Position(decl.End()).Offset]}
		f.declarations = append(f.declarations, d)
		for _, n := range names {
			p.declared[n] = append(p.declared[n], d)
		}
	}
	p.files = append(p.files, f)
	return nil
}

// namesOf are the names by which a declaration is needed; nil for imports.
func namesOf(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || len(d.Recv.List) == 0 {
			return []string{d.Name.Name}
		}
		var names []string
		ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && len(names) == 0 {
				names = append(names, id.Name)
			}
			return true
		})
		return append(names, "")[:1]
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return nil
		}
		names := []string{}
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			}
		}
		return names
	}
	return []string{}
}

// need marks the declarations of a name, and of all names in them.
func (p *testPackage) need(name string) {
	for queue := []string{name}; len(queue) > 0; {
		name, queue = queue[0], queue[1:]
		if name == "_" {
			continue // it declares nothing that could be named
		}
		for _, d := range p.declared[name] {
			if d.needed {
				continue
			}
			d.needed = true
			ast.Inspect(d.decl, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && len(p.declared[id.Name]) > 0 {
					queue = append(queue, id.Name)
				}
				return true
			})
		}
	}
}

// digest is of the code without comments, sorted. The comments of examples are what these want.
func (p *testPackage) digest() string {
	var parts []string
	for i := range p.files {
		for _, d := range p.files[i].declarations {
			if !d.needed {
				continue
			}
			part := string(d.text)
			if f, ok := d.decl.(*ast.FuncDecl); !ok || !strings.HasPrefix(f.Name.Name, "Example") {
				var b bytes.Buffer
				if (&printer.Config{}).Fprint(&b, token.NewFileSet(), withoutComments(d.decl)) == nil {
					part = b.String()
				}
			}
			parts = append(parts, p.files[i].syntax.Name.Name+" "+part)
		}
	}
	slices.Sort(parts)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// withoutComments is a declaration without the comments that belong to it.
func withoutComments(decl ast.Decl) ast.Decl {
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			n.Doc = nil
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
	return decl
}

// needed is the text of a file with blanks in place of what is not needed, and blank names for imports that are no longer used.
func (f *testFile) needed(fset *token.FileSet) []byte {
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	text := slices.Clone(f.text)
	used, some := map[string]bool{}, false
	for _, d := range f.declarations {
		from := d.decl.Pos()
		if doc := docOf(d.decl); doc != nil {
			from = doc.Pos()
		}
		if !d.needed {
			end := offset(d.decl.End())
			if rest := bytes.TrimLeft(text[end:], " \t"); bytes.HasPrefix(rest, []byte(";")) {
				end = len(text) - len(rest) + 1
			}
			blank(text[offset(from):end])
			continue
		}
		some = true
		ast.Inspect(d.decl, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := s.X.(*ast.Ident); ok {
					used[id.Name] = true
				}
			}
			return true
		})
	}
	if !some {
		return nil
	}
	for _, i := range slices.Backward(f.syntax.Imports) {
		if isUsed(i, used) {
			continue
		}
		from := i.Path.Pos()
		if i.Name != nil {
			from = i.Name.Pos()
		}
		text = slices.Replace(text, offset(from), offset(i.Path.Pos()), []byte("_ ")...)
	}
	return text
}

func docOf(decl ast.Decl) *ast.CommentGroup {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

// blank leaves only the ends of lines.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

var majorVersion = regexp.MustCompile(`^v\d+$`)

// isUsed says whether some of the names is that of an import. Without a name of its own it is taken from the path, as packages are
// usually called.
func isUsed(i *ast.ImportSpec, used map[string]bool) bool {
	if i.Name != nil {
		return i.Name.Name == "_" || i.Name.Name == "." || used[i.Name.Name]
	}
	name, err := strconv.Unquote(i.Path.Value)
	if err != nil {
		return true
	}
	base := path.Base(name)
	if majorVersion.MatchString(base) {
		base = path.Base(path.Dir(name))
	}
	base, _, _ = strings.Cut(base, ".") // as in gopkg.in/yaml.v3
	for _, part := range append(strings.Split(base, "-"), base, strings.ReplaceAll(base, "-", ""), strings.ReplaceAll(base, "-", "_")) {
		if used[part] {
			return true
		}
	}
	return false
}

// compare compares the code of the test, with what it uses of its file and with the helpers and fixtures beside it that changed.
func (*defined) compare(ctx context.Context, head, base *repo.Tree, f *failure) (*comparison, error) {
	now, err := codeOf(ctx, head, f)
	if err != nil || now == nil {
		return &comparison{}, err
	}
	file := f.project.path()
	if _, ok := base.File(file); !ok {
		return &comparison{}, nil // it may have been moved
	}
	before, err := codeOf(ctx, base, f)
	if err != nil {
		return nil, err
	}
	c := &comparison{change: abi.TestNew}
	if before == nil {
		return c, nil
	}
	c.change = abi.TestUnchanged
	helper := func(name string) bool {
		stem, _, _ := strings.Cut(path.Base(name), ".")
		return name != file && sourcefile.IsTest(name) && (stem == "conftest" || sourcefile.KindOf(name) == abi.SourceFixture || strings.Contains(now.text, stem))
	}
	if !slices.EqualFunc(now.file.Uses(now.index), before.file.Uses(before.index), func(a, b testcode.Piece) bool { return a.Text == b.Text }) ||
		head.Differ(base, helper) {
		c.change = abi.TestChanged
	}
	return c, nil
}

// code is the code of a failing test in a tree.
type code struct {
	file  *testcode.File
	text  string
	index int
	rows  *regexp.Regexp
}

// codeOf finds the code of the failing test in a tree; nil where there is none, or its language is not known.
func codeOf(ctx context.Context, t *repo.Tree, f *failure) (*code, error) {
	target := f.project
	if _, ok := t.File(target.path()); !ok {
		return nil, nil //nolint:nilnil // the tree does not have it
	}
	text, err := t.Read(ctx, target.path(), maxTestFile)
	if err != nil {
		return nil, err
	}
	c := &code{file: testcode.Parse(target.path(), text), text: string(text)}
	if c.file == nil {
		return nil, nil //nolint:nilnil // the language is not known
	}
	var ok bool
	if c.index, c.rows, ok = c.file.Find(target.test.Class, target.test.Name); !ok {
		return nil, nil //nolint:nilnil // the tree has no such test
	}
	return c, nil
}

// build writes the tree and builds in it. Where runs change the tree itself, it is written and built again before each.
func (r *defined) build(ctx context.Context, w *workspace, f *failure, _ replaced, _ string) (program, error) {
	source, builtAt := w.source(), -1
	build := func(ctx context.Context) error {
		if w.writes == builtAt {
			return nil
		}
		err := r.prepare(ctx, f.project, source, environment{Scratch: w.folder, Network: r.network, Home: r.home})
		if err == nil {
			builtAt = w.writes
		}
		return err
	}
	if err := w.write(ctx); err != nil {
		return nil, err
	}
	if err := build(ctx); err != nil {
		return nil, err
	}
	return func(ctx context.Context, f *failure, env environment) (*testRun, error) {
		if err := build(ctx); err != nil {
			return nil, err
		}
		target := f.project
		env.Tree = w.tree
		if target.path() != "" {
			if _, ok := w.tree.File(target.path()); !ok {
				return nil, errNoTests
			}
		}
		if env.Rows {
			c, err := codeOf(ctx, w.tree, f)
			if err != nil {
				return nil, err
			}
			if c != nil {
				target = target.withRows(c.file.Blocks[c.index].Name, c.rows)
			}
		}
		return r.test(ctx, target, source, env)
	}, nil
}
