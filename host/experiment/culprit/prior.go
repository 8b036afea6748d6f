package culprit

import (
	"path"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// The weights of a commit in the prior, by the file it touches that is nearest to the failing test. On the learning half of lab/histories
// the ratios are larger still, about 30 between the unit and other code; but tests there were written for what broke.
const (
	weightNamed        = 8 // by a frame of the failure, or as the test's file
	weightUnit         = 6 // in a folder of the code under test
	weightDependencies = 1
	weightProduct      = 1
	weightTests        = 0.25
	weightOther        = 0.1 // documents and the like
)

// Prior weighs the commits by what they touch: most where the failure's frames or the test's name point, less elsewhere. What a commit does to
// tests does not count where those of head are run.
func (l *Line) Prior(c *abi.Case) []float64 {
	touched := make([][]string, len(l.commits))
	for i := range l.commits {
		touched[i] = l.commits[i].Paths
		if l.config.HeadTests {
			touched[i] = slices.DeleteFunc(slices.Clone(touched[i]), sourcefile.IsTest)
		}
	}
	return Prior(c, l.files, touched)
}

// Prior weighs commits by the paths that each touches. files are the paths of the tree in which the test of the case failed, sorted.
func Prior(c *abi.Case, files []string, touched [][]string) []float64 {
	near := nearOf(c, files)
	weights := make([]float64, len(touched))
	for i, paths := range touched {
		weights[i] = weightOther
		for _, p := range paths {
			weights[i] = max(weights[i], near.weight(p))
		}
	}
	return weights
}

// near is what the failure of a case names.
type near struct {
	files map[string]bool
	units map[string]bool // the folders of the code under test
	stems map[string]bool // what the names of the test's files have in common with those of the code under test
}

const (
	maxPlaces   = 2000
	maxFound    = 200
	maxElements = 100
)

func nearOf(c *abi.Case, files []string) near {
	n := near{files: map[string]bool{}, stems: map[string]bool{}}
	test, _ := junit.Named(c)
	folders := foldersOf(files)
	n.units = unitsOf(test.Class, folders)
	byBase := map[string][]string{}
	for _, f := range files {
		byBase[path.Base(f)] = append(byBase[path.Base(f)], f)
	}
	places := 0
	name := func(p string) {
		p = path.Clean(strings.ReplaceAll(p, `\`, "/"))
		if places++; places > maxPlaces || len(n.files) >= maxFound || sourcefile.Installed(p) {
			return
		}
		if f := n.resolve(byBase[path.Base(p)], p); f != "" {
			n.files[f] = true
			if s := stem(f); s != "" && sourcefile.IsTest(f) {
				n.stems[s] = true
			}
			if len(n.units) == 0 && sourcefile.IsTest(f) {
				n.units[path.Dir(f)] = true
			}
		}
	}
	if test.File != "" {
		name(test.File)
	}
	for i := range c.Documents {
		for place := range sourcefile.Places(c.Documents[i].Text) {
			name(place.Path)
		}
	}
	if len(n.units) == 0 {
		n.units["."] = true
	}
	return n
}

// resolve finds the file that a failure names among those with the same base: the one in the unit under test, or the only one whose path
// may be meant.
func (n *near) resolve(files []string, name string) string {
	found := ""
	for _, f := range files {
		switch {
		case !sourcefile.Same(f, name):
		case n.units[path.Dir(f)]:
			return f
		case found != "":
			return ""
		default:
			found = f
		}
	}
	return found
}

func (n *near) weight(p string) float64 {
	switch kind := sourcefile.KindOf(p); {
	case n.files[p]:
		return weightNamed
	case sourcefile.IsDependencies(p):
		return weightDependencies
	case kind == abi.SourceOther:
		return weightOther
	case n.within(p, kind == abi.SourceFixture):
		return weightUnit
	case kind == abi.SourceProduct && n.stems[stem(p)]:
		return weightUnit
	case kind == abi.SourceProduct:
		return weightProduct
	}
	return weightTests
}

// stem is the name of a file without its endings and without what marks it as a test: cart of cart_test.go, test_cart.py, CartTest.java and
// cart.spec.ts.
func stem(p string) string {
	name, _, _ := strings.Cut(strings.ToLower(path.Base(p)), ".")
	for _, mark := range []string{"tests", "test", "specs", "spec"} {
		name = strings.Trim(strings.TrimSuffix(strings.TrimPrefix(name, mark+"_"), mark), "_-")
	}
	return name
}

// within says whether a file is in a unit under test, or for a fixture in a folder of one.
func (n *near) within(p string, fixture bool) bool {
	for d := path.Dir(p); ; d = path.Dir(d) {
		if n.units[d] {
			return true
		}
		if !fixture || d == "." || d == "/" {
			return false
		}
	}
}

// foldersOf are the folders of all files.
func foldersOf(files []string) map[string]bool {
	folders := map[string]bool{}
	for _, f := range files {
		for d := path.Dir(f); d != "." && d != "/" && !folders[d]; d = path.Dir(d) {
			folders[d] = true
		}
	}
	return folders
}

// unitsOf finds the folders that the class of a test names, be it a package of Go, or a class or module whose parts are separated by dots:
// those that end with the name or with the beginning of it, or else the one that is the longest end of it. Without any the set is empty.
func unitsOf(class string, folders map[string]bool) map[string]bool {
	names := []string{class}
	if !strings.Contains(class, "/") { // a package of Go is a folder itself, the root if there is no other
		name := strings.ReplaceAll(class, ".", "/")
		for names = nil; name != "." && name != "/" && name != "" && len(names) < maxElements; name = path.Dir(name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		units, longest := map[string]bool{}, ""
		for f := range folders {
			switch {
			case f == name || strings.HasSuffix(f, "/"+name):
				units[f] = true
			case strings.HasSuffix(name, "/"+f) && len(f) > len(longest):
				longest = f
			}
		}
		if len(units) == 0 && longest != "" {
			units[longest] = true
		}
		if len(units) > 0 {
			return units
		}
	}
	return map[string]bool{}
}
