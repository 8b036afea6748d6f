package experiment

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/repo"
)

// projectTest is the failing test of a case, for one runner.
type projectTest struct {
	test    junit.Test
	project string // folder of the project in every tree
	// found says that the test's file is in the tree, so that hardly another runner is meant.
	found bool
	also  string // a project within it that has such a file, too

	selection *selection
	command   string
	whole     *Whole   // how the tests around it run; nil where its selection says that
	names     []string // by which a report may call the test, in the form of selection.Report
	values    map[string][]string
	rows      *regexp.Regexp // of the names of all rows of the test, nil where they are not known
}

// withRows is the target with the function of a parametrized test and an expression for the names of its rows.
func (t *projectTest) withRows(function string, names *regexp.Regexp) *projectTest {
	with := *t
	with.values = maps.Clone(t.values)
	with.values["function"], with.values["rows"] = []string{function}, []string{names.String()}
	with.rows = names
	return &with
}

// cutName ends a name that the reader of the report has cut.
const cutName = "…"

func (r *defined) find(c *abi.Case) (*failure, error) {
	t, err := r.testOf(c)
	if err != nil {
		return nil, err
	}
	return &failure{name: t.test.Name, group: t.test.Class, unit: t.unit(), elapsed: t.test.Elapsed, certain: t.found, project: t, also: t.also}, r.problem
}

// testOf finds the failing test of a case. Its error is errNoTest, or says why the runner can't run the test.
func (r *defined) testOf(c *abi.Case) (*projectTest, error) {
	test, ok := junit.Named(c)
	if !ok {
		return nil, errNoTest
	}
	if strings.HasSuffix(test.Name, cutName) || strings.HasSuffix(test.Class, cutName) {
		return nil, fmt.Errorf("%s: the name of the test is too long: %.80q", r, test.Name)
	}
	reason := errNoTest
	for i := range r.definition.Tests {
		t, err := r.selectBy(&r.definition.Tests[i], test, c.Documents)
		if err == nil {
			return t, nil
		}
		if errors.Is(reason, errNoTest) {
			reason = err
		}
	}
	return nil, reason
}

// selectBy finds the test by one way of selection.
func (r *defined) selectBy(s *selection, test junit.Test, documents []abi.Document) (*projectTest, error) {
	values, ok := s.match(test)
	if !ok {
		return nil, errNoTest
	}
	t := &projectTest{test: test, selection: s, values: values, whole: r.whole}
	if err := r.place(s, t, documents); err != nil {
		return nil, err
	}
	for _, name := range s.Names {
		full, err := expandOne(name, values)
		if full = strings.TrimSpace(full); err == nil && full != "" && !slices.Contains(t.names, full) {
			t.names = append(t.names, full)
		}
	}
	values["names"] = t.names
	for _, f := range r.definition.Folders {
		values[f.Variable] = []string{f.path()}
	}
	var err error
	if t.command, err = r.program(t.project); err != nil {
		return nil, err
	}
	values["program"] = []string{t.command}
	for _, order := range []bool{false, true} { // a test that can't be an argument is rejected at once
		if _, err := t.args(order, "report", "scratch"); err != nil {
			return nil, fmt.Errorf("%s can't be told to run the test %.80q: %w", r, test.Name, err)
		}
	}
	return t, nil
}

// path is the test's file in every tree, as far as it is known.
func (t *projectTest) path() string {
	if !t.found {
		return ""
	}
	return path.Join(t.project, t.values["file"][0])
}

// unit names what is built to run the test.
func (t *projectTest) unit() string {
	unit := []string{t.project}
	values := maps.Clone(t.values)
	values["scratch"] = []string{""}
	for _, command := range t.selection.Build {
		args, _ := expand(command, values) // Build says what is wrong
		unit = append(unit, args...)
	}
	return strings.Join(unit, " ")
}

// args are the arguments of a run, which writes its report and other files to the scratch folder.
func (t *projectTest) args(order bool, report, scratch string) ([]string, error) {
	templates := t.selection.Alone
	if order {
		templates = t.selection.Order
	}
	switch {
	case order && t.whole != nil:
		templates = slices.DeleteFunc(slices.Clone(templates), func(arg string) bool { return arg == byPath || ofFolder(arg) || strings.Contains(arg, "{file}") })
	case t.all():
		templates = slices.DeleteFunc(slices.Clone(templates), ofFolder)
	}
	return t.expand(templates, report, scratch)
}

func (t *projectTest) expand(templates []string, report, scratch string) ([]string, error) {
	values := maps.Clone(t.values)
	values["report"], values["scratch"] = []string{report}, []string{scratch}
	return expand(templates, values)
}

// whole says whether a run is of a file, whatever its tests are.
func (s *selection) whole() bool {
	file := false
	for _, arg := range s.Alone {
		for _, found := range placeholder.FindAllStringSubmatch(arg, -1) {
			if file = file || found[1] == "file"; found[1] != "file" && found[1] != "report" && found[1] != "scratch" {
				return false
			}
		}
	}
	return file
}

// match gives the values of the placeholders that come from the test's name alone.
func (s *selection) match(test junit.Test) (map[string][]string, bool) {
	values := map[string][]string{"class": {test.Class}, "name": {test.Name}, "rest": {""}}
	if test.File != "" {
		values["file"] = []string{test.File}
	}
	for _, m := range []struct {
		pattern pattern
		text    string
	}{{s.Class, test.Class}, {s.Name, test.Name}} {
		if m.pattern.Regexp == nil {
			continue
		}
		groups := m.pattern.FindStringSubmatch(m.text)
		if groups == nil {
			return nil, false
		}
		for i, name := range m.pattern.SubexpNames() {
			if name != "" {
				values[name] = []string{groups[i]}
			}
		}
	}
	return values, true
}

// place finds the project of a test, and its file where the selection has one.
func (r *defined) place(s *selection, t *projectTest, documents []abi.Document) error {
	if s.File == nil {
		inner := slices.DeleteFunc(slices.Clone(r.projects), func(p string) bool { return !below(r.source.Dir, p) })
		if len(inner) == 0 {
			inner = r.projects[len(r.projects)-1:] // the innermost around the source
		}
		outermost := slices.DeleteFunc(slices.Clone(inner), func(p string) bool {
			return slices.ContainsFunc(inner, func(other string) bool { return other != p && below(other, p) })
		})
		if len(outermost) > 1 {
			return r.ambiguous(outermost)
		}
		t.project = outermost[0]
		return nil
	}
	names := s.File.namesOf(t.values, documents)
	var found []testPlace
	for _, project := range r.candidates() {
		p, ok := r.locate(s.File, names, project)
		outer := slices.IndexFunc(found, func(other testPlace) bool { return below(other.project, project) })
		switch {
		case ok && outer < 0:
			found = append(found, p)
		case ok && path.Join(p.project, p.file) != path.Join(found[outer].project, found[outer].file):
			t.also = project
		}
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("%s finds no file of the test %.80q in the source", r, t.test.Class+" "+t.test.Name)
	case 1:
	default:
		var projects []string
		for _, p := range found {
			projects = append(projects, p.project)
		}
		return r.ambiguous(projects)
	}
	p := found[0]
	t.project, t.found = p.project, true
	t.values["file"], t.values["rest"] = []string{p.file}, []string{p.rest}
	t.values["folder"], t.values["module"] = []string{path.Dir(p.file)}, []string{r.module(p)}
	if slices.ContainsFunc(s.Order, ofFolder) {
		t.values["folder"] = []string{r.around(p)}
	}
	return nil
}

// byPath has jest take the arguments behind it for paths.
const byPath = "--runTestsByPath"

func ofFolder(arg string) bool { return strings.Contains(arg, "{folder}") }

// mostAround is how many test files run together with a failing test.
const mostAround = 30

// around is the outermost folder around the file of a test, below the top of its project, that has at most as many test files as run together: what a
// test needs may be set up in another one. It is empty for the whole project, whose settings say which tests those are.
func (r *defined) around(p testPlace) string {
	tests := r.testFiles()
	if tests[p.project] <= mostAround {
		return ""
	}
	folder := path.Dir(p.file)
	for outer := path.Dir(folder); outer != "." && tests[path.Join(p.project, outer)] <= mostAround; outer = path.Dir(outer) {
		folder = outer
	}
	return folder
}

// testFilesIn counts the test files of a tree in each folder, those of folders within it, too.
func testFilesIn(t *repo.Tree) map[string]int {
	counts := map[string]int{}
	for _, file := range t.Paths() {
		if sourcefile.KindOf(file) != abi.SourceTest {
			continue
		}
		for in := file; in != "."; {
			in = path.Dir(in)
			counts[in]++
		}
	}
	return counts
}

func (r *defined) ambiguous(projects []string) error {
	return fmt.Errorf("%s: the test may be of the projects %s: name the folder of one with --source", r, strings.Join(projects, " and "))
}

// testPlace is where a test is.
type testPlace struct {
	project    string // folder
	file, rest string // the file relative to it, and what of the name lies within the file
}

// candidates are the folders that may be a project of the test, outermost first.
func (r *defined) candidates() []string {
	all := slices.Clone(r.projects)
	if !slices.Contains(all, r.source.Dir) {
		all = append(all, r.source.Dir)
	}
	slices.SortStableFunc(all, func(a, b string) int { return depth(a) - depth(b) })
	return all
}

// locate finds the file of a test in one project.
func (r *defined) locate(f *fileRule, names []string, project string) (testPlace, bool) {
	for _, name := range names {
		if file, rest, ok := r.fileOf(f, name, project); ok {
			return testPlace{project, file, rest}, true
		}
	}
	return testPlace{}, false
}

// namesOf are the names from which the file of a test may be told: those that are given, and the outermost of the stack frames in the
// documents, in which the test stands.
func (f *fileRule) namesOf(values map[string][]string, documents []abi.Document) []string {
	var names []string
	for _, from := range f.From {
		if name, err := expandOne(from, values); err == nil && name != "" && len(name) <= maxValueBytes {
			names = append(names, name)
		}
	}
	for _, p := range f.Frames {
		for i := range documents {
			if all := p.FindAllStringSubmatch(documents[i].Text, maxFrames); len(all) > 0 && len(all[len(all)-1]) > 1 {
				names = append(names, all[len(all)-1][1])
			}
		}
	}
	return names
}

// maxFrames of a document are looked at.
const maxFrames = 1000

// fileOf finds the longest beginning of a name that is a file. A path may begin with folders of another machine.
func (r *defined) fileOf(f *fileRule, text, project string) (file, rest string, ok bool) {
	if f.Separator == "" {
		for name := path.Clean(strings.ReplaceAll(text, `\`, "/")); ; {
			if r.has(path.Join(project, name)) && !strings.HasPrefix(name, "../") && !path.IsAbs(name) {
				return name, "", true
			}
			_, after, more := strings.Cut(name, "/")
			if !more {
				return "", "", false
			}
			name = after
		}
	}
	parts := strings.Split(text, f.Separator)
	if slices.ContainsFunc(parts, func(p string) bool { return p == "" || p == "." || p == ".." || strings.ContainsAny(p, `/\`) }) {
		return "", "", false
	}
	for n := len(parts); n > 0; n-- {
		for _, extension := range f.Extensions {
			if file, ok := r.lookUp(project, strings.Join(parts[:n], "/")+extension, f.Anywhere); ok {
				return file, strings.Join(append([]string{""}, parts[n:]...), f.Join), true
			}
		}
	}
	return "", "", false
}

// lookUp finds a file of a project, or the only one anywhere in it whose path ends so.
func (r *defined) lookUp(project, name string, anywhere bool) (string, bool) {
	if r.has(path.Join(project, name)) {
		return name, true
	}
	found := ""
	if anywhere {
		for _, file := range r.source.Head.Paths() {
			if !strings.HasSuffix(file, "/"+name) || !below(project, file) {
				continue
			}
			if found != "" {
				return "", false
			}
			found = strings.TrimPrefix(file, project+"/")
		}
	}
	return found, found != ""
}

func (r *defined) has(file string) bool {
	f, ok := r.source.Head.File(file)
	return ok && f.Mode != repo.Symlink
}

// module is the innermost folder with a marker around the file of a test, relative to its project.
func (r *defined) module(p testPlace) string {
	innermost := p.project
	for _, project := range r.projects {
		if below(project, path.Join(p.project, p.file)) && depth(project) > depth(innermost) {
			innermost = project
		}
	}
	if innermost == p.project {
		return "."
	}
	if p.project == "." {
		return innermost
	}
	return strings.TrimPrefix(innermost, p.project+"/")
}
