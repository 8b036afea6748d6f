package abi_test

import (
	"encoding/hex"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func source(t *testing.T, elements ...string) string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(append([]string{".."}, elements...)...)))(t)
	return string(text)
}

// SPEC.md stays short enough to be read as a whole, and explains everything that a program may meet.
func TestSpecNames(t *testing.T) {
	t.Parallel()
	text := source(t, "abi", "SPEC.md")
	const most = 7_000
	if words := len(strings.Fields(text)); words > most {
		t.Errorf("SPEC.md has %d words, more than %d", words, most)
	}
	for _, c := range []struct {
		of, pattern string
		file        []string
		least       int
	}{
		{"code", `\tCode\w+ +Code = "(\w+)"`, []string{"abi", "problem.go"}, 30},
		{"fault or cause", `\t(?:Fault|Cause)\w+ +(?:FaultCode|Cause) += "(\w+)"`, []string{"host", "internal", "sandbox", "errors.go"}, 20},
		{"system function", `\t\t"(\w+)": +\{"`, []string{"host", "internal", "sandbox", "wasi.go"}, 30},
	} {
		found := regexp.MustCompile(c.pattern).FindAllStringSubmatch(source(t, c.file...), -1)
		if len(found) < c.least {
			t.Errorf("only %d of %s were found in the source", len(found), c.of)
		}
		for _, f := range found {
			check.Contains(t, text, "`"+f[1]+"`", "SPEC.md does not name the", c.of, f[1])
		}
	}
	for _, name := range []string{abi.ManifestSection, abi.ExportMemory, abi.ExportAlloc, abi.ExportNode, abi.ExportContest, abi.ExportEdges, abi.ExportJudge, abi.ExportInitialize, abi.CapabilityModule} {
		check.Contains(t, text, "`"+name+"`", "SPEC.md", name)
	}
}

// The list of limits has each constant of limits.go with its value, times in seconds.
func TestSpecLimits(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	f := must.Get(parser.ParseFile(files, "limits.go", nil, 0))(t)
	pkg, err := new(types.Config).Check("abi", files, []*ast.File{f}, nil)
	if err != nil || len(pkg.Scope().Names()) < 16 {
		t.Fatalf("%v %v", pkg, err)
	}
	text := strings.ReplaceAll(source(t, "abi", "SPEC.md"), ",", "")
	for _, name := range pkg.Scope().Names() {
		value := pkg.Scope().Lookup(name).(*types.Const).Val()
		if strings.HasSuffix(name, "Nanos") {
			value = constant.BinaryOp(value, token.QUO_ASSIGN, constant.MakeInt64(1_000_000_000))
		}
		if row := regexp.MustCompile(`(?m)^- ` + value.ExactString() + " [a-z]+ \\(`" + name + "`\\): "); !row.MatchString(text) {
			t.Errorf("SPEC.md has no limit %s of %s", name, value)
		}
	}
}

// The manifest of the module in bytes is canonical. Packages host/conformance and host/internal/sandbox show that it is a module.
func TestSpecExamples(t *testing.T) {
	t.Parallel()
	_, example, _ := strings.Cut(source(t, "abi", "SPEC.md"), "<!-- begin module -->\n```text\n")
	example, _, _ = strings.Cut(example, "```")
	var digits strings.Builder
	for line := range strings.Lines(example) {
		line, _, _ = strings.Cut(line, ";")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	module, err := hex.DecodeString(digits.String())
	_, manifest, found := strings.Cut(string(module), abi.ManifestSection)
	kind, _ := codec.Lookup("manifest")
	again, invalid := kind.Canonical([]byte(manifest), 0)
	if !found || err != nil || invalid != nil || string(again) != manifest {
		t.Errorf("%v %v", err, invalid)
	}
}
