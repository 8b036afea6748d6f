package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// defects finds the sites of ordinary programming mistakes: the operators that mutation testing uses, and two mistakes
// that don't compile.
func defects(s *source) {
	for _, decl := range s.file.Decls {
		if general, ok := decl.(*ast.GenDecl); ok && general.Tok == token.IMPORT {
			continue
		}
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			if !ofTests(f.Name.Name) {
				continue
			}
			mutateStart(s, f)
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			mutateExpression(s, n)
			mutateStatement(s, n)
			return n != nil
		})
	}
}

// ofTests says whether `go test` runs the function without being asked to.
func ofTests(name string) bool {
	return !strings.HasPrefix(name, "Benchmark") && !strings.HasPrefix(name, "Fuzz") && !strings.HasPrefix(name, "Example")
}

// mutateStart notes mistakes at a function's beginning: an early return with zero values, a pointer that is nil.
func mutateStart(s *source, f *ast.FuncDecl) {
	if f.Type.TypeParams != nil || len(f.Body.List) < 2 {
		return
	}
	at := f.Body.List[0].Pos()
	if !strings.HasPrefix(f.Name.Name, "Test") {
		s.insert("return early", at, zeroReturn(s, f)+"; ")
	}
	fields := f.Type.Params.List
	if f.Recv != nil {
		fields = append(slices.Clip(fields), f.Recv.List...)
	}
	for _, field := range fields {
		if _, pointer := field.Type.(*ast.StarExpr); !pointer || len(field.Names) == 0 {
			continue
		}
		if name := field.Names[0].Name; name != "_" && name != "t" {
			s.insert("nil pointer", at, name+" = nil; ")
		}
	}
}

func zeroReturn(s *source, f *ast.FuncDecl) string {
	if f.Type.Results == nil {
		return "return"
	}
	var zeros []string
	for _, result := range f.Type.Results.List {
		for range max(1, len(result.Names)) {
			zeros = append(zeros, "*new("+s.code(result.Type)+")")
		}
	}
	return "return " + strings.Join(zeros, ", ")
}

// swapped are the operators that a slip of the pen exchanges.
func swapped(op token.Token) string {
	switch op {
	case token.EQL:
		return "!="
	case token.NEQ:
		return "=="
	case token.LSS:
		return "<="
	case token.LEQ:
		return "<"
	case token.GTR:
		return ">="
	case token.GEQ:
		return ">"
	case token.LAND:
		return "||"
	case token.LOR:
		return "&&"
	case token.ADD:
		return "-"
	case token.SUB:
		return "+"
	default:
		return ""
	}
}

func mutateExpression(s *source, n ast.Node) {
	switch e := n.(type) {
	case *ast.BinaryExpr:
		if op := swapped(e.Op); op != "" {
			s.add("swap operator", e.OpPos, e.OpPos+token.Pos(len(e.Op.String())), op)
		}
	case *ast.BasicLit:
		mutateLiteral(s, e)
	case *ast.IndexExpr:
		if _, variable := e.Index.(*ast.Ident); variable {
			s.insert("off by one", e.Index.End(), "+1")
		}
	case *ast.SliceExpr:
		if e.High != nil {
			s.insert("off by one", e.High.End(), "-1")
		} else if e.Low != nil {
			s.insert("off by one", e.Low.End(), "+1")
		}
	case *ast.CallExpr:
		if _, method := e.Fun.(*ast.SelectorExpr); method && len(e.Args) > 0 {
			s.insert("extra argument", e.Rparen, ", nil")
		}
	}
}

func mutateLiteral(s *source, lit *ast.BasicLit) {
	switch lit.Kind {
	case token.INT:
		s.insert("change number", lit.End(), "+1")
	case token.STRING:
		if len(lit.Value) > 3 && lit.Value[0] == '"' && !strings.ContainsAny(lit.Value, `%\`) {
			s.replace("change text", lit, lit.Value[:len(lit.Value)-2]+`"`)
		}
	default:
	}
}

func mutateStatement(s *source, n ast.Node) {
	switch st := n.(type) {
	case *ast.IfStmt:
		s.replace("negate condition", st.Cond, "!("+s.code(st.Cond)+")")
	case *ast.ExprStmt:
		s.replace("drop statement", st, blank(s.code(st)))
	case *ast.IncDecStmt:
		s.replace("drop statement", st, blank(s.code(st)))
	case *ast.AssignStmt:
		if st.Tok == token.ASSIGN {
			s.replace("drop statement", st, blank(s.code(st)))
		}
	case *ast.SelectorExpr:
		if _, ok := st.X.(*ast.Ident); ok {
			s.insert("misspell name", st.Sel.End(), "s")
		}
	}
}

// blank keeps the line breaks, so that line numbers stay.
func blank(code string) string { return strings.Repeat("\n", strings.Count(code, "\n")) }
