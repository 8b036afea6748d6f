package mutate

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// dice is the import that makes a test depend on chance.
const dice = `dice "math/rand/v2"`

// Luck is what a mutation by chance depends on.
type Luck int

// The kinds of luck.
const (
	ByNumber   Luck = iota // a random number
	ByTime                 // the clock, to a microsecond
	ByMap                  // the order of a map, to an eighth
	ByRoutines             // a goroutine that nobody waits for: the percentage has no meaning
)

// condition is an expression that is true in so many of a hundred cases, and the import that it needs.
func (l Luck) condition(percent int) (text, imports string) {
	switch l {
	case ByTime:
		return fmt.Sprintf("(clock.Now().UnixNano()/1000%%100 < %d)", percent), `clock "time"`
	case ByMap:
		const keys = 8
		yes := max(1, (percent*keys+50)/100)
		var m strings.Builder
		for i := range keys {
			fmt.Fprintf(&m, "%d: %t, ", i, i < yes)
		}
		return "func() bool { for _, yes := range map[int]bool{" + strings.TrimSuffix(m.String(), ", ") + "} { return yes }; return false }()", ""
	default:
		return fmt.Sprintf("(dice.IntN(100) < %d)", percent), dice
	}
}

// Chances finds the sites where a mistake of [Defects] can happen in so many of a hundred cases, by luck: a condition that is wrong or not
// looked at, an early return, a pointer that is nil, a statement that is left out or done twice, a boolean that is the other one. By
// routines, a statement is done some time later.
func Chances(luck Luck, percent int) func(*Source) {
	yes, imports := luck.condition(percent)
	return func(s *Source) {
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil || f.Name.Name == "init" {
				continue
			}
			s.in = nameOf(decl)
			if luck == ByRoutines {
				later(s, f)
				continue
			}
			c := chances{s, yes, imports}
			c.start(f)
			ast.Inspect(f.Body, func(n ast.Node) bool {
				c.node(n)
				return n != nil
			})
		}
		s.in = ""
	}
}

// chances notes the sites of one file.
type chances struct {
	*Source
	yes, imports string
}

func (c chances) start(f *ast.FuncDecl) {
	if f.Type.TypeParams != nil || len(f.Body.List) < 2 {
		return
	}
	at := f.Body.List[0].Pos()
	c.note("return early", at, at, strings.Replace(zeroReturn(c.Source, f), "if true", "if "+c.yes, 1)+"; ", c.imports)
	for _, field := range f.Type.Params.List {
		if _, pointer := field.Type.(*ast.StarExpr); pointer && len(field.Names) > 0 && field.Names[0].Name != "_" {
			c.note("nil pointer", at, at, "if "+c.yes+" { "+field.Names[0].Name+" = nil }; ", c.imports)
		}
	}
}

func (c chances) node(n ast.Node) {
	switch e := n.(type) {
	case *ast.IfStmt:
		cond := "(" + c.code(e.Cond) + ")"
		c.note("negate condition", e.Cond.Pos(), e.Cond.End(), cond+" != "+c.yes, c.imports)
		c.note("never true", e.Cond.Pos(), e.Cond.End(), "!"+c.yes+" && "+cond, c.imports)
		c.note("always true", e.Cond.Pos(), e.Cond.End(), c.yes+" || "+cond, c.imports)
	case *ast.ExprStmt:
		c.note("drop statement", e.Pos(), e.End(), "if !"+c.yes+" { "+c.code(e)+" }", c.imports)
		if once := oneLine(c.code(e)); once != "" {
			c.note("do it twice", e.Pos(), e.Pos(), "if "+c.yes+" { "+once+" }; ", c.imports)
		}
	case *ast.AssignStmt:
		if e.Tok == token.ASSIGN {
			c.note("drop statement", e.Pos(), e.End(), "if !"+c.yes+" { "+c.code(e)+" }", c.imports)
		}
	case *ast.Ident:
		switch e.Name {
		case "true":
			c.note("flip boolean", e.Pos(), e.End(), "!"+c.yes, c.imports)
		case "false":
			c.note("flip boolean", e.Pos(), e.End(), c.yes, c.imports)
		}
	}
}

// later notes statements that can be done by a goroutine that nobody waits for.
func later(s *Source, f *ast.FuncDecl) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch st := n.(type) {
		case *ast.ExprStmt:
			s.note("don't wait", st.Pos(), st.End(), "go func() { "+s.code(st)+" }(); sched.Gosched()", `sched "runtime"`)
		case *ast.AssignStmt:
			if st.Tok == token.ASSIGN {
				s.note("don't wait", st.Pos(), st.End(), "go func() { "+s.code(st)+" }(); sched.Gosched()", `sched "runtime"`)
			}
		}
		return n != nil
	})
}
