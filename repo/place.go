package repo

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// Failing is a failing test as a report tells of it.
type Failing struct {
	Group string // its package, class or file
	Test  string // its name in it
	File  string // that the report names; empty for none
	// Texts are what the failure says, that which tells most first: the message, then documents.
	Texts []string
}

// spot is a line of a file; 0 is the file without a line.
type spot struct {
	file string
	line int
}

// PlaceOf finds where a test failed: in the first text that points to tests the first line of the test's own file, else of another test file. Where
// none does it is the test's definition, else its file without a line (0), else the first line of another file of the tree. The path is
// slash-separated, within the folder; it is empty where nothing is found.
func (t *Source) PlaceOf(f Failing) (file string, line int) {
	dir, isGo := t.packageDir(f.Group)
	definition := t.defined(f, dir)
	named := ""
	if f.File != "" {
		named = t.resolve(f.File, f.Group)
	}
	if named == "" {
		named = t.fileOf(f.Group)
	}
	own := named
	if own == "" {
		own = definition.file
	}
	if !isGo && own != "" {
		dir = path.Dir(own) // frames of Java have a file's name alone
	}
	var other spot
	for _, text := range f.Texts {
		var tests spot
		for _, at := range t.spots(f.Group, text, dir) {
			switch isTest := sourcefile.KindOf(at.file) == abi.SourceTest; {
			case at.file == own || isTest && ofGroup(f.Group, at.file):
				return at.file, at.line
			case isTest && tests.file == "":
				tests = at
			case other.file == "":
				other = at
			}
		}
		if tests.file != "" {
			return tests.file, tests.line
		}
	}
	for _, at := range []spot{definition, {named, 0}} {
		if at.file != "" {
			return at.file, at.line
		}
	}
	return other.file, other.line
}

// ofGroup says whether a class or a module of a group has the name of a file.
func ofGroup(group, file string) bool {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	return slices.Contains(strings.FieldsFunc(group, func(r rune) bool { return strings.ContainsRune(`./\$+:> `, r) }), stem)
}

// worded names a place as bats, PHP and Perl do.
var worded = regexp.MustCompile(`\b(?:file|at|in) (\S+?),? (?:on )?line (\d{1,9})\b`)

// spots are the places of a text that are in the tree, in their order. A file that is named without a folder is that of dir, if there is such a one.
func (t *Source) spots(group, text, dir string) (list []spot) {
	text = worded.ReplaceAllString(colour.ReplaceAllString(text, ""), "$1:$2")
	found := 0
	for p := range sourcefile.Places(text) {
		if found++; found > maxPlaces || len(list) == maxFrames {
			break
		}
		file := path.Join(dir, p.Path)
		if dir == "" || strings.Contains(p.Path, "/") || !t.known[file] {
			file = t.resolve(p.Path, group+"\n"+text)
		}
		if file != "" && p.Line <= t.parse(file).lines { // else it is another version of the file
			list = append(list, spot{file, p.Line})
		}
	}
	return list
}

// defined is the place where the test is defined.
func (t *Source) defined(f Failing, dir string) spot {
	name, _, _ := strings.Cut(f.Test, "/") // the test of a subtest
	name, _, _ = strings.Cut(name, "[")    // the function of a row
	name = name[strings.LastIndexAny(name, ".:")+1:]
	file := ""
	for _, candidate := range t.testIndex()[name] {
		if dir != "" && path.Dir(candidate) == dir {
			file = candidate
		}
	}
	if file == "" && dir == "" {
		file = t.definitionOf(name, f.Group+"\n"+strings.ReplaceAll(f.Group, ".", "/"))
	}
	if file == "" {
		return spot{}
	}
	for _, fn := range t.parse(file).functions {
		if fn.name == name {
			return spot{file, fn.first}
		}
	}
	return spot{file, 0}
}

// fileOf is the file that a group names: by its path, or by dots, as Python and Java have it.
func (t *Source) fileOf(group string) string {
	for _, name := range []string{group, strings.ReplaceAll(group, ".", "/")} {
		for at := name; at != ""; {
			if sourcefile.KindOf(at) == abi.SourceTest {
				if file := t.resolve(at, group); file != "" {
					return file
				}
			}
			for _, extension := range []string{".py", ".java", ".kt", ".rb", ".ts", ".js"} {
				if file := t.resolve(at+extension, group); file != "" && sourcefile.KindOf(file) == abi.SourceTest {
					return file
				}
			}
			i := strings.LastIndexAny(at, "/$") // a class within the file
			if i < 0 || at == group {
				break
			}
			at = at[:i]
		}
	}
	return ""
}

// goModule is a Go module of a tree.
type goModule struct{ dir, path string }

// listModules lists the Go modules, the deepest folders first.
func (t *Source) listModules() []goModule {
	var modules []goModule
	for _, name := range t.byBase["go.mod"] {
		if text, err := t.read(name); err == nil && sourcefile.KindOf(name) == abi.SourceOther {
			if found := moduleLine.FindSubmatch(text); found != nil {
				modules = append(modules, goModule{path.Dir(name), string(found[1])})
			}
		}
	}
	depth := func(m goModule) int { return strings.Count(path.Join("/", m.dir)+"/", "/") }
	slices.SortStableFunc(modules, func(a, b goModule) int { return depth(b) - depth(a) })
	return modules
}

// packageDir is the folder of a Go package by its import path; not ok for what is none of the tree's.
func (t *Source) packageDir(importPath string) (dir string, ok bool) {
	for _, m := range t.goModules() {
		rest, within := strings.CutPrefix(importPath, m.path)
		if !within || rest != "" && rest[0] != '/' {
			continue
		}
		dir := path.Join(m.dir, rest)
		owner := slices.IndexFunc(t.goModules(), func(o goModule) bool { return o.dir == "." || dir == o.dir || strings.HasPrefix(dir, o.dir+"/") })
		if owner >= 0 && t.goModules()[owner].path == m.path {
			return dir, true
		}
	}
	return "", false
}
