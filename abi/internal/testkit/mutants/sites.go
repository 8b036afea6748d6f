package mutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// visit finds the checks of a function.
func (r *rewriter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		r.condition(n.Cond, n.Body.Lbrace)
	case *ast.CaseClause:
		if len(n.List) == 1 {
			r.condition(n.List[0], n.Colon)
		}
	case *ast.ExprStmt:
		r.report(n)
	case *ast.BinaryExpr:
		r.tokenError(n)
	case *ast.CallExpr:
		r.call(n)
	case *ast.CompositeLit:
		r.count(n)
	}
	return true
}

// condition switches off a marked condition: it is then never true.
func (r *rewriter) condition(cond ast.Expr, end token.Pos) {
	line := r.line(end)
	what, ok := r.marks[line]
	if !ok {
		return
	}
	delete(r.marks, line)
	r.wrap(cond, fmt.Sprintf("!mutant(%d) && (", r.site(what)), ")")
}

// report switches off a statement that reports a problem.
func (r *rewriter) report(n *ast.ExprStmt) {
	call, ok := n.X.(*ast.CallExpr)
	if !ok {
		return
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch selector.Sel.Name {
	case "Add", "Reject", "fatal", "outside", "truncated":
		r.wrap(n, fmt.Sprintf("if !mutant(%d) {", r.site("report "+r.text(n))), "}")
	}
}

// tokenError switches off the look at an error of the library.
func (r *rewriter) tokenError(n *ast.BinaryExpr) {
	x, ok := n.X.(*ast.Ident)
	y, ok2 := n.Y.(*ast.Ident)
	if !ok || !ok2 || x.Name != "err" || y.Name != "nil" || strings.HasPrefix(r.function, "decodeMessage") || r.function == "recode" {
		return
	}
	if n.Op == token.EQL {
		r.wrap(n, "(", fmt.Sprintf(" || mutant(%d))", r.site("error of the library")))
	} else {
		r.wrap(n, "(", fmt.Sprintf(" && !mutant(%d))", r.site("error of the library")))
	}
}

// call switches off what a generated reader asks of a field.
func (r *rewriter) call(n *ast.CallExpr) {
	selector, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || r.text(selector.X) != "d" || r.typ == "" {
		return
	}
	at := "line " + strconv.Itoa(r.line(n.Pos())) + ": "
	switch selector.Sel.Name {
	case "text":
		if r.text(n.Args[0]) == "true" {
			r.replace(n.Args[0], fmt.Sprintf("!mutant(%d)", r.site(at+"nonempty")))
		}
	case "enum":
		r.replace(n.Fun, "d.mutantEnum")
		r.wrap(n.Args[0], fmt.Sprintf("%d, ", r.site(at+"enumeration")), "")
	case "float":
		r.bound(n.Args[0], at+"least", "-math.MaxFloat64")
		r.bound(n.Args[1], at+"most", "math.MaxFloat64")
	case "integer":
		r.bound(n.Args[0], at+"least", "math.MinInt")
		r.bound(n.Args[1], at+"most", "math.MaxInt")
	case "open":
		r.required(n.Args[1])
	}
}

func (r *rewriter) bound(n ast.Expr, what, none string) {
	if strings.Contains(r.text(n), "math.") {
		return
	}
	typ := "int64"
	if strings.Contains(none, "Float") {
		typ = "float64"
	}
	r.replace(n, fmt.Sprintf("pick[%s](%d, %s, %s)", typ, r.site(what), r.text(n), plain[none]))
}

// plain are the widest bounds as literals, since not every file imports math.
var plain = map[string]string{
	"-math.MaxFloat64": "-0x1p1023 * (1 + (1 - 0x1p-52))", "math.MaxFloat64": "0x1p1023 * (1 + (1 - 0x1p-52))",
	"math.MinInt": "-1 << 63", "math.MaxInt": "1<<63 - 1",
}

// required makes each needed field one that may be missing.
func (r *rewriter) required(n ast.Expr) {
	mask, err := strconv.ParseUint(r.text(n), 0, 64)
	if err != nil {
		return
	}
	text := r.text(n)
	for i := range 64 {
		if bit := uint64(1) << i; mask&bit != 0 {
			text = fmt.Sprintf("pick[uint64](%d, %s, %#x)", r.site("required field "+strconv.Itoa(i)), text, mask&^bit)
		}
	}
	r.replace(n, text)
}

// count switches off each bound of a length.
func (r *rewriter) count(n *ast.CompositeLit) {
	if r.typ == "" || r.text(n.Type) != "count" {
		return
	}
	for _, e := range n.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		typ, none := "int", "0"
		if r.text(pair.Key) == "nonempty" {
			typ, none = "bool", "false"
		}
		what := "line " + strconv.Itoa(r.line(n.Pos())) + ": " + r.text(pair.Key)
		r.replace(pair.Value, fmt.Sprintf("pick[%s](%d, %s, %s)", typ, r.site(what), r.text(pair.Value), none))
	}
}
