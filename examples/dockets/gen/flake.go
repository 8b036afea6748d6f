package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// flakes finds the sites in tests where a synchronisation can be lost: a statement that nobody waits for, a wait or a
// lock that is missing, a pause that is too short, tests side by side that share state. What such a test does depends on
// the scheduler.
func flakes(s *source) {
	parallel(s)
	for _, decl := range s.file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			flakyStatement(s, n)
			return n != nil
		})
	}
}

func flakyStatement(s *source, n ast.Node) {
	switch st := n.(type) {
	case *ast.ExprStmt:
		code := s.code(st)
		switch {
		case synchronises(st.X, code):
			s.replace("lose synchronisation", st, blank(code))
		case !strings.HasPrefix(code, "t."):
			s.replace("don't wait", st, "go func() { "+code+" }()")
		}
	case *ast.AssignStmt:
		if st.Tok == token.ASSIGN {
			s.replace("don't wait", st, "go func() { "+s.code(st)+" }()")
		}
	case *ast.SelectorExpr:
		if code := s.code(st); code == "time.Second" || code == "time.Millisecond" {
			s.replace("too short a time", st, "time.Microsecond")
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
func parallel(s *source) {
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

func takesT(s *source, f *ast.FuncDecl) bool {
	return strings.HasPrefix(f.Name.Name, "Test") && strings.HasSuffix(s.code(f.Type.Params), "(t *testing.T)")
}
