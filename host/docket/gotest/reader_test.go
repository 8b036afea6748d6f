package gotest_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

// read gives the cases of a stream, and its problems as place and code.
func read(t *testing.T, r *gotest.Reader, in io.Reader) (cases []abi.Case, problems []string) {
	t.Helper()
	for entry, err := range r.Read("run.json", in) {
		line := (*docket.LineError)(nil)
		switch {
		case errors.As(err, &line):
			for _, p := range line.Problems {
				problems = append(problems, fmt.Sprintf("%s:%d %s", line.File, line.Line, p.Code))
			}
		case err != nil:
			problems = append(problems, err.Error())
		default:
			cases = append(cases, entry.Case)
		}
	}
	return cases, problems
}

func ids(cases []abi.Case) []string {
	list := []string{}
	for _, c := range cases {
		list = append(list, c.ID)
	}
	return list
}

func output(pack, test, text string) string {
	return fmt.Sprintf(`{"Action":"output","Package":%q,"Test":%q,"Output":%q}`+"\n", pack, test, text)
}

func ends(action, pack, test string) string {
	return fmt.Sprintf(`{"Action":%q,"Package":%q,"Test":%q}`+"\n", action, pack, test)
}

func TestReadOneCaseForEachFailure(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		stream   string
		cases    []string
		problems []string
	}{
		{name: "all pass", stream: ends("run", "p", "TestA") + ends("pass", "p", "TestA") + ends("pass", "p", "")},
		{
			name: "interleaved packages",
			stream: output("p", "TestA", "from p\n") + output("q", "TestA", "from q\n") + ends("fail", "q", "TestA") +
				ends("fail", "p", "TestA") + ends("fail", "q", "") + ends("fail", "p", ""),
			cases: []string{"q.TestA", "p.TestA"},
		},
		{
			name: "a parent that only its subtests fail",
			stream: output("p", "TestA", "=== RUN\n") + ends("fail", "p", "TestA/x/y") + ends("pass", "p", "TestA/z") +
				output("p", "TestA/x", "--- FAIL\n") + ends("fail", "p", "TestA/x") + ends("fail", "p", "TestA") + ends("fail", "p", ""),
			cases: []string{"p.TestA/x/y", "p.TestA/x"},
		},
		{
			name: "a parent that panics itself",
			stream: output("p", "TestA", "=== RUN\n") + ends("fail", "p", "TestA/x") + output("p", "TestA", "panic: own\n") +
				ends("fail", "p", "TestA") + ends("fail", "p", ""),
			cases: []string{"p.TestA/x", "p.TestA"},
		},
		{
			name:   "a failing package without a failing test",
			stream: output("p", "", "no database\n") + ends("fail", "p", ""),
			cases:  []string{"p"},
		},
		{
			name: "a panic that leaves tests open",
			stream: output("p", "TestA", "=== RUN\n") + output("p", "TestB", "=== PAUSE\n") +
				output("p", "TestA", "panic: boom\n") + ends("fail", "p", ""),
			cases: []string{"p.TestA"},
		},
		{
			name:   "a panic that ends the stream",
			stream: output("p", "TestA", "=== RUN\n") + output("p", "TestA", "panic: boom\n"),
			cases:  []string{"p.TestA"},
		},
		{
			name:     "a stream that is cut",
			stream:   output("p", "TestA", "=== RUN\n"),
			problems: []string{"run.json:0 truncated"},
		},
		{
			name:     "a stream that is cut behind a failure",
			stream:   ends("fail", "p", "TestA") + output("p", "TestB", "=== RUN\n"),
			cases:    []string{"p.TestA"},
			problems: []string{"run.json:0 truncated"},
		},
		{
			name:     "a package that passes before its tests end",
			stream:   ends("run", "p", "BenchmarkA") + ends("pass", "p", "") + ends("run", "q", "TestA") + ends("skip", "q", ""),
			problems: []string{"run.json:4 truncated"},
		},
		{
			name: "the same test several times",
			stream: ends("fail", "p", "TestA") + ends("fail", "p", "TestA") + ends("fail", "p", "TestA#2") +
				ends("fail", "p", "TestA") + ends("fail", "p", ""),
			cases: []string{"p.TestA", "p.TestA#2", "p.TestA#2#2", "p.TestA#3"},
		},
		{
			name: "a build that fails without an event of the package",
			stream: `{"Action":"build-output","ImportPath":"p [p.test]","Output":"# p\n"}` + "\n" +
				`{"Action":"build-fail","ImportPath":"p [p.test]"}` + "\n",
			cases: []string{"p"},
		},
		{
			name:   "a build that fails without a word",
			stream: `{"Action":"build-fail","ImportPath":"p"}` + "\n",
			cases:  []string{"p"},
		},
		{
			name: "two packages that need one that does not build",
			stream: `{"Action":"build-output","ImportPath":"d","Output":"d.go:1:1: bad\n"}` + "\n" +
				`{"Action":"build-fail","ImportPath":"d"}` + "\n" +
				`{"Action":"fail","Package":"p","FailedBuild":"d"}` + "\n" + `{"Action":"fail","Package":"q","FailedBuild":"d"}` + "\n",
			cases: []string{"p", "q"},
		},
		{
			name: "malformed lines",
			stream: "{\"Action\":\n" + "{}\n" + "{\"Action\":7}\n" + "{\"Action\":\"fail\",\"Action\":\"pass\"}\n" + "plain\n" + ends("fail", "p", "TestA") +
				"{\"Action\":\"fail\"}}\n" + ends("fail", "p", ""),
			cases:    []string{"p.TestA"},
			problems: []string{"run.json:1 truncated", "run.json:3 wrong_type", "run.json:4 not_json", "run.json:7 not_json"},
		},
		{name: "nothing", stream: "", problems: []string{"run.json:0 empty_docket"}},
		{name: "no stream at all", stream: "hello\nworld\n", problems: []string{"run.json:0 empty_docket"}},
		{name: "CRLF and a byte order mark", stream: "\ufeff" + strings.ReplaceAll(ends("fail", "p", "TestA"), "\n", "\r\n"), cases: []string{"p.TestA"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cases, problems := read(t, &gotest.Reader{}, strings.NewReader(tt.stream))
			check.Same(t, cmp.Diff(append([]string{}, tt.cases...), ids(cases)), "cases (-want +got)")
			check.Same(t, cmp.Diff(tt.problems, problems), "problems (-want +got)")
		})
	}
}

func TestWhatIsWrongIsSaidInTheTermsOfTheStream(t *testing.T) {
	t.Parallel()
	stream := `{"Action":"fail","Package":3,"Test":["a"],"Elapsed":"x"}
{"Action":"fail"}
{"Action":"build-fail"}
{"Action":"fail","Package":"p",}
{"Action":"pass","Test":"TestA"}
{"Action":"skip","Test":"TestB"}
{"Action":"fail"}
{"Action":"output","Output":"no database\n"}
{"Action":"fail"}
`
	var r gotest.Reader
	var problems, got []string
	for entry, err := range r.Read("run.json", strings.NewReader(stream)) {
		if err != nil {
			problems = append(problems, strings.Split(err.Error(), "\n")...)
			continue
		}
		got = append(got, entry.Case.Documents[0].Text)
	}
	want := []string{
		"run.json:1: Package: is a number, expected a string (wrong_type)",
		"run.json:2: Package: is missing: it is not known what failed (missing_field)",
		"run.json:3: ImportPath: is missing: it is not known what failed (missing_field)",
		"run.json:4: is not valid JSON at column 31: invalid character ',' at start of value (not_json)",
	}
	check.Same(t, cmp.Diff(want, problems), "problems (-want +got)")
	// test2json without -p names no package.
	check.Same(t, cmp.Diff([]string{"", "no database\n"}, got), "logs (-want +got)")
	check.Equal(t, r.Tests, 2, "tests")
}

func TestReadReplacesInvalidUTF8(t *testing.T) {
	t.Parallel()
	stream := ends("run", "p", "TestA") + "{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"TestA\",\"Output\":\"a\xffb\\n\"}\nc\xfe\xfed\n" + ends("fail", "p", "TestA")
	for range 3 {
		cases, problems := read(t, &gotest.Reader{}, strings.NewReader(stream))
		if len(problems) > 0 || cases[0].Documents[0].Text != "a\uFFFDb\nc\uFFFDd\n" {
			t.Fatalf("the log is %q, problems %v", cases[0].Documents[0].Text, problems)
		}
	}
}

func TestReadRejectsALongLineAndGoesOn(t *testing.T) {
	t.Parallel()
	stream := output("p", "TestA", strings.Repeat("x", 5000)) + ends("fail", "p", "TestA")
	cases, problems := read(t, &gotest.Reader{MaxLineBytes: 1000}, strings.NewReader(stream))
	check.Same(t, cmp.Diff([]string{"run.json:1 too_large"}, problems))
	check.Same(t, cmp.Diff([]string{"p.TestA"}, ids(cases)))
}

func TestReadGivesOpenCasesBeforeAReadError(t *testing.T) {
	t.Parallel()
	broken := errors.New("cable cut")
	in := io.MultiReader(strings.NewReader(output("p", "TestA", "panic: boom\n")), iotest.ErrReader(broken))
	cases, problems := read(t, &gotest.Reader{}, in)
	check.Same(t, cmp.Diff([]string{"p.TestA"}, ids(cases)))
	check.Same(t, cmp.Diff([]string{"reading run.json, line 2: cable cut"}, problems))
}

func TestReadStopsWhenAsked(t *testing.T) {
	t.Parallel()
	stream := strings.Repeat(ends("fail", "p", "TestA")+"{\n", 5) + output("p", "TestB", "panic: boom\n")
	for stopAfter := 1; stopAfter <= 10; stopAfter++ {
		seen := 0
		for range (&gotest.Reader{}).Read("run.json", strings.NewReader(stream)) { //nolint:errcheck // an iterator that goes on after the break panics, whatever it gives
			if seen++; seen == stopAfter {
				break
			}
		}
	}
}

func TestReadTellsFilesApart(t *testing.T) {
	t.Parallel()
	var r gotest.Reader
	first, _ := read(t, &r, strings.NewReader(ends("fail", "p", "TestA")))
	second, _ := read(t, &r, strings.NewReader(ends("fail", "p", "TestA")))
	if first[0].ID == second[0].ID {
		t.Errorf("both files give a case %q", first[0].ID)
	}
}

// TestAccept_FX8_StreamsOfGoTest reads streams that go test -json printed, see testdata/streams/sources.txtar: a crash belongs to the tests that
// ran, and each case holds the text that tells why it failed.
func TestAccept_FX8_StreamsOfGoTest(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"testdata/*.gotest.json", "testdata/streams/*.gotest.json"} {
		streams, err := filepath.Glob(pattern)
		if err != nil || len(streams) == 0 {
			t.Fatal("no stream matches "+pattern, err)
		}
		for _, stream := range streams {
			readers.Golden(t, stream, strings.TrimSuffix(stream, ".gotest.json")+".want", func() readers.Reader { return &gotest.Reader{} })
		}
	}
}

// FuzzRead holds that every case is one that the contract allows, and that every excerpt stands in its log.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"testdata/shop.gotest.json", "testdata/plain_build.gotest.json"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 300)
		f.Add(string(data), 3000)
	}
	f.Add("{\"Action\":\"fail\",\"Package\":\"\xff\"}\n", 1)
	f.Fuzz(func(t *testing.T, stream string, keep int) {
		keep = 1 + (keep&0xffff)%4096
		reader := gotest.Reader{HeadBytes: keep, TailBytes: keep}
		seen := map[string]bool{}
		for entry, err := range reader.Read("run.json", strings.NewReader(stream)) {
			if err != nil {
				continue
			}
			if seen[entry.Case.ID] {
				t.Errorf("case id %q was given before", entry.Case.ID)
			}
			seen[entry.Case.ID] = true
			readers.Check(t, &entry.Case)
		}
	})
}

func TestTheTestsThatACaseNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, subject, log string
		want               []gotest.Test
	}{
		{"the subject of this reader", "TestA/b_c fails in example.com/shop", "", []gotest.Test{{Package: "example.com/shop", Name: "TestA/b_c"}}},
		{"the subject of JUnit", "TestA fails in example.com/shop, and passes when run again", "", []gotest.Test{{Package: "example.com/shop", Name: "TestA"}}},
		{"with the time of the log", "ExampleA fails", "--- FAIL: ExampleA (1.50s)\nFAIL\nFAIL\texample.com/shop\t1.52s\n", []gotest.Test{{"example.com/shop", "ExampleA", 1500 * time.Millisecond}}},
		{"no package that is built", "example.com/shop does not build", "FAIL\texample.com/shop [build failed]\n", nil},
		{"no test", "example.com/shop fails outside its tests", "panic: no\n", nil},
		{"another language", "testTotal fails in com.example.Shop", "", nil},
		{"documents alone", "nightly build", "--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/b (0.01s)\nFAIL\nFAIL\texample.com/a\t0.1s\n--- FAIL: TestC (0.00s)\nFAIL\texample.com/c\t0.1s\n", []gotest.Test{{"example.com/a", "TestA/b", 10 * time.Millisecond}, {"example.com/c", "TestC", 5 * time.Millisecond}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := gotest.TestsOf(&abi.Case{Subject: c.subject, Documents: []abi.Document{{Name: "log", Text: c.log}}})
			check.Same(t, cmp.Diff(c.want, got), "tests (-want +got)")
		})
	}
}
