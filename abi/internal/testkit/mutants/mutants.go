// Package mutants shows that no check of the host's decoder is idle: it rewrites the decoder so that each single check can be switched off,
// and its test demands that the vectors notice each.
//
// A check is a condition marked `// check: name`, a statement that reports a problem, an error of the token layer that is looked at, a
// bound, a nonempty, an enumeration, a count or a required field of a generated reader, or a problem that a Rules method adds. The decoder
// itself has no switch: the rewritten files exist only in an overlay of the go command.
package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Site is one check that can be switched off.
type Site struct {
	// Number is what abi.Mutant is set to, from 1.
	Number int `json:"number"`
	// Name says what is switched off: the function and the check.
	Name string `json:"name"`
	// Type is the Go name of the type whose reader or rule it is; empty for the checks of all types.
	Type string `json:"type"`
}

// Rewritten is the decoder with its switches.
type Rewritten struct {
	Sites []Site
	// Files maps paths below the folder of package abi to their new content.
	Files map[string]string
}

const abiSwitch = `package abi

// Mutant is the number of the check that is off.
var Mutant int

func mutant(n int) bool { return Mutant == n }
`

const codecSwitch = `package codec

import "github.com/shadowcourt/shadowcourt/abi"

func mutant(n int) bool { return abi.Mutant == n }

func pick[T any](n int, with, without T) T {
	if mutant(n) {
		return without
	}
	return with
}

func (d *decoder) mutantEnum(n int, values []string, optional bool) string {
	if mutant(n) {
		return d.text(false)
	}
	return d.enum(values, optional)
}
`

// Rewrite reads the decoder below dir, the folder of package abi.
func Rewrite(dir string) (*Rewritten, error) {
	out := &Rewritten{Files: map[string]string{"mutant.go": abiSwitch, "codec/mutant.go": codecSwitch}}
	names, err := filepath.Glob(filepath.Join(dir, "codec", "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range append(names, filepath.Join(dir, "rules.go")) {
		base := filepath.Base(name)
		if strings.HasSuffix(base, "_test.go") || base == "host_encoder.go" {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rewritten, err := out.rewrite(base, source)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return nil, err
		}
		out.Files[filepath.ToSlash(rel)] = rewritten
	}
	return out, nil
}

// rewriter edits one file.
type rewriter struct {
	out      *Rewritten
	source   []byte
	fset     *token.FileSet
	marks    map[int]string // by line
	function string
	typ      string
	edits    []edit
}

type edit struct {
	from, to int
	text     string
}

func (out *Rewritten) rewrite(name string, source []byte) (string, error) {
	r := &rewriter{out: out, source: source, fset: token.NewFileSet(), marks: map[int]string{}}
	f, err := parser.ParseFile(r.fset, name, source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if what, ok := strings.CutPrefix(c.Text, "// check: "); ok {
				r.marks[r.line(c.Pos())] = what
			}
		}
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			r.enter(fn)
			ast.Inspect(fn.Body, r.visit)
		}
	}
	if len(r.marks) > 0 {
		return "", fmt.Errorf("%s: marks without a condition: %v", name, r.marks)
	}
	return r.apply(), nil
}

// enter notes the function and the type that it is about.
func (r *rewriter) enter(fn *ast.FuncDecl) {
	r.function, r.typ = fn.Name.Name, ""
	if typ, ok := strings.CutPrefix(fn.Name.Name, "read"); ok && fn.Recv == nil {
		r.typ = typ
	}
	if fn.Name.Name == "Rules" {
		if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
			r.typ = r.text(star.X)
			r.function = r.typ + ".Rules"
		}
	}
}

func (r *rewriter) line(p token.Pos) int { return r.fset.Position(p).Line }

func (r *rewriter) offset(p token.Pos) int { return r.fset.Position(p).Offset }

func (r *rewriter) text(n ast.Node) string {
	return string(r.source[r.offset(n.Pos()):r.offset(n.End())])
}

// site numbers a new one.
func (r *rewriter) site(what string) int {
	n := len(r.out.Sites) + 1
	r.out.Sites = append(r.out.Sites, Site{Number: n, Name: r.function + ": " + what, Type: r.typ})
	return n
}

func (r *rewriter) replace(n ast.Node, text string) {
	r.edits = append(r.edits, edit{from: r.offset(n.Pos()), to: r.offset(n.End()), text: text})
}

func (r *rewriter) wrap(n ast.Node, before, after string) {
	r.edits = append(r.edits,
		edit{from: r.offset(n.Pos()), to: r.offset(n.Pos()), text: before},
		edit{from: r.offset(n.End()), to: r.offset(n.End()), text: after})
}

func (r *rewriter) apply() string {
	slices.SortStableFunc(r.edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, e := range r.edits {
		b.Write(r.source[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.Write(r.source[at:])
	return b.String()
}
