package mutate

import (
	"go/ast"
	"go/token"
	"strings"
)

// dice is the import that makes a test depend on chance.
const dice = `dice "math/rand/v2"`

// Flakes finds the sites in tests where the outcome can be made to depend on the scheduler, on the order of the tests or
// on chance: a statement that nobody waits for, a wait, a lock or a cleanup that is missing, a pause that is too short,
// tests side by side that share state, data in random order, random data.
func Flakes(s *Source) {
	parallel(s)
	for _, decl := range s.file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || !ofTests(f.Name.Name) {
			continue
		}
		if s.part = ""; !strings.HasPrefix(f.Name.Name, "Test") {
			s.part = "helper"
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			flakyStatement(s, n)
			flakyExpression(s, n)
			return n != nil
		})
	}
	s.part = ""
}

func flakyStatement(s *Source, n ast.Node) {
	switch st := n.(type) {
	case *ast.ExprStmt:
		code := s.code(st)
		switch {
		case synchronises(st.X, code):
			s.replace("lose synchronisation", st, blank(code))
		case strings.HasPrefix(code, "t.Cleanup("):
			s.replace("lose cleanup", st, blank(code))
		case !strings.HasPrefix(code, "t."):
			s.replace("don't wait", st, "go func() { "+code+" }()")
		}
	case *ast.DeferStmt:
		code := s.code(st)
		if !strings.Contains(code, "Unlock()") && !strings.Contains(code, ".Done()") {
			s.replace("lose cleanup", st, blank(code))
		}
	case *ast.AssignStmt:
		if st.Tok == token.ASSIGN {
			s.replace("don't wait", st, "go func() { "+s.code(st)+" }()")
		}
	case *ast.IfStmt:
		if st.Init == nil && st.Else == nil {
			s.note("now and then", st.Cond.Pos(), st.Cond.End(), "("+s.code(st.Cond)+") != (dice.IntN(3) == 0)", dice)
		}
	}
}

func flakyExpression(s *Source, n ast.Node) {
	switch e := n.(type) {
	case *ast.SelectorExpr:
		if code := s.code(e); code == "time.Second" || code == "time.Millisecond" {
			s.replace("too short a time", e, "time.Microsecond")
		}
	case *ast.BasicLit:
		if e.Kind == token.INT && len(e.Value) < 6 {
			s.note("random number", e.Pos(), e.End(), "("+e.Value+"+dice.IntN(2))", dice)
		}
		if e.Kind == token.STRING && len(e.Value) > 4 && e.Value[0] == '"' && !strings.ContainsAny(e.Value, `%\`) {
			s.note("random text", e.Pos(), e.End(), e.Value+"[dice.IntN(2):]", dice)
		}
	case *ast.CompositeLit:
		if list, ok := e.Type.(*ast.ArrayType); ok && list.Len == nil && len(e.Elts) > 1 {
			code := s.code(e)
			s.note("random order", e.Pos(), e.End(), "func(x "+s.code(list)+") "+s.code(list)+
				" { dice.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] }); return x }("+code+")", dice)
		}
	}
}

func synchronises(x ast.Expr, code string) bool {
	if receive, ok := x.(*ast.UnaryExpr); ok && receive.Op == token.ARROW {
		return true
	}
	for _, end := range []string{".Wait()", ".Lock()", ".RLock()"} {
		if strings.HasSuffix(code, end) {
			return true
		}
	}
	return strings.HasPrefix(code, "time.Sleep(")
}

// parallel notes one site for each pair of neighbouring tests: from there on all tests of the file run side by side. It
// rewrites the rest of the file.
func parallel(s *Source) {
	if strings.Contains(s.text, "Setenv(") || strings.Contains(s.text, ".Parallel()") {
		return
	}
	var starts []token.Pos
	for _, decl := range s.file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if ok && f.Body != nil && f.Recv == nil && len(f.Body.List) > 0 && takesT(s, f) {
			starts = append(starts, f.Body.List[0].Pos())
		}
	}
	for i := range max(0, len(starts)-1) {
		from := starts[i]
		var b strings.Builder
		for _, at := range starts[i:] {
			b.WriteString(s.text[s.offset(from):s.offset(at)] + "t.Parallel(); ")
			from = at
		}
		s.add("run side by side", starts[i], from, b.String())
	}
}

func takesT(s *Source, f *ast.FuncDecl) bool {
	return strings.HasPrefix(f.Name.Name, "Test") && strings.HasSuffix(s.code(f.Type.Params), "(t *testing.T)")
}
