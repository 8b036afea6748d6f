package shadowcourt

import (
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const modulePath = "github.com/shadowcourt/shadowcourt"

// Packages that know nothing of courts, cases or artifacts.
const utilities = "internal/disk internal/httplimit internal/sanitize"

// law says what a folder may import of this repository; "..." is all below, too. The first row that names the folder decides.
var law = []struct{ folder, imports string }{
	{"abi", ""},
	{"abi/codec", "abi"},
	{"abi/odds", "abi"},
	{"abi/prompt", "abi"},
	{"abi/sourcefile", "abi"},
	{"abi/guest/...", "abi abi/codec abi/guest/..."},
	{"abi/abitest", "abi/... internal/quotes"},
	{"abi/...", "abi/..."},
	{"examples/...", "abi/..."},
	{"pipelines", ""},
	{"plugins/...", "abi abi/guest/... abi/odds/... abi/prompt abi/sourcefile plugins/internal/..."},

	// What users of the library plug in knows the contract alone.
	{"host/trial", "abi abi/sourcefile internal/sanitize"},
	{"host/pipeline/...", "abi abi/prompt host/pipeline/... internal/moduleref internal/strictyaml"},
	{"host/docket/...", "abi abi/sourcefile host/docket/... host/trial internal/sanitize"},
	{"host/record", "abi abi/codec " + utilities},
	{"repo/...", "abi abi/sourcefile repo/..."},
	{"host/casebook", "abi internal/disk"},
	{"host/audit", "abi host/pipeline internal/strictyaml"},
	{"host/rules", "abi host/pipeline internal/strictyaml pipelines"},
	{"host/model", "abi host/trial internal/strictyaml " + utilities},
	{"host/experiment/...", "abi abi/codec abi/odds abi/sourcefile host/casebook host/docket/... host/experiment/... internal/strictyaml repo/... " + utilities},

	// The engine: state and traversal know no court, the registry of modules knows no trial, the sandbox knows no court.
	{"host/internal/court/state", "abi abi/codec"},
	{"host/internal/court/traverse", "host/pipeline"},
	{"host/internal/court/registry", "abi abi/codec host/internal/sandbox"},
	{"host/internal/court", "abi abi/codec abi/odds host/audit host/bundle host/docket/... host/experiment/plan host/internal/court/... host/internal/sandbox host/moduledir host/pipeline host/record host/rules host/trial internal/quotes pipelines"},
	{"host/internal/sandbox/...", "abi abi/codec host/internal/sandbox/... " + utilities},
	{"host/...", "abi/... host/... pipelines repo internal/quotes internal/strictyaml " + utilities},

	// What only the command uses.
	{"internal/disk", ""},
	{"internal/strictyaml", "abi abi/codec"},
	{"internal/httplimit", ""},
	{"internal/sanitize", ""},
	{"internal/moduleref", "internal/sanitize"},
	{"internal/oci", "abi internal/moduleref " + utilities},
	{"internal/quarantine", "abi host/alibi host/docket/junit host/trial internal/answers internal/strictyaml"},
	{"internal/quotes", "abi"},
	{"internal/answers", "host/alibi host/casebook internal/sanitize"},
	{"internal/publish/...", "abi host/alibi host/trial internal/answers internal/httplimit internal/render internal/sanitize"},
	{"internal/render/...", "abi host/alibi host/trial internal/answers internal/render/... internal/sanitize"},
	{"internal/measure", "abi abi/odds host/docket host/trial internal/render"},
	{"internal/service/auth", "internal/httplimit internal/service/store internal/service/wire"},
	{"internal/service/wire", "abi abi/codec host/alibi host/docket host/trial internal/disk internal/run internal/sanitize"},
	{"internal/service/store", "abi abi/codec host/alibi host/casebook host/docket host/trial internal/disk internal/run"},
	{"internal/trust", "abi abi/abitest host/module host/pipeline host/record internal/moduleref internal/oci internal/sanitize internal/strictyaml"},
	{"internal/...", "abi/... host/... internal/... pipelines repo"},

	// Commands share cli and open, and know nothing of each other.
	{"cmd/shadowcourt/internal/...", ". abi/... host/... internal/... pipelines repo cmd/shadowcourt/internal/cli cmd/shadowcourt/internal/open"},
	{"cmd/...", ". abi/... cmd/... host/... internal/... pipelines repo"},
	{"tools/...", "abi/... host/... internal/... pipelines tools/..."},
	{".", ""},
}

// within says whether a folder is one of the patterns, which blanks part.
func within(folder, patterns string) bool {
	for pattern := range strings.FieldsSeq(patterns) {
		top, tree := strings.CutSuffix(pattern, "/...")
		if folder == top || tree && strings.HasPrefix(folder, top+"/") {
			return true
		}
	}
	return false
}

func isTestkit(folder string) bool { return slices.Contains(strings.Split(folder, "/"), "testkit") }

// fault says what is wrong with an import by a file that is no test; empty: nothing.
func fault(folder, imported string) string {
	switch {
	case isTestkit(folder): // for tests, which may import what they test
		return ""
	case isTestkit(imported):
		return "test kits are for tests"
	case within(imported, "lab/... host/lab/..."):
		return "nothing that ships knows the laboratory"
	}
	for _, rule := range law {
		if within(folder, rule.folder) {
			if within(imported, rule.imports) {
				return ""
			}
			return rule.folder + " may import " + cmp.Or(rule.imports, "nothing of this repository")
		}
	}
	return "no row of the law names the folder"
}

func TestAccept_HX1_FoldersSayWhoImportsWhom(t *testing.T) {
	t.Parallel()
	for _, rule := range law {
		for pattern := range strings.FieldsSeq(rule.folder + " " + rule.imports) {
			folder := strings.TrimSuffix(strings.TrimSuffix(pattern, "..."), "/")
			must.Get(os.Stat(cmp.Or(folder, ".")))(t, "the law names a folder")
		}
	}
	seen := 0
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (slices.Contains([]string{"out", "bin", "lab"}, file) || e.Name() == "testdata" || file != "." && e.Name()[0] == '.'):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		seen++
		folder := path.Dir(filepath.ToSlash(file))
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			rest, ours := strings.CutPrefix(imported+"/", modulePath+"/")
			if !ours {
				continue
			}
			to := cmp.Or(strings.TrimSuffix(rest, "/"), ".")
			check.Equal(t, fault(folder, to), "", file, "imports", to)
		}
		return nil
	})
	must.Do(t, err)
	if seen < 500 {
		t.Errorf("%d files were looked at", seen)
	}
}

// once says which files alone may do what the repository does in one place.
var once = []struct {
	what    string
	pattern *regexp.Regexp
	files   string
}{
	// The linter only looks whether a file is a rubric.
	{"read YAML", regexp.MustCompile(`yaml\.(NewDecoder|Unmarshal)\(`), "internal/strictyaml/reader.go host/audit/validate.go"},
}

func TestAccept_HS3_OneOfEach(t *testing.T) {
	t.Parallel()
	for _, one := range once {
		for file := range strings.FieldsSeq(one.files) {
			if text, err := os.ReadFile(file); err != nil || !one.pattern.Match(text) {
				t.Errorf("%s does not %s any more: remove it from the list (%v)", file, one.what, err)
			}
		}
	}
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (slices.Contains([]string{"out", "bin", "lab"}, file) || file != "." && e.Name()[0] == '.'):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, one := range once {
			if one.pattern.Match(text) && !slices.Contains(strings.Fields(one.files), filepath.ToSlash(file)) {
				t.Errorf("%s: %s in one of %s", file, one.what, one.files)
			}
		}
		return nil
	})
	must.Do(t, err)
}
