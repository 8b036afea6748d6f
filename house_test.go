package shadowcourt

import (
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/shadowcourt/shadowcourt"

// law says what the files below a folder may import of this repository. The first folder that fits a file decides.
var law = []struct {
	folder  string
	imports []string // folders with all below them
}{
	{"abi", []string{"abi"}},
	{"sdk", nil},
	{"examples", []string{"abi"}},
	{"plugins", []string{"abi", "plugins"}},
	{"pipelines", nil},
	{"host", []string{"abi", "host", "pipelines"}},
	{"cmd", []string{".", "abi", "cmd", "host", "pipelines"}},
	{"tools", []string{"abi", "host", "pipelines", "tools"}},
}

// Test kits, and what is only for tests by its nature, are imported by tests and by other test kits alone.
func isTestkit(folder string) bool {
	return slices.Contains(strings.Split(folder, "/"), "testkit")
}

func below(folder, top string) bool {
	return folder == top || strings.HasPrefix(folder, top+"/")
}

// fault says what is wrong with an import of a file that is no test; empty: nothing.
func fault(folder, imported string) string {
	switch {
	case isTestkit(folder):
		return ""
	case isTestkit(imported):
		return "a test kit"
	case below(imported, "lab"):
		return "the laboratory"
	}
	for _, rule := range law {
		if !below(folder, rule.folder) {
			continue
		}
		if slices.ContainsFunc(rule.imports, func(top string) bool { return below(imported, top) }) {
			return ""
		}
		return "not for " + rule.folder
	}
	return ""
}

func TestAccept_HS1_FoldersSayWhoImportsWhom(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if slices.Contains([]string{".git", "out", "bin", "lab", "testdata"}, e.Name()) {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
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
			if why := fault(folder, to); why != "" {
				t.Errorf("%s imports %s: %s", file, to, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 500 {
		t.Errorf("%d files were looked at", seen)
	}
}
