package experiment

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
)

// covers: the compiler counts what of its files is executed.
func (*goTests) covers(name string) bool { return strings.HasSuffix(name, ".go") }

// maxCovered is how many packages are named one by one.
const maxCovered = 100

// coverFlags have the packages of the changed files count what of them is executed.
func (g *goTests) coverFlags(c changes, flags []string) []string {
	packages := map[string]bool{}
	for name := range c {
		if m, ok := g.moduleOf(name); ok {
			packages[path.Join(m.path, strings.TrimPrefix(path.Dir(name), m.folder))] = true
		}
	}
	list := slices.Sorted(maps.Keys(packages))
	if len(list) > maxCovered {
		list = nil
		for _, m := range g.modules {
			list = append(list, m.path+"/...")
		}
	}
	mode := "set"
	if slices.Contains(flags, "-race") {
		mode = "atomic"
	}
	return []string{"-cover", "-covermode=" + mode, "-coverpkg=" + strings.Join(list, ",")}
}

// moduleOf is the innermost module around a file of the tree under test.
func (g *goTests) moduleOf(name string) (found module, ok bool) {
	for _, m := range g.modules {
		if below(m.folder, name) && (!ok || depth(m.folder) > depth(found.folder)) {
			found, ok = m, true
		}
	}
	return found, ok
}

// profileName is the profile's file in the folder of a trace.
const profileName = "cover.out"

// block is a part of a file whose executions are counted.
type block struct {
	first, last int
	ran         bool
}

var profileLine = regexp.MustCompile(`^([^:\s]+):(\d{1,9})\.\d{1,9},(\d{1,9})\.\d{1,9} \d{1,9} (\d{1,19})$`)

// readProfile reads a profile, by the paths of files in the tree; nil if it is none. The test may have written it.
func (g *goTests) readProfile(profile []byte) map[string][]block {
	head, rest, _ := bytes.Cut(profile, []byte("\n"))
	if !bytes.HasPrefix(head, []byte("mode: ")) {
		return nil
	}
	found := map[string][]block{}
	for line := range bytes.Lines(rest) {
		m := profileLine.FindSubmatch(bytes.TrimSuffix(line, []byte("\n")))
		if m == nil {
			return nil
		}
		first, _ := strconv.Atoi(string(m[2])) // of few digits
		last, _ := strconv.Atoi(string(m[3]))
		if last < first {
			return nil
		}
		if name, ok := g.fileOf(string(m[1])); ok {
			found[name] = append(found[name], block{first, last, strings.Trim(string(m[4]), "0") != ""})
		}
	}
	return found
}

// fileOf is the path in the tree of a file that is named by the import path of its package.
func (g *goTests) fileOf(name string) (string, bool) {
	var at module
	for _, m := range g.modules {
		if strings.HasPrefix(name, m.path+"/") && len(m.path) > len(at.path) {
			at = m
		}
	}
	return path.Join(at.folder, strings.TrimPrefix(name, at.path+"/")), at.path != ""
}

// seen tells which changed pieces of a tree a profile has as executed.
func (g *goTests) seen(ctx context.Context, t *tree.Tree, c changes, profile []byte) (*seen, error) {
	blocks := g.readProfile(profile)
	if blocks == nil {
		return &seen{}, nil
	}
	s := &seen{}
	for name, pieces := range c {
		text, err := t.Read(ctx, name, maxChangedFile)
		if err != nil {
			return nil, err
		}
		f := parseLines(text)
		counted := blocks[name]
		if f == nil {
			s.Unknown += len(pieces)
			continue
		}
		if len(counted) == 0 && f.counted { // the binary is built without it
			counted = []block{{first: 1, last: math.MaxInt}}
		}
		s.add(pieces, slices.ContainsFunc(counted, func(b block) bool { return b.ran }), f.sight(counted))
	}
	return s, nil
}

// goFrame is the place of a function's call in the trace of a crash.
var goFrame = regexp.MustCompile(`(?m)^\t(\S+\.go):(\d{1,9})(?: \+0x[0-9a-f]+)?$`)

// framesTouch says whether the trace of a crash, which leaves no profile, leads through changed lines.
func (g *goTests) framesTouch(c changes, log string) bool {
	for _, frame := range goFrame.FindAllStringSubmatch(log, maxFrames) {
		line, _ := strconv.Atoi(frame[2]) // of few digits
		for name, pieces := range c {
			named, inModule := g.fileOf(frame[1]) // without the paths of the machine
			if (inModule && named == name || strings.HasSuffix(frame[1], "/"+name)) && slices.ContainsFunc(pieces, func(p piece) bool { return p.first <= line && line <= p.last }) {
				return true
			}
		}
	}
	return false
}

// goLines says what the lines of a file of Go are.
type goLines struct {
	code    map[int]bool // they have more than comments, imports and brackets
	funcs   []block      // where functions are declared
	counted bool         // some of them has statements
}

// parseLines gives nil for what is no Go.
func parseLines(text []byte) *goLines {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	f := &goLines{code: map[int]bool{}}
	line := func(p token.Pos) int { return fset.PositionFor(p, false).Line }
	imports := line(syntax.Name.End())
	for _, decl := range syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			f.funcs = append(f.funcs, block{first: line(d.Pos()), last: line(d.End())})
			f.counted = f.counted || d.Body != nil && len(d.Body.List) > 0
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				imports = max(imports, line(d.End()))
			}
		}
	}
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, func(token.Position, string) {}, 0)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return f
		}
		if slices.Contains([]token.Token{token.RBRACE, token.RPAREN, token.COMMA, token.SEMICOLON}, tok) {
			continue
		}
		for at := file.PositionFor(pos, false).Line; ; at++ {
			if at > imports {
				f.code[at] = true
			}
			_, more, found := strings.Cut(literal, "\n") // a string may have several lines
			if !found {
				break
			}
			literal = more
		}
	}
}

// sight tells what is known of a line, by the blocks of the file.
func (f *goLines) sight(blocks []block) func(int) sight {
	within := func(line int) func(block) bool {
		return func(b block) bool { return b.first <= line && line <= b.last }
	}
	return func(line int) sight {
		if !f.code[line] {
			return silent
		}
		inBlock := false
		for _, b := range blocks {
			if within(line)(b) {
				if inBlock = true; b.ran {
					return executed
				}
			}
		}
		at := slices.IndexFunc(f.funcs, within(line))
		switch {
		case inBlock:
			return missed
		case at < 0: // a declaration
			return unknown
		case slices.ContainsFunc(blocks, func(b block) bool { return b.ran && f.funcs[at].first <= b.first && b.last <= f.funcs[at].last }):
			return executed
		}
		return missed
	}
}
