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
	const most = 12_000
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

// The table of limits has each constant of limits.go with its value, times in seconds.
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
		if row := regexp.MustCompile(`\| ` + value.ExactString() + " [a-z]+ \\| `" + name + "` \\|"); !row.MatchString(text) {
			t.Errorf("SPEC.md has no limit %s of %s", name, value)
		}
	}
}

// The examples in bytes are canonical messages of their types. Package host/conformance shows that the module is one.
func TestSpecExamples(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]string{"manifest": {"manifest"}, "evidence": {"evidence"}, "node": {"node_response"}, "edges": {"edge_request", "edge_response"}} {
		_, example, _ := strings.Cut(source(t, "abi", "SPEC.md"), "<!-- begin "+name+" -->")
		example, _, _ = strings.Cut(example, "<!-- end")
		for i, typ := range list {
			var digits strings.Builder
			for line := range strings.Lines(strings.Split(example, "```")[1+2*i]) {
				line, _, _ = strings.Cut(strings.TrimPrefix(line, "text"), ";")
				digits.WriteString(strings.Join(strings.Fields(line), ""))
			}
			message, err := hex.DecodeString(digits.String())
			if _, payload, section := strings.Cut(string(message), abi.ManifestSection); section {
				message = []byte(payload)
			}
			kind, _ := codec.Lookup(typ)
			again, invalid := kind.Canonical(message, 0)
			if err != nil || invalid != nil || string(again) != string(message) {
				t.Errorf("%s: %v %v", typ, err, invalid)
			}
		}
	}
}
