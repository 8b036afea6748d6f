package junit_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

// read gives the cases of a report, and its problems as they are printed.
func read(t *testing.T, r *junit.Reader, in io.Reader) (cases []abi.Case, problems []string) {
	t.Helper()
	return readers.Cases(r, "report.xml", in)
}

const failing = `<testcase classname="c" name="a"><failure message="m">text</failure></testcase>`

func TestReadGoesByTheElements(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, report string
		want         []string // id, subject, documents
	}{
		{"lines of the standard error that gotestsum counts", `<testsuites failures="0" errors="7"><testsuite><testcase name="a"/></testsuite></testsuites>`, nil},
		{"a failure with a status alone", `<testsuite failures="1"><testcase classname="c" name="a" status="Failed"/></testsuite>`, []string{"c.a: a fails in c []"}},
		{"names in other letters", `<testsuite><testCase classname="c" name="a"><Failure>x</Failure></testCase></testsuite>`, []string{"c.a: a fails in c [Failure]"}},
		{"a failure that the totals do not count", `<testsuites failures="0"><testsuite failures="0">` + failing + `</testsuite></testsuites>`, []string{"c.a: a fails in c [failure]"}},
		{"skipped", `<testsuite><testcase name="a"><skipped message="later"/></testcase></testsuite>`, nil},
		{"skipped, and broken when it was torn down", `<testsuite name="s"><testcase name="a"><skipped/><error/></testcase></testsuite>`, []string{"s.a: a fails in s []"}},
		{"suites in suites", `<testsuites><testsuite name="s"><testsuite name="t"><testcase name="a"><error>x</error></testcase></testsuite></testsuite></testsuites>`, []string{"t.a: a fails in t [error]"}},
		{"a placeholder for the name", `<testsuite name="s"><testcase classname="c" name="undefined"><failure/></testcase></testsuite>`, []string{"s.c: c fails in s []"}},
		{"placeholders for all but the file", `<testsuite name="undefined"><testcase classname="undefined undefined" name="undefined" file="a.test.js"><failure/></testcase></testsuite>`, []string{"a.test.js: a.test.js fails []"}},
		{"placeholders for class and suite", `<testsuite name="null"><testcase classname="null" name="adds" file="a.test.js"><failure/></testcase></testsuite>`, []string{"a.test.js.adds: adds fails in a.test.js []"}},
		{"placeholders for everything", `<testsuite name="undefined"><testcase classname="undefined" name="[object Object]"><failure/></testcase></testsuite>`, []string{"unknown: a test fails []"}},
		{"two tests without names are not one that is flaky", `<testsuite name="s"><testcase classname="c" name="undefined"><failure/></testcase>
			<testcase classname="c" name="undefined"/></testsuite>`, []string{"s.c: c fails in s []"}},
		{"a name with the word in it", `<testsuite name="s"><testcase classname="c" name="returns undefined"><failure/></testcase></testsuite>`, []string{"c.returns undefined: returns undefined fails in c []"}},
		{"a suite that fails itself", `<testsuite name="s"><error message="no database"/><testcase name="a"/></testsuite>`, []string{"s: s fails outside its tests [error]"}},
		{"one name twice", `<testsuite>` + failing + failing + `</testsuite>`, []string{"c.a: a fails in c [failure]", "c.a#2: a fails in c [failure]"}},
		{"several failures of one test", `<testsuite><testcase classname="c" name="a"><failure>1</failure><failure>2</failure><error>3</error><system-out>o</system-out></testcase></testsuite>`, []string{"c.a: a fails in c [failure failure-2 error system-out]"}},
		{"the whole name twice", `<testsuite name="s"><testcase classname="s adds" name="s adds"><failure>x</failure></testcase></testsuite>`, []string{"s adds: s adds fails in s [failure]"}},
		{"no names", `<testsuite><testcase><failure>x</failure></testcase></testsuite>`, []string{"unknown: a test fails [failure]"}},
		{
			"flaky", `<testsuite><testcase classname="c" name="a"><flakyError type="T"><stackTrace>at x</stackTrace><system-err>e</system-err></flakyError></testcase></testsuite>`,
			[]string{"c.a: a fails in c, and passes when run again [flakyError flakyError/system-err]"},
		},
		{"unknown elements", `<testsuite><x><testcase name="b"><failure/></testcase></x><testcase classname="c" name="a"><y><failure/></y></testcase></testsuite>`, nil},
		{"a namespace", `<j:testsuite xmlns:j="urn:j"><j:testcase classname="c" name="a"><j:failure>x</j:failure></j:testcase></j:testsuite>`, []string{"c.a: a fails in c [failure]"}},
		{"properties", `<testsuite><properties><property name="p" value="q"/></properties><testcase classname="c" name="a"><properties><property name="k" value="v"/></properties><failure/></testcase></testsuite>`, []string{"c.a: a fails in c [properties]"}},
		{"two reports in one stream", `<?xml version="1.0"?><testsuite>` + failing + "</testsuite>\n" + `<?xml version="1.0"?><testsuite>` + failing + `</testsuite>`, []string{"c.a: a fails in c [failure]", "c.a#2: a fails in c [failure]"}},
		{"a mark before it", "\xef\xbb\xbf<testsuite>" + failing + `</testsuite>`, []string{"c.a: a fails in c [failure]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cases, problems := read(t, &junit.Reader{}, strings.NewReader(tt.report))
			var got []string
			for _, c := range cases {
				var documents []string
				for _, d := range c.Documents {
					documents = append(documents, d.Name)
				}
				got = append(got, fmt.Sprintf("%s: %s %v", c.ID, c.Subject, documents))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(problems) > 0 {
				t.Errorf("problems %v, cases (-want +got):\n%s", problems, diff)
			}
		})
	}
}

func TestTextIsWordForWord(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, report, want string }{
		{"references", `<failure>a &lt;b&gt; &amp; &#233;</failure>`, "a <b> & é\n"},
		{"CDATA", `<failure><![CDATA[a <b> ]]]]><![CDATA[> &amp#27;]]></failure>`, "a <b> ]]> &amp#27;\n"},
		{"what XML does not allow", "<failure>\x1b[31mred \xff\x00</failure>", "\uFFFD[31mred \uFFFD\uFFFD\n"},
		{"type and message", `<failure type="T" message="m &#10; n">text</failure>`, "T: m \n n\ntext\n"},
		{"a message that the text has", `<failure type="T" message="m&#10;n">T: m, and more</failure>`, "T: m, and more\n"},
		{"line ends", "<failure>a\r\nb</failure>", "a\nb\n"},
		{"markup in a quoted attribute", `<failure message="a > b">x</failure>`, "a > b\nx\n"},
		{"a comment in it", `<failure>a<!-- <b> -- -->b</failure>`, ""},
		{"a small comment in it", `<failure>a<!-- > ' -->b</failure>`, "ab\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cases, problems := read(t, &junit.Reader{}, strings.NewReader(`<testsuite><testcase name="a">`+tt.report+`</testcase></testsuite>`))
			if tt.want == "" {
				check.Len(t, problems, 1, "problems")
				return
			}
			if len(problems) > 0 || len(cases) != 1 {
				t.Fatalf("%d cases, problems %v", len(cases), problems)
			}
			check.Equal(t, cases[0].Documents[0].Text, tt.want)
		})
	}
}

func TestLatin1(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"ISO-8859-1", "iso8859-1", "Latin1", "latin-1"} {
		report := "<?xml version='1.0' encoding='" + encoding + "'?><testsuite><testcase name='caf\xe9'><failure>10 \xa3</failure></testcase></testsuite>\n" +
			"<testsuite><testcase name='é'><failure/></testcase></testsuite>"
		cases, problems := read(t, &junit.Reader{}, strings.NewReader(report))
		if len(problems) > 0 || len(cases) != 2 || cases[0].ID != "café" || cases[0].Documents[0].Text != "10 £\n" || cases[1].ID != "é" {
			t.Errorf("%s: cases %+v, problems %v", encoding, cases, problems)
		}
	}
}

func TestAccept_IN1_ABrokenReportIsRejectedWithItsPlace(t *testing.T) {
	t.Parallel()
	deep := "<testsuite>" + strings.Repeat("\n<a>", junit.MaxNesting)
	tests := []struct {
		name, report, want string
		kept               int
	}{
		{"cut", "<testsuite>\n" + failing + "\n<testcase name='b'>\n<failure>tex", "report.xml:4: column 12: the report ends here, and <failure> is open (truncated)", 1},
		{"the wrong end", "<testsuite>\n" + failing + "\n </testcase>", "report.xml:3: column 12: is no XML: element <testsuite> closed by </testcase> (not_xml)", 1},
		{"an ampersand", "<testsuite>\n" + failing + "<testcase name='b'><failure>é & b</failure>", "report.xml:2: column 111: is no XML: invalid character entity & (no semicolon) (not_xml)", 1},
		{"an attribute twice", "<testsuite>\n<testcase name='a' status='failed' status='run'/></testsuite>", "report.xml:2: column 49: is no XML: <testcase> has the attribute status twice (not_xml)", 0},
		{"a name that nobody defined", "<testsuite>&xxe;</testsuite>", "report.xml:1: column 16: is no XML: invalid character entity &xxe; (not_xml)", 0},
		{"a DOCTYPE", "<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY xxe SYSTEM 'file:///etc/passwd'>]>\n<testsuite>" + failing, "report.xml:2: column 1: has a DOCTYPE or another declaration, which a report may not have (doctype)", 0},
		{"a declaration inside", "<testsuite>" + failing + "<!ENTITY a 'b'>", "report.xml:1: column 91: has a DOCTYPE or another declaration, which a report may not have (doctype)", 1},
		{"too deep", deep, "report.xml:65: column 3: elements nest deeper than 64 (too_deep)", 0},
		{"another root", "<html><body/></html>", "report.xml:1: column 6: is no report of JUnit or TRX: it begins with <html> and not with <testsuites>, <testsuite> or <TestRun> (not_junit)", 0},
		{"JSON", `{"id":"a"}`, "report.xml:1: column 10: is no XML: text stands where a report should (not_xml)", 0},
		{"text behind it", "<testsuite>" + failing + "</testsuite>\nBUILD FAILED", "report.xml:2: column 12: is no XML: text stands where a report should (not_xml)", 1},
		{"nothing", " \n", "report.xml:1: column 2: has no report of JUnit (empty_docket)", 0},
		{"UTF-16", "\xff\xfe<\x00", "report.xml: is UTF-16, a report is text in UTF-8 or ISO 8859-1 (not_text)", 0},
		{"more failures in a total", "<testsuites failures='2'>\n<testsuite failures='2'>" + failing + "</testsuite>" + failing + "</testsuites>", `report.xml:2: testsuite.failures: states "2", but the report tells of 1 there (bad_count)`, 2},
		{"more errors in a total", "<testsuite errors='99999999999999999999'/>", `report.xml:1: testsuite.errors: states "99999999999999999999", but the report tells of 0 there (bad_count)`, 0},
		{"more failures in the total of a run", trxOf(`outcome="Completed"><Counters failed="2"/>`), `report.xml:1: Counters.failed: states "2", but the report tells of 0 there (bad_count)`, 0},
		{"a run that failed", trxOf(`outcome="Failed">`), `report.xml:1: ResultSummary.outcome: states "Failed", but the report tells of 0 there (bad_count)`, 0},
		{"no element that is known", "<testsuite><tests><test name='a'/></tests></testsuite>", "report.xml:1: column 54: is no report of JUnit: it has <tests> and no <testcase> (not_junit)", 0},
		{"CppUnit", "<TestRun><FailedTests><FailedTest id='1'/></FailedTests></TestRun>", "report.xml:1: column 66: is no report of TRX: it has <FailedTests> and no <Results>, as a report of CppUnit (not_junit)", 0},
		{"another encoding", "<?xml version='1.0' encoding='Shift_JIS'?><testsuite/>", `report.xml:1: column 42: is in the encoding "Shift_JIS": use UTF-8 or ISO-8859-1 (not_text)`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cases, problems := read(t, &junit.Reader{}, strings.NewReader(tt.report))
			check.Equal(t, len(cases), tt.kept, "cases before it")
			check.Same(t, cmp.Diff([]string{tt.want}, problems), "problems (-want +got)")
		})
	}
}

func trxOf(summary string) string {
	return `<TestRun><ResultSummary ` + summary + `</ResultSummary><Results><UnitTestResult testName="a" outcome="Passed"/></Results></TestRun>`
}

// A character that XML doesn't allow reads the same however it is written, and the cases behind it are read.
func TestAccept_IN1_AReferenceToAForbiddenCharacterIsAsThatCharacter(t *testing.T) {
	t.Parallel()
	report := func(c string) string {
		return `<testsuite name="s"><testcase classname="c" name="a` + c + `"><failure message="` + c + `[31m">` + c + `[0m &amp; &#233;<![CDATA[&#x1b;]]></failure></testcase>` + failing + "</testsuite>"
	}
	want, _ := read(t, &junit.Reader{}, strings.NewReader(report("\x1b")))
	if len(want) != 2 || !strings.Contains(want[0].Documents[0].Text, "\uFFFD[0m & é&#x1b;") {
		t.Fatalf("cases %+v", want)
	}
	for _, c := range []string{"&#x1b;", "&#27;", "&#x0000000000000000001B;", "&#0;", "&#xFFFE;", "&#xD800;", "&#x110000;", "&#99999999999999999999999;"} {
		got, problems := read(t, &junit.Reader{}, iotest.OneByteReader(strings.NewReader(report(c))))
		if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
			t.Errorf("%s: problems %v, cases (-want +got):\n%s", c, problems, diff)
		}
	}
	_, problems := read(t, &junit.Reader{}, strings.NewReader("<testsuite>&#x1b;&xxe;"))
	check.Same(t, cmp.Diff([]string{"report.xml:1: column 22: is no XML: invalid character entity &xxe; (not_xml)"}, problems))
}

func TestReaderErrorIsTheLast(t *testing.T) {
	t.Parallel()
	broken := errors.New("the pipe broke")
	in := io.MultiReader(strings.NewReader("<testsuite>\n"+failing), iotest.ErrReader(broken))
	var last error
	n := 0
	for _, err := range new(junit.Reader).Read("report.xml", in) {
		n++
		last = err
	}
	if line := (*docket.LineError)(nil); n != 2 || !errors.Is(last, broken) || errors.As(last, &line) {
		t.Errorf("%d entries, the last error is %v", n, last)
	}
}

func TestReadStops(t *testing.T) {
	t.Parallel()
	for entry, err := range new(junit.Reader).Read("report.xml", strings.NewReader("<testsuite>"+failing+failing+"<oops")) {
		if err != nil || entry.Case.ID != "c.a" {
			t.Errorf("got %q, %v", entry.Case.ID, err)
		}
		return
	}
	t.Error("no entry")
}

func TestDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	report := `<testsuite><testcase name="a">` + strings.Repeat("<failure>x</failure>", 100) + `</testcase></testsuite>`
	cases, problems := read(t, &junit.Reader{}, strings.NewReader(report))
	if len(cases) != 1 || len(problems) > 0 {
		t.Fatalf("%d cases, problems %v", len(cases), problems)
	}
	documents := cases[0].Documents
	if len(documents) != junit.MaxDocuments+1 || documents[junit.MaxDocuments].Text != "[... 84 more outputs cut here ...]\n" {
		t.Errorf("%d documents, the last %+v", len(documents), documents[len(documents)-1])
	}
}

// TestNamed: the test of a case is the one of which the report said how it ended.
func TestNamed(t *testing.T) {
	t.Parallel()
	report := `<testsuites><testsuite name="cart">
<testcase classname="tests.test_cart.TestTotal" name="test_sum[a fails in b]" file="tests/test_cart.py"><failure>E   assert 1 == 2</failure></testcase>
<testcase classname="cart adds" name="cart adds" file="cart.js" time="1,003.46"><failure>no</failure></testcase>
<testcase classname="cart" name="adds, and passes when run again" time="2.9"><flakyFailure>no</flakyFailure></testcase>
<testcase classname="cart" name="rests"><skipped/></testcase>
<testcase classname="cart" name="passes" file="cart.js"></testcase>
</testsuite></testsuites>`
	var ends []string
	failed := map[junit.Test]bool{}
	reader := junit.Reader{Ended: func(test junit.Test, end junit.End) {
		ends = append(ends, test.Class+": "+test.Name+" "+string(end))
		if end == junit.Failed {
			failed[test] = true
		}
	}}
	cases, problems := read(t, &reader, strings.NewReader(report))
	if len(problems) > 0 || len(cases) != 3 {
		t.Fatalf("%d cases, %v", len(cases), problems)
	}
	if test, _ := junit.Named(&cases[1]); test.File != "cart.js" || test.Elapsed != 1003500*time.Millisecond {
		t.Errorf("%+v", test)
	}
	for i := range cases {
		if test, ok := junit.Named(&cases[i]); !ok || !failed[test] {
			t.Errorf("%q names %+v", cases[i].Subject, test)
		}
	}
	want := []string{
		"tests.test_cart.TestTotal: test_sum[a fails in b] failed", "cart: cart adds failed",
		"cart: adds, and passes when run again failed", "cart: rests skipped", "cart: passes passed",
	}
	check.Same(t, cmp.Diff(want, ends), "ends (-want +got)")
}

// TestAccept_IN1_IG4_Reports reads what tools wrote.
func TestAccept_IN1_IG4_Reports(t *testing.T) {
	t.Parallel()
	for _, report := range reports(t) {
		golden := filepath.Join("testdata", strings.TrimSuffix(filepath.Base(report), ".xml")+".want")
		readers.Golden(t, report, golden, func() readers.Reader { return &junit.Reader{} })
	}
}

// reports are the files of the examples and of testdata.
func reports(t testing.TB) []string {
	t.Helper()
	examples, err := filepath.Glob("../../../examples/dockets/inputs/*.xml")
	if err != nil || len(examples) < 4 {
		t.Fatalf("%d reports in the examples (%v)", len(examples), err)
	}
	own, err := filepath.Glob("testdata/*.[xt][mr][lx]")
	if err != nil || len(own) != 12 {
		t.Fatalf("%d reports in testdata (%v)", len(own), err)
	}
	return append(examples, own...)
}

// FuzzRead holds that every case is one that the contract allows, that every excerpt stands in its document, and that
// what the standard library rejects is rejected here, but for characters that become U+FFFD.
func FuzzRead(f *testing.F) {
	for _, name := range reports(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 300)
	}
	f.Add("<testsuite><testcase name='\xff'><failure>&#x1b;<!-- > --><![CDATA[]]]]></failure></testcase></testsuite>", 1)
	f.Fuzz(func(t *testing.T, report string, keep int) {
		keep = 1 + (keep&0xffff)%4096
		reader := junit.Reader{HeadBytes: keep, TailBytes: keep, HeldBytes: keep * 16}
		if !readers.CheckAll(t, &reader, report) && utf8.ValidString(report) && strings.Contains(report, "<") && wellFormed(report) != nil {
			check.Contains(t, wellFormed(report).Error(), "illegal character code", "taken though")
		}
	})
}

func wellFormed(report string) error {
	decoder := xml.NewDecoder(strings.NewReader(report))
	for {
		switch _, err := decoder.Token(); {
		case err == nil:
		case err.Error() == "EOF" || strings.Contains(err.Error(), "encoding"):
			return nil
		default:
			return err
		}
	}
}

// TestAccept_AK1_WhatCTestCouldNotStartFailed as CTest counts it; what it skipped on purpose did not.
func TestAccept_AK1_WhatCTestCouldNotStartFailed(t *testing.T) {
	t.Parallel()
	notRun := func(name, message string) string {
		return `<testcase name="` + name + `" classname="` + name + `" status="notrun"><skipped message="` + message + `"/><system-out>out</system-out></testcase>`
	}
	cases, problems := read(t, &junit.Reader{}, strings.NewReader("<testsuite>"+notRun("gone", "Unable to find executable")+notRun("db", "Fixture dependency failed")+
		notRun("later", "SKIP_RETURN_CODE=77")+notRun("off", "Disabled")+`<testcase name="a" classname="A" status="notrun"><skipped message="later"/></testcase></testsuite>`))
	if len(problems) > 0 || len(cases) != 2 || cases[0].ID != "gone" || !strings.Contains(cases[0].Documents[0].Text, "Unable to find executable") || cases[1].ID != "db" {
		t.Errorf("cases %+v, problems %v", cases, problems)
	}
}

// TestAccept_AK1_RowsOfOneTitleAreNoReruns where no runner lists reruns as test cases.
func TestAccept_AK1_RowsOfOneTitleAreNoReruns(t *testing.T) {
	t.Parallel()
	for place, flaky := range map[string]bool{"at src/cart.test.js:3:1": false, "at src/cart.spec.tsx:3": false, "at CartTest.kt:3": true} {
		cases, problems := read(t, &junit.Reader{}, strings.NewReader(`<testsuite name="s"><testcase classname="c" name="row"><failure>`+place+`</failure></testcase><testcase classname="c" name="row"/></testsuite>`))
		if len(problems) > 0 || len(cases) != 1 || (cases[0].Light.Classification == "nd001") != flaky {
			t.Errorf("%s: cases %+v, problems %v", place, cases, problems)
		}
	}
}
