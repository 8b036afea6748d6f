package source

import (
	"path"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// plainTest is a test file of a language whose imports are not followed. What it reaches is told by where files stand,
// what they are called, and what its own lines import.
type plainTest struct {
	folder   string // without the folders that part tests from the product
	stem     string // without what makes it a test's name
	imported map[string]bool
}

// plainTests are the tests that no Go package has.
func (t *Tree) plainTests(tests failing) []plainTest {
	var list []plainTest
	for _, file := range tests.files {
		if t.goModules().isPackage(path.Dir(file)) && path.Ext(file) == ".go" {
			continue
		}
		p := plainTest{folder: bareFolder(file), stem: bareStem(file), imported: map[string]bool{}}
		if data, err := t.read(file); err == nil {
			for _, line := range splitLines(string(data)) {
				if imports(line) {
					for _, w := range word.FindAllString(line, -1) {
						p.imported[strings.ToLower(w)] = true
					}
				}
			}
		}
		list = append(list, p)
	}
	return list
}

func (p *plainTest) reach(c *Change) abi.SourceReach {
	stem := bareStem(c.Path)
	switch {
	case bareFolder(c.Path) == p.folder, stem == p.stem:
		return abi.ReachPackage
	case c.Role == abi.SourceProduct && p.imported[stem]:
		return abi.ReachImported
	}
	return abi.ReachUnknown
}

// imports says whether a line imports something, in the words of many languages.
func imports(line string) bool {
	line = strings.TrimLeft(line, " \t")
	for _, start := range []string{"import ", "from ", "use ", "using ", "include ", "#include", "alias ", "require"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return strings.Contains(line, "require(")
}

// bareFolder leaves out of a folder what only says whether tests or the product stand there, as src/test/java and
// src/main/java.
func bareFolder(file string) string {
	var kept []string
	for folder := range strings.SplitSeq(strings.ToLower(path.Dir(file)), "/") {
		if !slices.Contains([]string{"src", "main", "test", "tests", "__tests__", "spec", "specs", "lib", "."}, folder) {
			kept = append(kept, folder)
		}
	}
	return strings.Join(kept, "/")
}

// bareStem is the name of a file without its extension and what makes it a test's.
func bareStem(file string) string {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	stem = strings.TrimSuffix(strings.TrimPrefix(stem, "test_"), "_test")
	for _, suffix := range []string{"_spec", "-test", "-spec", "TestCase", "Tests", "Test", "Spec", "IT"} {
		if bare, ok := strings.CutSuffix(stem, suffix); ok && bare != "" {
			stem = bare
			break
		}
	}
	return strings.ToLower(stem)
}
