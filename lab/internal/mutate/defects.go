package mutate

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Defects finds the sites of ordinary programming mistakes: the operators that mutation testing uses. In test files the
// operator's name says whether a helper or a table is mutated rather than a test's own statements.
func Defects(s *Source) {
	test := strings.HasSuffix(s.name, "_test.go")
	for _, decl := range s.file.Decls {
		s.part, s.in = "", nameOf(decl)
		if general, ok := decl.(*ast.GenDecl); ok {
			if general.Tok == token.IMPORT {
				continue
			}
			if test {
				s.part = "table"
			}
		}
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			if !ofTests(f.Name.Name) {
				continue
			}
			if test && !strings.HasPrefix(f.Name.Name, "Test") {
				s.part = "helper"
			}
			mutateStart(s, f)
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			mutateExpression(s, n)
			mutateStatement(s, n)
			return n != nil
		})
	}
	s.part, s.in = "", ""
}

// nameOf names a function, with the type of its receiver.
func nameOf(decl ast.Decl) string {
	f, ok := decl.(*ast.FuncDecl)
	if !ok {
		return ""
	}
	name := f.Name.Name
	if f.Recv != nil && len(f.Recv.List) == 1 {
		of := f.Recv.List[0].Type
		for {
			switch t := of.(type) {
			case *ast.StarExpr:
				of = t.X
				continue
			case *ast.IndexExpr:
				of = t.X
				continue
			case *ast.IndexListExpr:
				of = t.X
				continue
			case *ast.Ident:
				name = t.Name + "." + name
			}
			return name
		}
	}
	return name
}

// ofTests says whether `go test` runs the function without being asked to.
func ofTests(name string) bool {
	return !strings.HasPrefix(name, "Benchmark") && !strings.HasPrefix(name, "Fuzz") && !strings.HasPrefix(name, "Example")
}

// mutateStart notes mistakes at a function's beginning: an early return with zero values, a pointer that is nil.
func mutateStart(s *Source, f *ast.FuncDecl) {
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

func zeroReturn(s *Source, f *ast.FuncDecl) string {
	if f.Type.Results == nil {
		return "if true { return }"
	}
	var zeros []string
	for _, result := range f.Type.Results.List {
		for range max(1, len(result.Names)) {
			zeros = append(zeros, "*new("+s.code(result.Type)+")")
		}
	}
	return "if true { return " + strings.Join(zeros, ", ") + " }"
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

func mutateExpression(s *Source, n ast.Node) {
	switch e := n.(type) {
	case *ast.BinaryExpr:
		if op := swapped(e.Op); op != "" {
			s.add("swap operator", e.OpPos, e.OpPos+token.Pos(len(e.Op.String())), op)
		}
	case *ast.BasicLit:
		mutateLiteral(s, e)
	case *ast.Ident:
		switch e.Name {
		case "true":
			s.replace("flip boolean", e, "false")
		case "false":
			s.replace("flip boolean", e, "true")
		}
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
		if len(e.Args) > 1 && s.code(e.Args[0]) != s.code(e.Args[1]) {
			s.add("swap arguments", e.Args[0].Pos(), e.Args[1].End(), s.code(e.Args[1])+", "+s.code(e.Args[0]))
		}
	case *ast.CompositeLit:
		if last := len(e.Elts) - 1; last > 0 {
			s.replace("drop element", e.Elts[last], blank(s.code(e.Elts[last])))
		}
	}
}

func mutateLiteral(s *Source, lit *ast.BasicLit) {
	switch lit.Kind {
	case token.INT:
		s.insert("change number", lit.End(), "+1")
		if lit.Value != "0" {
			s.replace("zero for number", lit, "0")
		}
	case token.STRING:
		if len(lit.Value) < 4 || lit.Value[0] != '"' || strings.ContainsAny(lit.Value, `%\`) {
			return
		}
		s.replace("change text", lit, lit.Value[:len(lit.Value)-2]+`"`)
		if upper := strings.ToUpper(lit.Value); upper != lit.Value {
			s.replace("wrong case", lit, upper)
		}
	default:
	}
}

func mutateStatement(s *Source, n ast.Node) {
	switch st := n.(type) {
	case *ast.IfStmt:
		mutateIf(s, st)
	case *ast.ExprStmt:
		s.replace("drop statement", st, blank(s.code(st)))
		s.insert("do it twice", st.Pos(), oneLine(s.code(st)))
	case *ast.IncDecStmt:
		s.replace("drop statement", st, "")
	case *ast.AssignStmt:
		if st.Tok == token.ASSIGN {
			s.replace("drop statement", st, blank(s.code(st)))
		}
	case *ast.ReturnStmt:
		if last := len(st.Results) - 1; last > 0 {
			if name, ok := st.Results[last].(*ast.Ident); ok && name.Name != "nil" {
				s.replace("lose the error", name, "*new(error)")
			}
		}
	case *ast.BranchStmt:
		if st.Label == nil && st.Tok == token.CONTINUE {
			s.replace("break for continue", st, "break")
		}
	case *ast.BlockStmt:
		for i := 1; i < len(st.List); i++ {
			if first, second := st.List[i-1], st.List[i]; movable(first) && movable(second) {
				between := s.text[s.offset(first.End()):s.offset(second.Pos())]
				s.add("swap statements", first.Pos(), second.End(), s.code(second)+between+s.code(first))
			}
		}
	}
}

func mutateIf(s *Source, st *ast.IfStmt) {
	cond := s.code(st.Cond)
	s.replace("negate condition", st.Cond, "!("+cond+")")
	if strings.HasSuffix(cond, "err != nil") {
		s.replace("ignore error", st.Cond, "false && "+cond)
		return
	}
	s.replace("never true", st.Cond, "false && ("+cond+")")
	s.replace("always true", st.Cond, "true || ("+cond+")")
}

// movable says whether a statement may stand elsewhere and the block still compile.
func movable(st ast.Stmt) bool {
	switch st := st.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.IfStmt:
		return true
	case *ast.AssignStmt:
		return st.Tok == token.ASSIGN
	default:
		return false
	}
}

// blank keeps the line breaks, so that line numbers stay.
func blank(code string) string { return strings.Repeat("\n", strings.Count(code, "\n")) }

// oneLine is a statement and a semicolon, or nothing where it takes several lines.
func oneLine(code string) string {
	if strings.Contains(code, "\n") {
		return ""
	}
	return code + "; "
}
