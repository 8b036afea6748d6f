package quarantine

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/host/alibi"
)

// Form names a way to make a test runner leave tests out.
type Form struct {
	Name string
	// Use is a command line that obeys what is written.
	Use string
	// Limit says what the runner leaves out beside the tests that are named; empty for nothing.
	Limit string

	write func(tests []test) (string, []error)
}

// test is one in quarantine, its name apart from its package, class or file.
type test struct{ id, group, name string }

// Forms are all forms.
func Forms() []Form {
	const (
		everywhere = "the expression holds in every package that is run: a test of the same name elsewhere is left out, too; with --package PATH it is that of one package"
		everyFile  = "the expression holds in every file: a test with the same titles elsewhere is left out, too"
	)
	return []Form{
		{"gotest", `go test -skip "$(shadowcourt quarantine write --form gotest)" ./...`, everywhere, writeGo},
		{"pytest", `shadowcourt quarantine write --form pytest > .shadowcourt/quarantine_plugin.py; PYTHONPATH=.shadowcourt pytest -p quarantine_plugin`, "", writePytest},
		{"jest", `jest --testNamePattern "$(shadowcourt quarantine write --form jest)"`, everyFile + ", and Jest does not tell upper from lower case", writeJest},
		{"vitest", `vitest run --testNamePattern "$(shadowcourt quarantine write --form vitest)"`, everyFile, writeVitest},
		{"surefire", `shadowcourt quarantine write --form surefire > .shadowcourt/quarantine.txt; mvn test -Dsurefire.excludesFile="$PWD/.shadowcourt/quarantine.txt"`, "", writeSurefire},
		{"nextest", `cargo nextest run -E "$(shadowcourt quarantine write --form nextest)"`, "", writeNextest},
		{"ctest", `ctest --exclude-regex "$(shadowcourt quarantine write --form ctest)"`, "", writeCTest},
	}
}

// Written is a quarantine in the form of a runner.
type Written struct {
	Text string
	// Left are tests that the runner can't leave out without others; they are run.
	Left  []error
	Tests int
	// Packages are the packages, classes or files of all tests of the file, sorted.
	Packages []string
}

// Write writes the tests in quarantine in a form. only is the package of the tests that count, and may be empty for all. Expired entries are the
// caller's to reject.
func (f *Form) Write(file *File, only string) Written {
	var w Written
	var tests []test
	for i := range file.Tests {
		e := &file.Tests[i]
		t := test{id: e.Test, group: e.Group, name: alibi.NameOf(e.Test, e.Group)}
		if t.group == "" {
			t.group, t.name = split(f.Name, e.Test)
		}
		if t.group != "" {
			w.Packages = append(w.Packages, t.group)
		}
		if only != "" && t.group != only {
			continue
		}
		if err := plain(t); err != nil {
			w.Left = append(w.Left, err)
			continue
		}
		tests = append(tests, t)
	}
	slices.Sort(w.Packages)
	w.Packages = slices.Compact(w.Packages)
	text, left := f.write(tests)
	w.Text, w.Left, w.Tests = text, append(w.Left, left...), len(tests)-len(left)
	return w
}

// plain rejects a name that no report of a runner has, and that could end a line or an argument.
func plain(t test) error {
	if !utf8.ValidString(t.id) || strings.ContainsFunc(t.id, unicode.IsControl) || strings.ContainsAny(t.id, "\u2028\u2029") {
		return fmt.Errorf("%q is run: its name has characters that no runner takes", t.id)
	}
	return nil
}

func left(t test, why string) error { return fmt.Errorf("%s is run: %s", t.id, why) }

// goName begins the name of a function of a test in Go.
var goName = regexp.MustCompile(`\.((?:Test|Benchmark|Fuzz|Example)(?:$|[^\p{Ll}]))`)

// split parts an id where the file does not say what is the group.
func split(form, id string) (group, name string) {
	at := -1
	switch form {
	case "gotest":
		if m := goName.FindStringIndex(id); m != nil {
			at = m[0]
		}
	case "pytest", "surefire":
		base := id
		if i := strings.IndexAny(id, "[({"); i >= 0 {
			base = id[:i]
		}
		at = strings.LastIndexByte(base, '.')
	case "vitest":
		// A file such as src/cart.test.ts, and titles behind a dot.
		if m := scriptFile.FindStringIndex(id); m != nil && m[1] < len(id) && id[m[1]] == '.' {
			at = m[1]
		}
	case "nextest":
		at = strings.IndexByte(id, '.')
	}
	if at < 0 {
		return "", id
	}
	return id[:at], id[at+1:]
}

var scriptFile = regexp.MustCompile(`^[^>]*?\.[cm]?[jt]sx?\b`)

// nothing is an expression that no name matches.
const nothing = "^$"

// writeGo writes the value of -skip: one alternative for each test, one expression for each level of subtests.
func writeGo(tests []test) (string, []error) {
	var list []string
	var faults []error
	for _, t := range tests {
		if t.group == "" || t.name == "" || t.name == t.group {
			faults = append(faults, left(t, "it names a package, and no test"))
			continue
		}
		var levels []string
		for level := range strings.SplitSeq(t.name, "/") {
			levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
		}
		if one := strings.Join(levels, "/"); !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	if list == nil {
		return nothing + "\n", faults
	}
	return strings.Join(list, "|") + "\n", faults
}

// titles are all titles of a test, as Jest joins them: reports have them as the name, or parted into class and name. A group that is not in the id is
// that of the whole report.
func (t test) titles() string {
	switch {
	case t.group == "" || t.id == t.name || strings.HasPrefix(t.name, t.group+" ") || scriptFile.MatchString(t.group):
		return t.name
	default:
		return t.group + " " + t.name
	}
}

func writeJest(tests []test) (string, []error) {
	var list []string
	for _, t := range tests {
		list = append(list, regexp.QuoteMeta(t.titles()))
	}
	return "^(?!(?:" + strings.Join(list, "|") + ")$)\n", nil
}

// writeVitest expects the file as the group, and titles with > between them. Whether a title has a > of its own is not known.
func writeVitest(tests []test) (string, []error) {
	var list []string
	for _, t := range tests {
		list = append(list, strings.ReplaceAll(regexp.QuoteMeta(t.titles()), " > ", " (?:> )?"))
	}
	return `^(?!\s*(?:` + strings.Join(list, "|") + ")$)\n", nil
}

var (
	javaClass  = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)*$`)
	javaMethod = regexp.MustCompile(`^([\p{L}_$][\p{L}\p{N}_$]*)(?:\(\))?$`)
)

// writeSurefire writes lines of surefire.excludesFile: Class#method.
func writeSurefire(tests []test) (string, []error) {
	var b strings.Builder
	var faults []error
	for _, t := range tests {
		m := javaMethod.FindStringSubmatch(t.name)
		if m == nil || !javaClass.MatchString(t.group) {
			faults = append(faults, left(t, "Surefire leaves out methods of classes, and no single row or other name"))
			continue
		}
		fmt.Fprintf(&b, "%s#%s\n", t.group, m[1])
	}
	return b.String(), faults
}

// writeNextest writes a filterset.
func writeNextest(tests []test) (string, []error) {
	var list []string
	var faults []error
	for _, t := range tests {
		if t.group == "" || t.name == "" {
			faults = append(faults, left(t, "it does not tell the binary: set group in the file"))
			continue
		}
		list = append(list, "(binary_id(="+filterString(t.group)+") & test(="+filterString(t.name)+"))")
	}
	if list == nil {
		return "all()\n", faults
	}
	return "not (" + strings.Join(list, " | ") + ")\n", faults
}

// filterString escapes all but the usual characters of names in Rust.
func filterString(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '_' || r == ':' || r == '-' || r == '.' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// writeCTest writes an expression of CMake: without groups that capture nothing, without classes such as \d.
func writeCTest(tests []test) (string, []error) {
	if len(tests) == 0 {
		return nothing + "\n", nil
	}
	var list []string
	for _, t := range tests {
		var b strings.Builder
		for _, r := range t.name {
			if strings.ContainsRune(`^$.[]-*+?|()\`, r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		list = append(list, b.String())
	}
	return "^(" + strings.Join(list, "|") + ")$\n", nil
}

// pytest has no option that leaves out one test: --deselect takes the beginning of a name, and so every name that goes on behind it.
//
//go:embed pytest_plugin.py
var pytestPlugin string

func writePytest(tests []test) (string, []error) {
	var b strings.Builder
	for _, t := range tests {
		class := t.group
		if class == "pytest" { // the suite stands for a class that is called as the test, as in test_total.py
			class = t.name
		}
		fmt.Fprintf(&b, "    (%s, %s),\n", pythonText(class), pythonText(t.name))
	}
	return strings.Replace(pytestPlugin, "    # TESTS\n", b.String(), 1), nil
}

// pythonText is a literal of ASCII alone.
func pythonText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < ' ' || r >= utf8.RuneSelf-1 || slices.Contains([]rune{'"', '\\'}, r) {
			fmt.Fprintf(&b, `\U%08x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
