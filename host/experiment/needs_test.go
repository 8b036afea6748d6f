package experiment

import (
	"archive/zip"
	"bytes"
	"errors"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/repo"
)

var needy = map[string][]byte{
	"a_test.go": []byte(`package p

import (
	"fmt"
	str "strings"
	"testing"

	"github.com/x/go-yaml/v3"
	. "math"
)

// TestA is about one.
func TestA(t *testing.T) { check(t, table[0], fmt.Sprint(One())) }

func TestB(t *testing.T) { str.ToUpper(NewAPI()); yaml.X() }

var _ = NewAPI
`),
	"b_test.go": []byte(`package p

import "testing"

var table = []row{{1}}

type row struct{ n int }

func (r row) check() bool { return r.n == other }

const (
	first = iota
	other
)

func check(t *testing.T, r row, s string) { t.Helper() }
`),
	"c_test.go": []byte("package p_test\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) {}\n"),
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	n := must.Get(needsOf(needy, "TestA/sub"))(t)
	a := strings.Join(strings.Fields(string(n.files["a_test.go"])), " ")
	want := `package p import ( "fmt" _ "strings" "testing" _ "github.com/x/go-yaml/v3" . "math" ) // TestA is about one. ` +
		`func TestA(t *testing.T) { check(t, table[0], fmt.Sprint(One())) }`
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	if got := string(n.files["a_test.go"]); strings.Count(got, "\n") != strings.Count(string(needy["a_test.go"]), "\n") {
		t.Errorf("lines have moved:\n%s", got)
	}
	if diff := cmp.Diff(string(needy["b_test.go"]), string(n.files["b_test.go"])); diff != "" {
		t.Error(diff)
	}
	if text, there := n.files["c_test.go"]; !there || text != nil {
		t.Errorf("nothing of c_test.go is needed, got %q", text)
	}
	if _, err := needsOf(needy, "TestD"); !errors.Is(err, errNoSuchTest) {
		t.Errorf("got %v", err)
	}
	if _, err := needsOf(map[string][]byte{"a_test.go": []byte("func")}, "TestD"); err == nil || errors.Is(err, errNoSuchTest) {
		t.Errorf("no Go: got %v", err)
	}
}

// TestDigestOfWhatIsNeeded: comments, places and other tests are no change; helpers, tables and what an example wants are.
func TestDigestOfWhatIsNeeded(t *testing.T) {
	t.Parallel()
	both := func(test string, files ...string) (digest, process string) {
		set := map[string][]byte{}
		for i, text := range files {
			set[string(rune('a'+i))+"_test.go"] = []byte("package p\n" + text)
		}
		n := must.Get(needsOf(set, test))(t)
		return n.digest, n.process
	}
	digest := func(test string, files ...string) string {
		digest, _ := both(test, files...)
		return digest
	}
	const test, table = "func TestA(t *testing.T) { run(t, table) }\n", "var table = []int{1, 2}\n"
	before := digest("TestA", test+table)
	for name, got := range map[string]string{
		"moved":      digest("TestA", "// More.\n"+table, "\n\nfunc TestB(t *testing.T) {}\n// TestA is new here.\n"+test),
		"formatted":  digest("TestA", "func TestA(t *testing.T) {\n\t// why\n\trun(t, table)\n}\n"+table),
		"other test": digest("TestA", test+table+"func TestB(t *testing.T) {}\n"),
	} {
		if got != before {
			t.Errorf("%s: it is taken for a change", name)
		}
	}
	for name, got := range map[string]string{
		"table": digest("TestA", test+"var table = []int{1, 3}\n"),
	} {
		if got == before {
			t.Errorf("%s: it is taken for no change", name)
		}
	}
	const main = "func TestMain(m *testing.M) { m.Run() }\n"
	if digest, process := both("TestA", test+table+main); digest != before || process == before {
		t.Error("TestMain is no change of the test, but of its process")
	}
	if digest("ExampleA", "func ExampleA() {\n\tf()\n\t// Output: 1\n}\n") == digest("ExampleA", "func ExampleA() {\n\tf()\n\t// Output: 2\n}\n") {
		t.Error("an example that wants another output is taken for the same")
	}
}

// The search finds the tests without which one passes, wherever they are, and names none where it finds none.
func TestPollutersAreFoundByHalves(t *testing.T) {
	t.Parallel()
	names := make([]string, 200)
	for i := range names {
		names[i] = "Test" + strconv.Itoa(i)
	}
	for name, tc := range map[string]struct {
		of       int
		guilty   []string
		most     int
		unstable bool // it fails in the first run only
	}{
		"the first":             {200, []string{"Test0"}, 25, false},
		"the last":              {200, []string{"Test199"}, 25, false},
		"the only one":          {1, []string{"Test0"}, 5, false},
		"two together":          {40, []string{"Test3", "Test30"}, mostProbes + 4, false},
		"none":                  {40, nil, 1, false},
		"does not happen again": {40, []string{"Test3"}, mostProbes + 4, true},
		"nothing before it":     {0, nil, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			s := orderSearch{fails: func(tests []string) (bool, []string, error) {
				runs++
				if tests == nil {
					tests = names[:tc.of]
				}
				failed := len(tc.guilty) > 0 && (!tc.unstable || runs == 1)
				for _, g := range tc.guilty {
					failed = failed && slices.Contains(tests, g)
				}
				return failed, names[:tc.of], nil
			}}
			found := must.Get(s.search())(t)
			want := tc.guilty
			if tc.unstable {
				want = nil
			}
			if !slices.Equal(found, want) || runs > tc.most {
				t.Errorf("%q after %d runs, want %q", found, runs, want)
			}
		})
	}
}

// TestAccept_AL7_TestsByTheirNames: what a name means for each runner, and what is said where it means no test or several.
func TestAccept_AL7_TestsByTheirNames(t *testing.T) {
	fakeTools(t, "pytest")
	test := "package x\n\nfunc TestA(t *testing.T) {}\n"
	source := sourceOf(t, ".", map[string]string{
		"go.mod": "module example.com/m\n", "a_test.go": test, "b/b_test.go": test, "b/c_test.go": "package x\n\nfunc TestB(t *testing.T) {}\n// func TestC(\n",
		"tools/go.mod": "module example.com/tools\n", "tools/x/x_test.go": strings.ReplaceAll(test, "TestA", "TestX"), "testdata/d_test.go": strings.ReplaceAll(test, "TestA", "TestD"),
		"pytest.ini": "", "tests/test_cart.py": "",
	})
	l := &Lab{trees: map[revisions]*workspace{{abi.Head, abi.Head}: newWorkspace(source.Head, source.Head.Digest(), t.TempDir(), "")}}
	for _, d := range shippedRunners() {
		if d.Name != goRunner && d.Name != "pytest" {
			continue
		}
		tool, err := openToolchain(t.Context(), d, source, &Config{})
		if err != nil || tool == nil {
			t.Fatal(d.Name, tool, err)
		}
		l.toolchains = append(l.toolchains, tool)
	}
	for name, want := range map[string]string{
		"TestB":                                  "example.com/m/b.TestB",
		"b.TestA/with a.dot":                     "", // no name has blanks
		"b.TestA/with_a.dot":                     "example.com/m/b.TestA/with_a.dot",
		"example.com/m.TestA":                    "example.com/m.TestA",
		"m.TestA":                                "example.com/m.TestA",
		"TestX":                                  "example.com/tools/x.TestX",
		"TestA":                                  "several tests have this name: example.com/m.TestA, example.com/m/b.TestA",
		"c.TestB":                                "example.com/m/b has it",
		"TestC":                                  "",
		"TestD":                                  "",
		"tests.test_cart.test_total":             "tests.test_cart.test_total",
		"tests/test_cart.py::T::test_total[1.5]": "tests.test_cart.T.test_total[1.5]",
		"tests.test_other.test_total":            "",
		"":                                       "",
		"../../etc/passwd":                       "",
	} {
		c, err := l.Named(t.Context(), name)
		switch {
		case err == nil && c.ID != want:
			t.Errorf("%q: %s, want %s", name, c.ID, want)
		case err != nil && (!errors.Is(err, ErrName) || !strings.Contains(err.Error(), want) || want == name && name != ""):
			t.Errorf("%q: %v, want %s", name, err, want)
		}
		if err == nil && len(c.Documents) > 0 {
			t.Errorf("%q has documents", name)
		}
	}
}

// Each failure reads each run once, in the order in which they were made, whoever they were made for; a run that its limit ended is made
// again.
func TestRecordingsAreReadOnceByEachFailure(t *testing.T) {
	t.Parallel()
	var r recordings
	c := cell{tests: "TestA"}
	take := func(failure string, made *recording) *recording {
		n := r.next(c, failure)
		again, done := r.take(t.Context(), c, n)
		if again == nil {
			done(made)
		}
		return again
	}
	first := &recording{result: &isolate.Result{Ending: isolate.Exited}}
	late := &recording{result: &isolate.Result{Ending: isolate.OverTime}}
	third := &recording{result: &isolate.Result{Ending: isolate.Exited, Output: []byte("x")}, stream: make([]byte, mostRecorded-1)}
	large := &recording{result: &isolate.Result{Ending: isolate.Exited}, stream: make([]byte, 1)}
	for i, step := range []struct {
		failure    string
		made, want *recording
	}{
		{"a", first, nil},
		{"a", late, nil},
		{"b", nil, first},
		{"b", late, nil}, // the second was of a limit
		{"b", third, nil},
		{"a", nil, third},
		{"a", large, nil},
		{"b", large, nil}, // there was no room for the fourth
	} {
		if got := take(step.failure, step.made); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
	if r.has(c, 4) || !r.has(c, 3) {
		t.Error("four runs were begun")
	}
}

// FuzzReadStream: whatever a test writes, it came out in one of the known ways, and only a failure has a log.
func FuzzReadStream(f *testing.F) {
	f.Add(`{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: got 1\n"}` +
		"\n" + `{"Action":"fail","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"p"}`)
	f.Add(`{"Action":"pass","Package":"p","Test":"TestA"}`)
	f.Fuzz(func(t *testing.T, stream string) {
		kind, log := readStream("p", "TestA", []byte(stream))
		switch kind {
		case kindPassed, kindSkipped, kindAbsent, kindEnded:
			if log != "" {
				t.Errorf("%s with the log %q", kind, log)
			}
		case kindFailed:
		default:
			t.Errorf("it came out as %q", kind)
		}
	})
}

// FuzzNeeds: what is left of test files is Go with as many lines, and has the test.
func FuzzNeeds(f *testing.F) {
	f.Add("package p\nimport (\"testing\"; x \"y/v2\")\nfunc TestA(t *testing.T) { help(x.Y) }\nvar _ = 1\n", "package p\nfunc (t *T[K]) help() {}\ntype T[K any] struct{}\n")
	f.Add("package p\nfunc () TestA() {}\nfunc TestA() {}\n", "package p\nconst (a = iota; b)\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		files := map[string][]byte{"a_test.go": []byte(a), "b_test.go": []byte(b)}
		n, err := needsOf(files, "TestA/x")
		if err != nil {
			return
		}
		some := false
		for name, text := range n.files {
			if text == nil {
				continue
			}
			some = true
			if bytes.Count(text, []byte("\n")) != bytes.Count(files[name], []byte("\n")) {
				t.Errorf("%s has other lines:\n%s", name, text)
			}
			// A semicolon may stand behind a comment.
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil && !bytes.Contains(text, []byte(";")) {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
		}
		if again, err := needsOf(files, "TestA"); !some || errors.Is(err, errNoSuchTest) || again.digest != n.digest || again.process != n.process {
			t.Error("the test is gone")
		}
	})
}

// TestWhatIsNoTraceTellsNothing: tests can write to the files of a trace.
func TestWhatIsNoTraceTellsNothing(t *testing.T) {
	t.Parallel()
	r := &defined{source: &origin{Top: "/tree"}}
	for _, text := range []string{"", "{", `["a"]`, `{"a": 1}`, `{"../../a": "/etc/passwd"}`, `{"a": "relative.py"}`, `{"a": "/tree/../a.py"}`} {
		if got := r.loadedModules([]byte(text), "/tree", environment{}); got.code != abi.NotCertified {
			t.Errorf("%s: got %+v", text, got)
		}
		if got := r.loadedFiles([]byte(text), "/tree", "", environment{}); got.code != abi.NotCertified {
			t.Errorf("%s: got %+v", text, got)
		}
	}
	for _, text := range []string{
		"", "<", `<testsuite><properties><property name="surefire.test.class.path"/></properties></testsuite>`,
		`<property name="surefire.test.class.path" value="/etc:/dev/zero:/etc/passwd:relative.jar:"/>`,
		`<property name="surefire.test.class.path" value="/tree/target/test-classes"/>`,
		strings.Repeat(`<property name="surefire.test.class.path" value="/tree/target/classes"/>`, maxClassPaths+1),
	} {
		if got := r.loadedClasses(surefireClassPaths([]byte(text)), "/tree", &repo.Tree{}); got.code != abi.NotCertified {
			t.Errorf("%.100s: got %+v", text, got)
		}
	}
}

// TestClassPathsByTheirOrder: an archive that has a class of the tree counts unless the tree's own class comes first.
func TestClassPathsByTheirOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "scratch"), 0o700))
	jar := func(name string, classes ...string) string {
		file := filepath.Join(dir, name)
		f := must.Get(os.Create(file))(t)
		z := zip.NewWriter(f)
		for _, class := range classes {
			if _, err := z.Create(class); err != nil {
				t.Fatal(err)
			}
		}
		must.Do(t, errors.Join(z.Close(), f.Close()))
		return file
	}
	own, part, whole := "/tree/core/target/classes", jar("part.jar", "com/example/core/Other.class"), jar("whole.jar", "com/example/core/Rate$Inner.class")
	library, broken := jar("library.jar", "com/example/library/Rate.class", "Rate.class", "META-INF/versions/9/com/example/core/Rate.class"), filepath.Join(dir, "broken.jar")
	must.Do(t, os.WriteFile(broken, []byte("PK"), 0o600))
	r := &defined{source: &origin{Top: "/checkout", Scratch: filepath.Join(dir, "scratch")}}
	trees := &repo.Tree{}
	r.packages.Store(trees, map[string]string{"com/example/core/Rate": "core", "com/example/core/": "core"})
	for want, paths := range map[abi.LoadedCode][][]string{
		abi.Certified:    {{own}, {own, library, filepath.Join(dir, "gone.jar")}, {own, part, whole}},
		abi.NotCertified: {{}, {library}, {part, own}, {own, broken}, {own, dir}, {"/tree/core/target/test-classes"}, {own, jar("scratch/x.jar", "com/example/library/Rate.class")}},
		abi.Contradicted: {{whole, own}, {own + "/../../../shop/target/classes", whole}, {broken, whole}},
	} {
		for _, entries := range paths {
			if got := r.classPath(entries, "/tree", trees); got.code != want {
				t.Errorf("%q: got %+v, want %s", entries, got, want)
			}
		}
	}
}

func FuzzTraces(f *testing.F) {
	f.Add([]byte(`{"shop.cart": "/tree/shop/cart.py"}`))
	f.Add([]byte(`<property name="surefire.test.class.path" value="/tree/target/classes:/x/a.jar:"/>`))
	f.Add([]byte("/tree/build/classes/java/main\n/x/a.jar\n\n/tree\n"))
	r := &defined{source: &origin{Top: "/tree"}}
	f.Fuzz(func(t *testing.T, written []byte) {
		if l := r.loadedModules(written, "/tree", environment{Tree: &repo.Tree{}}); l.code == abi.Contradicted {
			t.Errorf("an empty tree is contradicted: %+v", l)
		}
		r.loadedFiles(written, "/tree", "", environment{Tree: &repo.Tree{}})
		if l := r.loadedClasses(slices.Concat(surefireClassPaths(written), gradleClassPaths(written)), "/tree", &repo.Tree{}); l.code == abi.Contradicted {
			t.Errorf("an empty tree is contradicted: %+v", l)
		}
	})
}

// TestAccept_AK12_TheOriginalEnvironment has no HOME where the user has none, the TMPDIR of the user, and the variables that the report names.
func TestAccept_AK12_TheOriginalEnvironment(t *testing.T) {
	if !isolate.CanView() {
		t.Skip("the system allows no user namespaces")
	}
	cache, modules := os.Getenv("GOCACHE"), os.Getenv("GOMODCACHE")
	if out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE").Output(); err == nil {
		cache, modules, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	}
	t.Setenv("GOCACHE", cache)
	t.Setenv("GOMODCACHE", modules)
	t.Setenv("SHOP_REGION", "eu")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, in := range []string{".", "/tmp"} { // where the laboratory has a folder of its own, too
		here := must.Get(filepath.Abs(must.Get(os.MkdirTemp(in, "temp"))(t)))(t) //nolint:usetesting // one is not below /tmp
		t.Cleanup(func() { _ = os.RemoveAll(here) })
		originalEnvironment(t, filepath.Join(here, "none"), in == "/tmp")
	}
}

// originalEnvironment runs a test that uses a folder for temporary files, which is there in some of the cases: in all of them, or only where it is.
func originalEnvironment(t *testing.T, temp string, there bool) {
	t.Helper()
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{"go.mod": "module example.com/shop\n\ngo 1.26\n", "shop_test.go": `package shop

import ("os"; "testing")

func TestShop(t *testing.T) {
	home, is := os.LookupEnv("HOME")
	text := "reads"
	if err := os.WriteFile(os.TempDir()+"/file", nil, 0o600); err != nil { text = "fails" }
	t.Errorf("%s %t %v SHOP_REGION=%s", text, is, os.Getenv("TMPDIR") == "` + temp + `" && home != "/none", os.Getenv("SHOP_REGION"))
}
`})
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "base")
	subject := func(line string) *abi.Case {
		return &abi.Case{Subject: "TestShop fails in example.com/shop", Documents: []abi.Document{{Name: "log", Text: "    shop_test.go:9: " + line + "\n"}}}
	}
	for _, c := range []struct {
		home, temp bool // whether there is one
		told       bool
		line       string
		same       int
	}{
		{false, false, true, "fails false true SHOP_REGION=eu", 5},
		{true, false, true, "fails true true SHOP_REGION=eu", 5},
		{true, true, true, "reads true true SHOP_REGION=eu", 5},
		{true, true, false, "reads true true SHOP_REGION=eu", 0}, // a report of others may name any variable
	} {
		if there && !c.temp {
			continue
		}
		t.Setenv("TMPDIR", temp)
		if t.Setenv("HOME", "/none"); !c.home {
			os.Unsetenv("HOME")
		}
		if c.temp {
			must.Do(t, os.MkdirAll(temp, 0o700))
		}
		l := must.Get(Open(t.Context(), Config{Source: dir, Mode: Reruns, Budget: time.Hour, Apart: -1, Told: c.told}))(t)
		e := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
		if r, err := l.Run(t.Context(), subject(c.line), e); err != nil || r.Same != c.same {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
		must.Do(t, l.Close())
		if c.temp && len(must.Get(os.ReadDir(temp))(t)) > 0 {
			t.Error("something is left in the folder for temporary files")
		}
	}
}

// TestAccept_AK3_NotTraced stands with the runs of a base of which the kernel told nothing.
func TestAccept_AK3_NotTraced(t *testing.T) {
	t.Parallel()
	for _, traced := range []bool{false, true} {
		failed := looks{parts: []string{"a.go:1: no"}}
		c := &tally{
			result: abi.ExperimentResult{Experiment: abi.Experiment{Product: abi.Base, Tests: abi.Base, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 1}},
			looks:  failed, varying: &varying{}, look: func([]abi.Document) looks { return failed },
		}
		c.add(&testRun{Kind: kindFailed, Result: &isolate.Result{Ending: isolate.Exited}, Traced: traced})
		if r, _ := c.end(nil); r.Outcome != abi.OutcomeSame || strings.Contains(r.Detail, plan.NotTraced) == traced {
			t.Errorf("traced %t: got %+v", traced, r)
		}
	}
}
