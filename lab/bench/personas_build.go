package main

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// withPersonas builds this program again with the personas in it, and runs
// that. The personas are commands, made to be modules; no package may import
// them. For this build an overlay gives each of their files another package
// clause, and a file that exports its handlers. The code is otherwise the same,
// and nothing of the checkout changes.
func withPersonas(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) error {
	overlay := filepath.Join(dir, "overlay.json")
	if err := writeOverlay(dir, overlay); err != nil {
		return err
	}
	program := filepath.Join(dir, "bench")
	build := exec.CommandContext(ctx, "go", "build", "-tags=personas", "-overlay="+overlay, "-o", program, ".")
	build.Stdout, build.Stderr = stderr, stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build with the personas: %w", err)
	}
	self := exec.CommandContext(ctx, program, args...)
	self.Stdout, self.Stderr = stdout, stderr
	self.Cancel = func() error { return self.Process.Signal(os.Interrupt) }
	return self.Run()
}

func writeOverlay(dir, overlay string) error {
	replace := make(map[string]string)
	for _, persona := range []string{"abyss", "bulwark", "challenger", "clerk", "specter"} {
		if err := overlayPersona(dir, persona, replace); err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(overlay, text, 0o600)
}

var packageClause = regexp.MustCompile(`(?m)^package main$`)

func overlayPersona(dir, persona string, replace map[string]string) error {
	folder, err := filepath.Abs(filepath.Join("..", "..", "plugins", persona))
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	handlers := map[string]string{"node": "nil", "contest": "nil", "edges": "nil"}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			replace[file] = "" // not there
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		copied := filepath.Join(dir, persona+"-"+filepath.Base(file))
		if err := os.WriteFile(copied, packageClause.ReplaceAll(text, []byte("package "+persona)), 0o600); err != nil {
			return err
		}
		replace[file] = copied
		if err := findHandlers(file, text, handlers); err != nil {
			return err
		}
	}
	copied := filepath.Join(dir, persona+"-exports.go")
	replace[filepath.Join(folder, "exports.go")] = copied
	return os.WriteFile(copied, fmt.Appendf(nil, exports, persona, imported(handlers), handlers["node"], handlers["contest"], handlers["edges"]), 0o600)
}

// imported is the import of the package that the handlers are in, where they are not the module's own.
func imported(handlers map[string]string) string {
	for _, handler := range handlers {
		if from, _, ok := strings.Cut(handler, "."); ok {
			return strconv.Quote("github.com/shadowcourt/shadowcourt/plugins/internal/" + from)
		}
	}
	return ""
}

const exports = `package %s

import (
	%s
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/edges"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

var (
	Node    node.Handler    = %s
	Contest contest.Handler = %s
	Edges   edges.Handler   = %s
)
`

// findHandlers notes what a file registers, as in node.Handle(prosecute).
func findHandlers(name string, text []byte, handlers map[string]string) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		function, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || function.Sel.Name != "Handle" {
			return true
		}
		sdk, isName := function.X.(*ast.Ident)
		if !isName {
			return true
		}
		switch handler := call.Args[0].(type) {
		case *ast.Ident:
			handlers[sdk.Name] = handler.Name
		case *ast.SelectorExpr: // of a package in plugins/internal
			if from, ok := handler.X.(*ast.Ident); ok {
				handlers[sdk.Name] = from.Name + "." + handler.Sel.Name
			}
		}
		return true
	})
	return nil
}
