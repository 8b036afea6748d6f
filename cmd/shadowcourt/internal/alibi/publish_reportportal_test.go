package alibi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/publish/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// result is a line of `try --format jsonl`.
func result(id string, status trial.Status, label string, confidence float64, members ...string) string {
	r := trial.Result{
		ID: id, Members: members, Activated: true, Light: &trial.Answer{Classification: "pb001", Confidence: .5},
		Verdict: &trial.Ruling{
			Decision: abi.Affirm, FinalClassification: label, Confidence: confidence,
			Reasoning: fmt.Sprintf("The charge %s stands at %v. For %s: [0] log:L2 (1.00 nats).", label, confidence, label),
		},
		Final: trial.Final{Status: status, Classification: label, Confidence: confidence},
	}
	data, err := json.Marshal(r)
	if err != nil {
		panic(err) // of the test's own value
	}
	return string(data) + "\n"
}

// certificate is a report whose answers of the court are certified from 0.9 on, and none of Light.
func certificate(t *testing.T) string {
	t.Helper()
	var points []measure.Point
	for range 300 {
		points = append(points, measure.Point{Confidence: .9, Right: true})
	}
	data, err := json.Marshal(&measure.Report{Format: measure.ReportFormat, Bands: &measure.Bands{
		Light: measure.Certify(points[:3], measure.BandOptions{}), Court: measure.Certify(points, measure.BandOptions{}),
	}})
	must.Do(t, err)
	return file(t, "report.json", string(data))
}

func (o printed) row(id string) string {
	for line := range strings.Lines(o.out) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == id {
			return strings.Join(fields, " ")
		}
	}
	return ""
}

func open1() *testkit.Defect { return &testkit.Defect{Type: "ti001"} }

func TestAccept_IG6_ReportPortalGetsCertifiedAnswersOnceAndNobodysDecisionIsTouched(t *testing.T) {
	t.Parallel()
	items := map[int64]*testkit.Defect{
		1: open1(), 2: {Type: "pb001"}, 3: {Type: "ti001", Comment: "Ana looks into it"}, 4: {Type: "ab001", AutoAnalyzed: true},
		5: {Type: "ti001", IgnoreAnalyzer: true}, 6: {Type: "ti001", Tickets: []map[string]any{{"ticketId": "A-1", "btsUrl": "u", "btsProject": "A", "url": "u"}}},
		7: {Type: "ti_9"}, 8: open1(), 9: open1(), 10: open1(), 11: open1(), 12: open1(), 13: open1(),
	}
	before := map[int64]testkit.Defect{}
	for id, d := range items {
		before[id] = *d
	}
	p := testkit.NewReportPortal(t, secret, items)
	var lines strings.Builder
	lines.WriteString(result("1", "affirmed", "pb_1h7", .93, "12"))
	for _, id := range []string{"2", "3", "4", "5", "6", "7", "99", "../../x", "1#2"} {
		lines.WriteString(result(id, "amended", "ab001", .95))
	}
	lines.WriteString(result("8", "affirmed", "si001", .89) + result("9", "mistrial", "", 0) + result("10", "affirmed", "ab_unknown", .99) +
		result("11", "accepted", "pb001", .99) + result("13", "affirmed", "ti001", .99))
	args := []string{"reportportal", file(t, "results.jsonl", lines.String()), "--server", p.URL, "--project", "cart", "--certificate", certificate(t)}

	dry := runPublish(t, args...)
	dry.expect(t, 1, "would write: 2; nothing was written", "failed: 1")
	for id, want := range map[string]string{
		"1": "1 test 1 pb_1h7 0.93 would set", "12": "12 test 12 pb_1h7 0.93 would set", "2": "leave somebody decided: pb001", "3": "leave somebody commented on it",
		"4": "ReportPortal's analyzer decided: ab001", "5": "keeps it from analysis", "6": "linked a ticket", "7": "somebody decided: ti_9", "8": "below the threshold 0.9",
		"9": "undecided: mistrial", "10": "no defect type ab_unknown", "11": "no threshold is certified for answers without a trial", "13": "not a defect type",
		"99": "failed GET /api/v1/cart/item/99: 404 Not Found", "../../x": "not the number of an item", "1#2": "not the number of an item",
	} {
		check.Contains(t, dry.row(id), want, id)
	}
	if writes := p.Writes(); len(writes) > 0 {
		t.Errorf("a dry run wrote %v", writes)
	}

	wrote := runPublish(t, append(args, "--write")...)
	wrote.expect(t, 1, "written: 2", "failed: 1")
	check.Len(t, p.Writes(), 2, "it wrote")
	for id := range items {
		d := p.Item(id)
		if id == 1 || id == 12 {
			for _, want := range []string{"Rounding (pb`_`1h7) at 0.93", "affirmed after a trial", "log:L2", "Certified: of answers from 0.9 on, a share of at most 0.05 is wrong, with confidence 0.95 (300 of 300"} {
				check.Contains(t, strings.ReplaceAll(d.Comment, `\_`, "`_`"), want, "item", id, d.Comment)
			}
			if d.Type != "pb_1h7" || !d.AutoAnalyzed || d.IgnoreAnalyzer {
				t.Errorf("item %d is %+v", id, d)
			}
		} else if fmt.Sprint(d) != fmt.Sprint(before[id]) {
			t.Errorf("item %d was %+v, is %+v", id, before[id], d)
		}
	}

	again := runPublish(t, append(args, "--write")...)
	again.expect(t, 1, "written: 0", "keep it is there already")
	if writes := p.Writes(); len(writes) > 0 {
		t.Errorf("the second run wrote %v", writes)
	}
}

func TestAccept_IG6_ADecisionBetweenReadingAndWritingStands(t *testing.T) {
	t.Parallel()
	p := testkit.NewReportPortal(t, secret, map[int64]*testkit.Defect{1: open1(), 2: open1()})
	var reads atomic.Int32
	p.Hook = func(r *http.Request, path string) http.HandlerFunc {
		if r.Method == http.MethodGet && path == "/v1/cart/item/1" {
			if reads.Add(1) == 2 {
				p.Decide(1, testkit.Defect{Type: "si001", Comment: "the disk was full"})
			}
		}
		return nil
	}
	results := file(t, "r.jsonl", result("1", "affirmed", "pb001", .95)+result("2", "affirmed", "pb001", .95))
	o := runPublish(t, "reportportal", results, "--server", p.URL, "--project", "cart", "--min-confidence", "0.9", "--write")
	o.expect(t, 0, "leave somebody decided: si001", "written: 1")
	if d := p.Item(1); d.Type != "si001" || d.Comment != "the disk was full" {
		t.Errorf("the decision became %+v", d)
	}
	if d := p.Item(2); d.Type != "pb001" || !strings.Contains(d.Comment, "it is not certified") {
		t.Errorf("%+v", d)
	}
}

func TestAccept_IG6_AnAnswerIsUpdatedUntilSomebodyChangesIt(t *testing.T) {
	t.Parallel()
	p := testkit.NewReportPortal(t, secret, map[int64]*testkit.Defect{1: open1()})
	push := func(label string, want string) testkit.Defect {
		t.Helper()
		results := file(t, "r.jsonl", result("1", "affirmed", label, .95))
		runPublish(t, "reportportal", results, "--server", p.URL, "--project", "cart", "--min-confidence", "0.9", "--write").expect(t, 0, want)
		return p.Item(1)
	}
	first := push("pb001", "set")
	second := push("ab001", "update")
	if first.Type != "pb001" || second.Type != "ab001" || first.Comment == second.Comment {
		t.Errorf("%+v, then %+v", first, second)
	}
	for name, by := range map[string]func(*testkit.Defect){
		"its type":     func(d *testkit.Defect) { d.Type = "nd001" },
		"its comment":  func(d *testkit.Defect) { d.Comment = "I saw it, too. " + d.Comment },
		"what is said": func(d *testkit.Defect) { d.Comment += " Yes." },
		"who decided":  func(d *testkit.Defect) { d.AutoAnalyzed = false },
		"back to open": func(d *testkit.Defect) { d.Type = "ti001" },
	} {
		changed := second
		by(&changed)
		p.Decide(1, changed)
		if got := push("si001", "written: 0"); fmt.Sprint(got) != fmt.Sprint(changed) {
			t.Errorf("%s: %+v became %+v", name, changed, got)
		}
	}
}

func TestAccept_IG6_HostileReportPortalIsBoundedAndTheOthersAreDone(t *testing.T) {
	t.Parallel()
	answers := hostile()
	answers["another item"] = hostileAnswer{func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":3,"status":"FAILED","issue":{"issueType":"ti001"}}`)
	}, "the server answered with item 3"}
	answers["a page"] = hostileAnswer{func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `{"id":1}`)
	}, `the answer is "text/html", not JSON`}
	for name, tc := range answers {
		for _, method := range []string{http.MethodGet, http.MethodPut} {
			t.Run(name+" "+method, func(t *testing.T) {
				t.Parallel()
				want := tc.want
				if name == "another item" && method == http.MethodPut {
					want = "another form"
				}
				p := testkit.NewReportPortal(t, secret, map[int64]*testkit.Defect{1: open1(), 2: open1()})
				var later atomic.Bool
				p.Hook = func(r *http.Request, path string) http.HandlerFunc {
					if r.Method == method && (path == "/v1/cart/item/1" || method == http.MethodPut && !later.Load()) {
						later.Store(true)
						return tc.answer
					}
					return nil
				}
				results := file(t, "r.jsonl", result("1", "affirmed", "pb001", .95)+result("2", "affirmed", "pb001", .95))
				o := runPublish(t, "reportportal", results, "--server", p.URL, "--project", "cart", "--min-confidence", "0.9", "--write")
				o.expect(t, 1, want, "written: 1", "failed: 1")
				if d := p.Item(2); d.Type != "pb001" {
					t.Errorf("item 2 is %+v", d)
				}
				if len(o.all()) > 4000 {
					t.Errorf("it says %d bytes", len(o.all()))
				}
			})
		}
	}
}

func TestAccept_IG6_AServerThatIsGoneIsNotAskedOnAndOn(t *testing.T) {
	t.Parallel()
	items := map[int64]*testkit.Defect{}
	var lines strings.Builder
	for id := int64(1); id <= 20; id++ {
		items[id] = open1()
		lines.WriteString(result(strconv.FormatInt(id, 10), "affirmed", "pb001", .95))
	}
	p := testkit.NewReportPortal(t, secret, items)
	p.Hook = func(_ *http.Request, path string) http.HandlerFunc {
		if strings.Contains(path, "/item") {
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
		}
		return nil
	}
	o := runPublish(t, "reportportal", file(t, "r.jsonl", lines.String()), "--server", p.URL, "--project", "cart", "--min-confidence", "0.9", "--write")
	o.expect(t, 1, "not tried, after 5 failures in a row", "failed: 20")
	check.Len(t, p.Requests(), 6, "requests")
}

func TestAccept_IG6_ReportPortalNeedsAThresholdAndAProject(t *testing.T) {
	t.Parallel()
	results := file(t, "r.jsonl", result("1", "affirmed", "pb001", .95))
	p := testkit.NewReportPortal(t, secret, map[int64]*testkit.Defect{1: open1()})
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "from which confidence on?"},
		{[]string{"--min-confidence", "0"}, "use a number above 0"},
		{[]string{"--min-confidence", "0.9", "--certificate", certificate(t)}, "exclude each other"},
		{[]string{"--certificate", results}, "that of a report of calibrate"},
		{[]string{"--min-confidence", "0.9", "--write", "--dry-run"}, "exclude each other"},
		{[]string{"--min-confidence", "0.9", "--project", "../x"}, "is not the name of a project"},
		{[]string{"--min-confidence", "0.9", "--server", "http://rp.example"}, "use https"},
	} {
		runPublish(t, append([]string{"reportportal", results, "--server", p.URL, "--project", "cart"}, tc.args...)...).expect(t, 2, tc.want)
	}
	for text, want := range map[string]string{
		"{": "line 1: not a result", `{"id":"1"}`: "line 1: no result", "[]\n": "line 1: not a result",
		result("1", "affirmed", "pb001", .9) + result("1", "affirmed", "pb001", .9): `line 2: a second result of "1"`,
		result("1", "affirmed", "pb001", 1.5):                                       "outside of [0, 1]",
	} {
		runPublish(t, "reportportal", file(t, "r.jsonl", text), "--server", p.URL, "--project", "cart", "--min-confidence", "0.9").expect(t, 2, want)
	}
	if asked := p.Requests(); len(asked) > 0 {
		t.Errorf("it asked %v", asked)
	}
}

// hostileAnswer is one of a server that no client may trust, with what an error names.
type hostileAnswer struct {
	answer http.HandlerFunc
	want   string
}

func hostile() map[string]hostileAnswer {
	say := func(status int, kind, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	return map[string]hostileAnswer{
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `"`)
			for piece := []byte(strings.Repeat("x", 64<<10)); ; {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}, "more than 8 MiB"},
		"of wrong types": {say(200, "application/json", `{"id":"../../x","number":"../../x","issue":7,"fields":[],"body":{}}`), "another form"},
		"not JSON":       {say(200, "application/json", "<html>"), "another form"},
		"cut":            {say(200, "application/json", `{"id":1,"na`), "another form"},
		"a failure":      {say(500, "text/html", "<h1>\x1b[31mboom</h1>"), "500 Internal Server Error: <h1>␛[31mboom"},
		"of another server": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/stolen", http.StatusTemporaryRedirect)
		}, "307 Temporary Redirect"},
		"an echo": {func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Header.Get("Authorization"), http.StatusForbidden)
		}, "403 Forbidden: "},
		"a cut connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	}
}

// secret is the token of all tests: it must not be seen anywhere.
const secret = "s3cr3t-T0ken-of-a-tracker"

// printed is what a command wrote, and how it ended.
type printed struct {
	out, err string
	code     int
}

// all is everything, for errors of tests.
func (o printed) all() string { return o.out + o.err }

// runPublish runs `shadowcourt publish` with the secret in a file, and looks for it in all that it writes.
func runPublish(t *testing.T, args ...string) printed {
	t.Helper()
	args = append([]string{"publish"}, append(args, "--token", file(t, "token", secret+"\n"))...)
	var out, err bytes.Buffer
	code := cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err}, func(s cli.Streams) []*cobra.Command {
		return []*cobra.Command{NewPublish(s, "test")}
	})
	o := printed{out.String(), err.String(), code}
	if strings.Contains(o.all(), secret) || strings.Contains(o.all(), secret[:len(secret)-3]) {
		t.Errorf("the token is printed:\n%s", o.all())
	}
	return o
}

// expect fails a test where a command wrote or did something else.
func (o printed) expect(t *testing.T, code int, wants ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d\n%s", o.code, code, o.all())
	}
	for _, want := range wants {
		if !strings.Contains(strings.Join(strings.Fields(o.all()), " "), want) {
			t.Errorf("%q is not in\n%s", want, o.all())
		}
	}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
