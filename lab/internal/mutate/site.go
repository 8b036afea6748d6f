// Package mutate finds places in the sources of a Go module where a fault can be planted, and plants it.
package mutate

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
)

// Site is one place where a source file can be mutated: the bytes from start to end become text.
type Site struct {
	File     string `json:"file"` // relative to the package's folder
	Line     int    `json:"line"`
	Operator string `json:"operator"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	Text     string `json:"text"`
	// Func is the function around the site, as Name or Type.Name; empty outside of functions.
	Func string `json:"func,omitempty"`
	// Package is put behind the package clause, as an import that the text needs.
	Package string `json:"package"`
}

// Sites groups the places of a module by operator, so that a common operator doesn't drown a rare one.
type Sites map[string][]Site

// Source is a parsed file and the sites found in it.
type Source struct {
	name  string
	text  string
	fset  *token.FileSet
	file  *ast.File
	found Sites
	in    string // function that is looked at
	part  string // of a test file that is at hand, as "helper"; "" for a test itself
}

func (s *Source) offset(pos token.Pos) int { return s.fset.Position(pos).Offset }

func (s *Source) code(n ast.Node) string { return s.text[s.offset(n.Pos()):s.offset(n.End())] }

// replace notes a site that replaces a node's text.
func (s *Source) replace(operator string, n ast.Node, text string) {
	s.add(operator, n.Pos(), n.End(), text)
}

// insert notes a site that puts text before pos.
func (s *Source) insert(operator string, pos token.Pos, text string) { s.add(operator, pos, pos, text) }

func (s *Source) add(operator string, from, to token.Pos, text string) {
	s.note(operator, from, to, text, "")
}

func (s *Source) note(operator string, from, to token.Pos, text, imports string) {
	at := s.offset(s.file.Name.End())
	if imports != "" && s.offset(from) > at {
		imports = "; import " + imports
	}
	if s.part != "" {
		operator += " in " + s.part
	}
	s.found[operator] = append(s.found[operator], Site{
		File: s.name, Line: s.fset.Position(from).Line, Operator: operator,
		Start: s.offset(from), End: s.offset(to), Text: text, Func: s.in, Package: imports,
	})
}

// FindInText finds the sites of one file.
func FindInText(name string, text []byte, find func(*Source)) (Sites, error) {
	found, fset := Sites{}, token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	find(&Source{name: name, text: string(text), fset: fset, file: file, found: found})
	return found, nil
}

// Change gives the text of the site's file with the mutation.
func (s Site) Change(text []byte) ([]byte, error) {
	if s.Start > s.End || s.End > len(text) {
		return nil, errors.New("the site is not in the text")
	}
	changed := string(text[:s.Start]) + s.Text + string(text[s.End:])
	if s.Package != "" {
		clause := packageClause.FindStringIndex(changed)
		if clause == nil {
			return nil, errors.New("there is no package clause")
		}
		changed = changed[:clause[1]] + s.Package + changed[clause[1]:]
	}
	return []byte(changed), nil
}

var packageClause = regexp.MustCompile(`(?m)^package \w+`)
