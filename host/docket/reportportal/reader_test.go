package reportportal_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/reportportal"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func read(t *testing.T, r *reportportal.Reader, in io.Reader) (cases []abi.Case, problems []string) {
	t.Helper()
	return readers.Cases(r, "export.json", in)
}

func item(id int, more string) string {
	return fmt.Sprintf(`{"id":%d,"name":"t%d","type":"STEP","status":"FAILED"%s}`, id, id, more)
}

func logOf(id int, message string) string {
	return fmt.Sprintf(`{"itemId":%d,"level":"ERROR","message":%q}`, id, message)
}

func TestItemsAreCases(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, export string
		want         []string // id, group, log
	}{
		{"one page of each", `{"content":[` + item(1, "") + `],"page":{}}{"content":[` + logOf(1, "boom") + `]}`, []string{"1  boom"}},
		{"the logs first", `{"logs":[` + logOf(1, "boom") + `],"items":[` + item(1, "") + `]}`, []string{"1  boom"}},
		{"logs in the item, of a page", item(1, `,"logs":{"content":[{"message":"a","level":"INFO"},{"message":"b","level":"INFO"}]}`), []string{"1  a b"}},
		{"passed", `{"id":1,"name":"t","type":"STEP","status":"PASSED"}`, nil},
		{"a suite", item(1, `,"hasChildren":true`) + item(2, `,"parent":1`), []string{"2  "}},
		{"only steps in it", item(1, `,"hasChildren":true`) + item(2, `,"parent":1,"hasStats":false`) + item(3, `,"parent":2,"hasStats":false`) + logOf(3, "deep"), []string{"1  deep"}},
		{"interrupted", `{"id":1,"name":"t","type":"STEP","status":"INTERRUPTED"}`, []string{"1  "}},
		{"only a uuid", `{"uuid":"u-1","name":"t","type":"STEP","status":"FAILED"}`, []string{"u-1  "}},
		{"a Java class", item(1, `,"codeRef":"com.example.CartTest.totals"`), []string{"1 com.example.CartTest "}},
		{"a Python file", item(1, `,"codeRef":"tests/test_cart.py:test_total"`), []string{"1 tests/test_cart.py "}},
		{"the suite of its path", item(1, `,"codeRef":"a.b","pathNames":{"launchPathName":{"name":"l"},"itemPaths":[{"name":"s"},{"name":"u"}]}`), []string{"1 u "}},
		{"the launch of its path", item(1, `,"pathNames":{"launchPathName":{"name":"l","number":1}}`), []string{"1 l "}},
		{"retries", item(1, `,"retries":[`+item(2, "")+`]`), []string{"1  "}},
		{"one id twice", item(1, "") + item(1, ""), []string{"1  ", "1#2  "}},
		{"a mark before it", "\xef\xbb\xbf" + item(1, ""), []string{"1  "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cases, problems := read(t, &reportportal.Reader{}, strings.NewReader(tt.export))
			var got []string
			for _, c := range cases {
				log := ""
				for _, d := range c.Documents {
					log = strings.ReplaceAll(strings.TrimSpace(d.Text), "\n", " ")
				}
				got = append(got, c.ID+" "+c.Group+" "+log)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(problems) > 0 {
				t.Errorf("problems %v, cases (-want +got):\n%s", problems, diff)
			}
		})
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	const four = "pb001 ab001 si001 nd001"
	for more, want := range map[string]string{
		"": four,
		`,"issue":{"issueType":"ab_x1"},"statistics":{"defects":{"product_bug":{"total":2,"pb_y2":1,"pb001":1},"to_investigate":{"ti001":1,"ti_z3":1}}}`: four + " pb_y2 ab_x1", // those in use
		`,"issue":{"issueType":"ab_x1"},"settings":{"subTypes":{"NO_DEFECT":[{"locator":"nd_n1","typeRef":"NO_DEFECT","longName":"Noise"},` + // those of the settings
			`{"locator":"nd_n1","typeRef":"NO_DEFECT","longName":" "}],"TO_INVESTIGATE":[{"locator":"ti_n2","typeRef":"TO_INVESTIGATE","longName":"x"}]}}`: four + " nd_n1=Noise",
		`,"issue":{"issueType":"<script>"}`: four,
	} {
		var r reportportal.Reader
		for entry, err := range r.Read("export.json", strings.NewReader(item(1, more))) {
			must.Do(t, err)
			got := strings.Join(entry.Case.Labels, " ")
			for label, name := range entry.LabelNames {
				got = strings.Replace(got, label, label+"="+name, 1)
			}
			check.Equal(t, got, want, more, "labels")
		}
	}
}

func TestTruthOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	export := item(1, `,"issue":{"issueType":"ab001"}`) + item(2, `,"issue":{"issueType":"ti001"}`) + item(3, `,"issue":{"issueType":"pb001","autoAnalyzed":true}`)
	for _, asked := range []bool{false, true} {
		r := reportportal.Reader{Truth: asked}
		var got strings.Builder
		for entry, err := range r.Read("export.json", strings.NewReader(export)) {
			must.Do(t, err)
			label := "unknown"
			if entry.Truth != nil {
				label = entry.Truth.Classification
			}
			got.WriteString(entry.Case.ID + " " + label + ", ")
		}
		want := "1 unknown, 2 unknown, 3 unknown, "
		if asked {
			want = "1 ab001, 2 unknown, 3 unknown, "
		}
		check.Equal(t, got.String(), want, "asked", asked)
	}
}

func TestAccept_IN2_ABrokenExportIsRejectedWithItsPlace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, export, want string
		kept               int
	}{
		{"cut", "{\"content\":[\n" + item(1, "") + ",\n" + item(2, `,"x":`), "export.json:3: is not valid JSON at column 57: invalid character '}' at start of value (not_json)", 0},
		{"no JSON", item(1, "") + "\n<html>", "export.json:2: is not valid JSON at column 1: invalid character '<' at start of value (not_json)", 1},
		{"ends early", "{\"content\":[\n" + item(1, ""), "export.json:2: column 53: the text ends here, and is not complete (truncated)", 0},
		{"a flag that is a number", "[" + item(1, "") + ",\n{\"id\":2,\"name\":\"t\",\"type\":\"STEP\",\n\"status\":\"FAILED\",\"hasStats\":1}]", "export.json:3: [1].hasStats: is neither true nor false (wrong_type)", 1},
		{"an issue of another type", item(1, `,"issue":{"issueType":3}`), "export.json:1: issue.issueType: is no string (wrong_type)", 0},
		{"too deep", strings.Repeat("[", 33) + strings.Repeat("]", 33), "export.json:1: values nest deeper than 32 (too_deep)", 0},
		{"nothing of ReportPortal", `{"id":1}`, "export.json: has no test item of ReportPortal (empty_docket)", 0},
		{"nothing", "", "export.json: has no test item of ReportPortal (empty_docket)", 0},
		{"compressed", "\x1f\x8b\x08\x00", "export.json: is compressed (gzip), an export is UTF-8 text (not_text)", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cases, problems := read(t, &reportportal.Reader{}, strings.NewReader(tt.export))
			if diff := cmp.Diff([]string{tt.want}, problems); diff != "" || len(cases) != tt.kept {
				t.Errorf("%d cases before it, want %d; problems (-want +got):\n%s", len(cases), tt.kept, diff)
			}
		})
	}
}

// What is wrong is reported, each with its path; the others are cases.
func TestAccept_IN2_AnItemThatIsWrongIsNamedAndTheOthersAreCases(t *testing.T) {
	t.Parallel()
	export := `{"content":[` + item(1, "") + ",\n" +
		`{"id":2,"name":3,"type":"STEP","status":"FAILED","hasStats":"yes"},` + "\n" +
		`{"id":3,"type":"STEP","status":"FAILED"},` + "\n" +
		`{"id":4,"name":null,"type":"STEP"},` + "\n" +
		`{"id":5,"name":"t","type":"STEP","status":"BROKEN"},` + "\n" +
		`null, "six",` + "\n" +
		item(7, `,"issue":{"issueType":[]}`) + ",\n" +
		item(8, `,"logs":[{"itemId":8,"message":3,"level":"ERROR"},{"message":"kept","level":"ERROR"}]`) + ",\n" +
		`{"id":9,"number":1,"name":"a launch","status":"FAILED"}]}`
	cases, problems := read(t, &reportportal.Reader{}, strings.NewReader(export))
	want := []string{
		"export.json:2: content[1].name: is no string (wrong_type)\nexport.json:2: content[1].hasStats: is neither true nor false (wrong_type)",
		"export.json:3: content[2].name: is missing (missing_field)",
		"export.json:4: content[3].name: is missing (missing_field)\nexport.json:4: content[3].status: is missing (missing_field)",
		"export.json:5: content[4].status: is no status of ReportPortal (invalid_value)",
		"export.json:6: content[5]: is no object (wrong_type)",
		"export.json:6: content[6]: is no object (wrong_type)",
		"export.json:7: content[7].issue.issueType: is no string (wrong_type)",
		"export.json:8: content[8].logs[0].message: is no string (wrong_type)",
	}
	check.Same(t, cmp.Diff(want, problems), "problems (-want +got)")
	if len(cases) != 2 || cases[0].ID != "1" || cases[1].ID != "8" || cases[1].Documents[0].Text != "kept\n" {
		t.Errorf("cases %+v", cases)
	}
	for range new(reportportal.Reader).Read("export.json", strings.NewReader(export)) { //nolint:errcheck // an iterator that goes on after the break panics, whatever it gives
		break // who wants no more gets no more
	}
}

func TestReaderErrorIsTheLast(t *testing.T) {
	t.Parallel()
	broken := errors.New("the pipe broke")
	var last error
	n := 0
	in := io.MultiReader(strings.NewReader(item(1, "")+"\n["), iotest.ErrReader(broken))
	for _, err := range new(reportportal.Reader).Read("export.json", in) {
		n++
		last = err
	}
	if line := (*docket.LineError)(nil); n != 2 || !errors.Is(last, broken) || errors.As(last, &line) {
		t.Errorf("%d entries, the last error is %v", n, last)
	}
}

// It is not parallel: it looks at the memory of the process.
func TestAccept_CLI6_ABigLogIsCutHeadAndTailWithAMark(t *testing.T) {
	for name, in := range map[string]struct {
		begin, repeated, end string
		size                 int
	}{
		"one message":   {`{"itemId":1,"level":"ERROR","message":"`, `all is \u0077ell\n`, `"}`, 50 << 20},
		"many messages": {"", logOf(1, strings.Repeat("all is well ", 80)) + ",", logOf(1, "end"), 20 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			stream := io.MultiReader(
				strings.NewReader("["+item(1, "")+","+logOf(1, "the first line")+","+in.begin),
				readers.Repeat(in.repeated, in.size),
				strings.NewReader(in.end+","+logOf(1, "AssertionError: got 1, want 2")+"]"),
			)
			cases, problems, held := readers.Big(&reportportal.Reader{}, "export.json", stream)
			if len(cases) != 1 || len(problems) > 0 {
				t.Fatalf("%d cases, problems %v", len(cases), problems)
			}
			if held > 4*int64(in.size) {
				t.Errorf("reading holds %d bytes", held)
			}
			text := cases[0].Documents[0].Text
			if len(text) > reportportal.DefaultHeadBytes+reportportal.DefaultTailBytes+128 ||
				!strings.HasPrefix(text, "the first line\n") || !strings.HasSuffix(text, "want 2\n") {
				t.Errorf("the log has %d bytes, or lost its head or tail", len(text))
			}
			if !strings.Contains(text, " bytes cut here ...]\n") || cases[0].Light.Confidence != 0.60 {
				t.Errorf("no mark, or Light did not see the tail: %+v", cases[0].Light)
			}
		})
	}
}

// TestAccept_IG4_BombsInExports: each is rejected with its limit, or read in a few times its bytes. It is not parallel.
func TestAccept_IG4_BombsInExports(t *testing.T) {
	for name, bomb := range map[string]struct{ begin, repeated, end, want string }{
		"a text":   {`{"a":"`, "all is well ", "", "the text has more than 64 MiB: get smaller pages (too_large)"},
		"elements": {"[", "1,", "1]", "has no test item of ReportPortal (empty_docket)"},
		"fields":   {"{", `"name":[],`, `"a":1}`, `is not valid JSON at column 12: the field "name" stands here a second time (not_json)`},
		"objects":  {"[", `{"name":[]},`, "1]", "has no test item of ReportPortal (empty_docket)"},
		"nesting":  {"", "[", "", "(not_json)"},
	} {
		t.Run(name, func(t *testing.T) {
			size := 16 << 20
			if bomb.end == "" {
				size = 70 << 20
			}
			in := io.MultiReader(strings.NewReader(bomb.begin), readers.Repeat(bomb.repeated, size), strings.NewReader(bomb.end))
			_, problems, held := readers.Big(&reportportal.Reader{}, "export.json", in)
			if len(problems) != 1 || !strings.HasSuffix(problems[0], bomb.want) {
				t.Errorf("%q, want %s", problems, bomb.want)
			}
			if held > 256<<20 {
				t.Errorf("reading holds %d MiB", held>>20)
			}
		})
	}
}

// FuzzRead holds that every case is one that the contract allows, and that every excerpt stands in its log.
func FuzzRead(f *testing.F) {
	for _, name := range exports() {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 300)
	}
	f.Add(item(1, `,"logs":[{"message":"\ud800\u0000","level":"error"}]`)+logOf(1, "é"), 1)
	f.Fuzz(func(t *testing.T, export string, keep int) {
		keep = 1 + (keep&0xffff)%4096
		reader := reportportal.Reader{HeadBytes: keep, TailBytes: keep, Truth: true}
		seen := map[string]bool{}
		for entry, err := range reader.Read("export.json", strings.NewReader(export)) {
			if err != nil {
				continue
			}
			if seen[entry.Case.ID] {
				t.Errorf("case %q was given before", entry.Case.ID)
			}
			seen[entry.Case.ID] = true
			readers.Check(t, &entry.Case)
		}
	})
}

// TestAccept_IN2_AnExportOfReportPortal reads what its API gives, in pages and nested.
func TestAccept_IN2_AnExportOfReportPortal(t *testing.T) {
	t.Parallel()
	for _, export := range exports() {
		golden := filepath.Join("testdata", strings.TrimSuffix(filepath.Base(export), ".json")+".want")
		readers.Golden(t, export, golden, func() readers.Reader { return &reportportal.Reader{Truth: true} })
	}
}

// exports are the files of the examples and of testdata.
func exports() []string {
	return []string{"../../../examples/dockets/inputs/reportportal.json", "testdata/nested.json"}
}
