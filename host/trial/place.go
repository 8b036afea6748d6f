package trial

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// Place is the file and the line where the test failed, as far as what was reported says it: a line of the test's own file where one is
// named, else of another test file, else the first one that is not of an installed package. The path is the report's: relative to the
// package for a test of Go, absolute or relative to the tests' root elsewhere, and for Java made of the package and the file's name. The
// caller finds it in the tree. A report that names the file and no line gives line 0; the path is empty where none is named.
func (t *Trial) Place() (file string, line int) {
	index, from, text := t.failure()
	f := finder{group: t.Case.Group, own: t.reportedFile()}
	if lines := linesOf(text); len(lines) > 0 {
		if m := goPlaced.FindStringSubmatch(lines[0]); m != nil { // a test of Go says it in its message
			f.look(lines[0])
			return f.file, f.line
		}
	}
	if index >= 0 {
		f.scan(text)
		if f.rank < ownFile && from > 0 {
			f.scan(t.Case.Documents[index].Text)
		}
	}
	for i := range t.Case.Documents {
		if f.rank == 0 && i != index && reportedDocument.MatchString(t.Case.Documents[i].Name) {
			f.scan(t.Case.Documents[i].Text)
		}
	}
	for i := range t.Case.Evidence {
		if f.rank == 0 && len(t.Case.Documents) == 0 {
			f.scan(t.Case.Evidence[i].Content)
		}
	}
	if f.file != "" {
		return f.file, f.line
	}
	if p, ok := sourcefile.Find(f.group + ":1"); ok && p.Path == f.group && f.own == "" { // groups that are files
		return f.group, 0
	}
	return f.own, 0
}

// What a place tells.
const (
	otherFile = iota + 1
	testFile
	ownFile // of the test
)

// finder looks for the best place in a text.
type finder struct {
	group, own string

	file       string
	line, rank int
}

func (f *finder) scan(text string) {
	for _, line := range linesOf(text) {
		if f.rank == ownFile {
			return
		}
		f.look(line)
	}
}

// look takes the place of a line if it tells more than that of an earlier line.
func (f *finder) look(line string) {
	file, number := placeOf(line)
	if file == "" || sourcefile.Foreign(file) {
		return
	}
	if rank := f.rankOf(file); rank > f.rank {
		f.file, f.line, f.rank = file, number, rank
	}
}

func (f *finder) rankOf(file string) int {
	switch {
	case f.isOwn(file):
		return ownFile
	case sourcefile.IsTest(file):
		return testFile
	}
	return otherFile
}

// isOwn says whether a file is that of the test: the report names it, or the group does, as a path or by a class or a module with the
// file's name.
func (f *finder) isOwn(file string) bool {
	if sourcefile.Same(file, f.own) || sourcefile.Same(file, f.group) {
		return true
	}
	stem, extension, _ := strings.Cut(file[strings.LastIndexAny(file, `/\`)+1:], ".")
	switch extension {
	case "py", "java", "kt", "scala", "groovy", "cs", "php", "swift": // where groups are classes and modules
	default:
		return false
	}
	for name := range strings.FieldsFuncSeq(f.group, func(r rune) bool { return strings.ContainsRune(`./\$+:> `, r) }) {
		if name == stem {
			return true
		}
	}
	return false
}

// TestDocument is the document in which the readers of reports tell of a test: its file on the first line, behind [FilePrefix].
const (
	TestDocument = "testcase"
	FilePrefix   = "file="
)

// reportedFile is the file that the report names for the test, or empty.
func (t *Trial) reportedFile() string {
	for i := range t.Case.Documents {
		if d := &t.Case.Documents[i]; d.Name == TestDocument {
			first, _, _ := strings.Cut(d.Text, "\n")
			if file, ok := strings.CutPrefix(first, FilePrefix); ok {
				return file
			}
		}
	}
	return ""
}

var (
	// javaFrame is a frame of Java, with the module, the class and the function.
	javaFrame = regexp.MustCompile(`^\s*at (?:[\w.@-]*/)*([\w$.]+)\.[\w$<>]+\(([\w$]+\.(?:java|kt|scala|groovy)):(\d+)\)`)
	// javaLibrary are the packages of Java and its test frameworks.
	javaLibrary = regexp.MustCompile(`^(?:java|javax|jdk|sun|kotlin|scala|groovy|junit|org\.(?:junit|opentest4j|assertj|hamcrest|testng|mockito))\.`)
	// fileLine names a place as bats, PHP and Perl do.
	fileLine = regexp.MustCompile(`\b(?:file|at|in) (\S+?),? (?:on )?line (\d{1,9})\b`)
)

// placeOf is the first place in a line.
func placeOf(line string) (file string, number int) {
	if m := javaFrame.FindStringSubmatch(line); m != nil {
		if javaLibrary.MatchString(m[1]) {
			return "", 0
		}
		number, _ = strconv.Atoi(m[3])
		if i := strings.LastIndexByte(m[1], '.'); i >= 0 && strings.HasSuffix(m[2], ".java") {
			return strings.ReplaceAll(m[1][:i], ".", "/") + "/" + m[2], number
		}
		return m[2], number
	}
	if p, ok := sourcefile.Find(line); ok {
		file = p.Path
		if strings.HasPrefix(file, "//") { // of a URL
			file = "/" + strings.TrimLeft(file, "/")
		}
		return file, p.Line
	}
	if m := fileLine.FindStringSubmatch(line); m != nil {
		number, _ = strconv.Atoi(m[2])
		return m[1], number
	}
	return "", 0
}
