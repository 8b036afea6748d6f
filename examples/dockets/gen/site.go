package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// site is one place where a source file can be mutated: the bytes from start to end become text.
type site struct {
	file       string // relative to the module
	line       int
	operator   string
	start, end int
	text       string
}

func (s site) String() string { return fmt.Sprintf("%s:%d %s", s.file, s.line, s.operator) }

// sites groups the places of a module by operator, so that a common operator doesn't drown a rare one.
type sites map[string][]site

// pick draws an operator, then one of its sites, each with equal chance. The site is not drawn again.
func (s sites) pick(rng *rand.Rand) (site, bool) {
	var names []string
	for name, list := range s {
		if len(list) > 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return site{}, false
	}
	sort.Strings(names)
	name := names[rng.IntN(len(names))]
	list := s[name]
	i := rng.IntN(len(list))
	chosen := list[i]
	s[name] = append(list[:i:i], list[i+1:]...)
	return chosen, true
}

// source is a parsed file and the sites found in it.
type source struct {
	name  string
	text  string
	fset  *token.FileSet
	file  *ast.File
	found sites
}

func (s *source) offset(pos token.Pos) int { return s.fset.Position(pos).Offset }

func (s *source) code(n ast.Node) string { return s.text[s.offset(n.Pos()):s.offset(n.End())] }

// replace notes a site that replaces a node's text.
func (s *source) replace(operator string, n ast.Node, text string) {
	s.add(operator, n.Pos(), n.End(), text)
}

// insert notes a site that puts text before pos.
func (s *source) insert(operator string, pos token.Pos, text string) { s.add(operator, pos, pos, text) }

func (s *source) add(operator string, from, to token.Pos, text string) {
	s.found[operator] = append(s.found[operator], site{
		file: s.name, line: s.fset.Position(from).Line, operator: operator,
		start: s.offset(from), end: s.offset(to), text: text,
	})
}

// findSites parses the Go files directly in the given folders of root and lets find note the sites of each. test says
// whether to read the test files or the others.
func findSites(root string, folders []string, test bool, find func(*source)) (sites, error) {
	found := sites{}
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			base := filepath.Base(name)
			if strings.HasSuffix(base, "_test.go") != test || strings.HasPrefix(base, "example") {
				continue
			}
			if err := findInFile(root, name, found, find); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

func findInFile(root, name string, found sites, find func(*source)) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	find(&source{name: rel, text: string(text), fset: fset, file: file, found: found})
	return nil
}

// apply writes the mutated file and returns what puts it back.
func (s site) apply(root string) (undo func() error, err error) {
	path := filepath.Join(root, s.file)
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	changed := string(old[:s.start]) + s.text + string(old[s.end:])
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		return nil, err
	}
	return func() error { return os.WriteFile(path, old, 0o644) }, nil
}
