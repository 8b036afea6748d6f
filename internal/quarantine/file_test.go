package quarantine_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/quarantine"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const today = quarantine.Day("2026-11-26")

var now = time.Date(2026, 11, 26, 20, 15, 0, 0, time.UTC)

const sample = `# Agreed with the platform team.

max_days: 60 # not the usual 90

tests:
  # Wait for the new bucket.
  - test: example.com/shop/cart.TestUpload
    group: example.com/shop/cart
    reason: "the bucket is slow" # see the runbook
    proof:
      attribution: flaky
      confidence: 0.99
      runs: 3 of 100 failed on the base
      base: {failed: 3, runs: 100}
      commit: 9ab12cd0e1f2
      # Signed by CI.
      link: https://ci.example/run/17
    owner: "@acme/infra"
    since: 2026-11-01
    expires: "2026-12-31"
    failures:
      # Counted by propose.
      count: 2
      first: 2026-11-01T08:00:00Z
      last: 2026-11-20T09:00:00Z
  # The last one.
  - test: tests.test_cart.TestTotal.test_sum[1-2]
    reason: draws by chance
    proof: {link: proofs/cart.proof}
    owner: ann@example.com
    since: 2026-11-20
    expires: 2026-11-25
# The end.
`

func parse(t *testing.T, text string) *quarantine.File {
	t.Helper()
	return must.Get(quarantine.Parse("q.yaml", []byte(text), today))(t)
}

func written(t *testing.T, f *quarantine.File) string {
	t.Helper()
	return string(must.Get(f.Bytes())(t))
}

func TestAccept_IG3_AFileIsRead(t *testing.T) {
	t.Parallel()
	f := parse(t, sample)
	e := f.Find("example.com/shop/cart.TestUpload")
	if e == nil || e.Line != 7 || e.Owner != "@acme/infra" || e.Expires != "2026-12-31" || e.Proof.Base.Failed != 3 || e.Failures.Count != 2 || f.MaxDays != 60 {
		t.Fatalf("%+v", e)
	}
	if e.Expired("2026-12-31") || !e.Expired("2027-01-01") {
		t.Error("the last day counts, the next one does not")
	}
	expired := f.Expired(today)
	if len(expired) != 1 || expired[0].Owner != "ann@example.com" {
		t.Fatalf("%+v", expired)
	}
	const want = "q.yaml:27: tests.test_cart.TestTotal.test_sum[1-2]: the quarantine expired on 2026-11-25: ann@example.com has to mend the test and remove the entry, or to set another date, at most 60 days ahead"
	check.Equal(t, f.Overdue(expired[0]).Error(), want)
	if (*quarantine.File)(nil).Find("x") != nil || f.Find("x") != nil {
		t.Error("an entry that is not there was found")
	}
}

func TestAccept_IG3_AllFaultsAreNamed(t *testing.T) {
	t.Parallel()
	_, err := quarantine.Parse("q.yaml", []byte(`max_days: 0
tests:
  - test: a
    owner: " "
    since: 2026-11-20
    expires: 2027-03-01
    proof: {attribution: caused, confidence: 2}
    team: x
  - test: a
    reason: r
    proof: {attribution: maybe, runs: some}
    owner: o
    since: 2026-11-20
    expires: soon
    failures: {count: 1, first: yesterday}
  - test: b
    reason: r
    proof: {runs: some, base: {failed: 3, runs: 2}}
    owner: o
    since: 2026-11-20
    expires: 2026-11-19
`), today)
	if err == nil {
		t.Fatal("no fault was found")
	}
	for _, want := range []string{
		"q.yaml:1:11: max_days: want 1 to 365 days", "q.yaml:8:5: tests[0].team: unknown key", "tests[0].reason: is missing", "tests[0].owner: is missing",
		"tests[0].expires: 2027-03-01 is more than 90 days ahead: the last date is 2027-02-24", "tests[0].proof.attribution: caused: a change made the test fail",
		"tests[0].proof: say what showed it", "tests[0].proof.confidence", `q.yaml:9:11: tests[1].test: "a" is in line 3 already`, "tests[1].proof.attribution: want flaky",
		"tests[1].expires: want a date", "tests[1].failures.first: want a time", "tests[2].proof.base: 3 of 2 runs", "tests[2].expires: 2026-11-19 is before since",
	} {
		check.Contains(t, err.Error(), want, err)
	}
	for _, text := range []string{"", "[]", "tests: 3", "tests: &a\n  - *a", strings.Repeat("#", quarantine.MaxBytes+1), "tests:\n" + strings.Repeat("  - {}\n", quarantine.MaxEntries+1)} {
		if _, err := quarantine.Parse("q.yaml", []byte(text), today); err == nil {
			t.Errorf("%.20q was read", text)
		}
	}
}

func comments(text string) (list []string) {
	for line := range strings.Lines(text) {
		if _, c, ok := strings.Cut(line, "#"); ok {
			list = append(list, strings.TrimSpace(c))
		}
	}
	return list
}

func TestAccept_IG3_EditsKeepWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	f := parse(t, sample)
	before := comments(sample)
	if got := comments(written(t, f)); !reflect.DeepEqual(got, before) {
		t.Fatalf("%q\nare not\n%q\n%s", got, before, written(t, f))
	}
	e := f.Find("example.com/shop/cart.TestUpload")
	failures := e.Failures
	if !failures.Add("d1", "c1", now) || failures.Add("d1", "c1", now.Add(time.Hour)) {
		t.Fatal("a document counts once")
	}
	e.Failures = failures
	added := quarantine.Entry{
		Test: "example.com/shop/cart.TestA\n- test: x", Reason: "yes", Owner: "@b: c # d", Since: today, Expires: "2026-12-01",
		Proof: quarantine.Proof{Attribution: "flaky", Confidence: 0.98, Runs: "1 of 2", Base: quarantine.Rate{Failed: 1, Runs: 2}, Date: today},
	}
	f.Add(added)
	text := written(t, f)
	if strings.Count(text, "#") != len(before)+1 || !strings.Contains(text, "max_days: 60 # not the usual 90") || !strings.Contains(text, `expires: "2026-12-31"`) {
		t.Errorf("people wrote something else:\n%s", text)
	}
	again := parse(t, text)
	check.Equal(t, written(t, again), text, "writing twice differs")
	if got := again.Find("example.com/shop/cart.TestUpload").Failures; got.Count != 3 || got.Longest != 6*24*time.Hour+11*time.Hour+15*time.Minute || got.Head != "c1" || len(got.Documents) != 1 {
		t.Errorf("%+v", got)
	}
	got := *again.Find(added.Test)
	got.Line = 0
	if !reflect.DeepEqual(got, added) {
		t.Errorf("%+v\nis not\n%+v", got, added)
	}
	again.Remove(added.Test, now, "expired")
	if again.Find(added.Test) != nil || len(again.Removed) != 1 || !strings.Contains(written(t, again), `why: expired`) {
		t.Error(written(t, again))
	}
	third := parse(t, written(t, again))
	if len(third.Removed) != 1 || third.Removed[0].Test != added.Test {
		t.Errorf("%+v", third.Removed)
	}
	third.Forget(now.Add(time.Hour))
	if text := written(t, third); strings.Contains(text, "removed") || !reflect.DeepEqual(comments(text), before) {
		t.Errorf("a removal was not forgotten, or a comment was:\n%s", text)
	}
	const usual = "max_days: 90 # as agreed\ntests: []\nremoved: [] # none\n# The end.\n"
	if text := written(t, parse(t, usual)); !reflect.DeepEqual(comments(text), []string{"as agreed", "none", "The end."}) {
		t.Error(text)
	}
}

func TestAccept_IG3_ANewFile(t *testing.T) {
	t.Parallel()
	f := quarantine.New("q.yaml")
	f.Add(entry("b", today))
	f.Add(entry("a", today))
	text := written(t, f)
	if got := parse(t, text); len(got.Tests) != 2 || got.Tests[0].Test != "shop.a" || !strings.HasPrefix(text, "# Tests that") {
		t.Error(text)
	}
}

// TestAccept_IG3_SilenceThatIsNoChance has the figures of the tests of Go's flake watcher.
func TestAccept_IG3_SilenceThatIsNoChance(t *testing.T) {
	t.Parallel()
	const hour, day = time.Hour, 24 * time.Hour
	for _, n := range []int{1, 2, 3, 5, 10, 100} {
		span := 1000 * hour
		limit := time.Duration(float64(span) * (math.Pow(0.01, -1/float64(n)) - 1))
		if p := quarantine.SilenceProbability(n+1, span, limit-hour); p < 0.01 {
			t.Errorf("%d: %v below the limit", n, p)
		}
		if p := quarantine.SilenceProbability(n+1, span, limit+hour); p >= 0.01 {
			t.Errorf("%d: %v above the limit", n, p)
		}
	}
	for _, tc := range []struct {
		name    string
		days    []float64 // before now
		stopped bool
	}{
		{"a steady flake went silent", []float64{200, 190, 180, 170, 160, 150, 140, 130, 120, 110}, true},
		{"it goes on", []float64{200, 150, 100, 50, 10}, false},
		{"not silent for long enough", []float64{400, 300, 200, 60}, false},
		{"a quick flake", []float64{40, 38, 36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14}, true},
		{"two bursts in a year", []float64{360, 359, 358, 357, 356, 355, 354, 353, 352, 351, 89, 88, 87, 86, 85, 84, 83, 82, 81, 80}, false},
		{"one failure", []float64{1000}, false},
		{"one burst", []float64{60, 59.9, 59.8, 59.7, 59.6}, false},
		{"in the future", []float64{10, 5, -5}, false},
	} {
		var f quarantine.Failures
		for i, d := range tc.days {
			if !f.Add(fmt.Sprint("d", i), fmt.Sprint("c", i), now.Add(-time.Duration(d*float64(day)))) {
				t.Fatal("not counted")
			}
		}
		if p, stopped := f.Stopped(now); stopped != tc.stopped {
			t.Errorf("%s: p = %v", tc.name, p)
		}
	}
}

func TestAccept_IG3_AFailureIsCountedOnce(t *testing.T) {
	t.Parallel()
	var f quarantine.Failures
	for i := range 200 {
		f.Add(fmt.Sprint("d", i), fmt.Sprint("c", i/2), now.Add(time.Duration(i)*time.Hour)) // each commit fails twice in a row
	}
	if f.Count != 100 || len(f.Documents) != 50 || !f.Last.Equal(now.Add(199*time.Hour)) || f.Longest != time.Hour {
		t.Errorf("%+v", f)
	}
	before := f
	for i := range 200 {
		if f.Add(fmt.Sprint("d", i), fmt.Sprint("c", i/2), now.Add(time.Duration(i)*time.Hour)) {
			t.Errorf("d%d was counted again", i)
		}
	}
	if !reflect.DeepEqual(f, before) {
		t.Errorf("%+v", f)
	}
	var late quarantine.Failures // documents in another order
	late.Add("b", "2", now)
	late.Add("a", "1", now.Add(-48*time.Hour))
	if late.Count != 2 || !late.First.Equal(now.Add(-48*time.Hour)) || late.Longest != 48*time.Hour {
		t.Errorf("%+v", late)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("tests: []\nremoved: [{test: a, on: 2026-11-26T20:15:00Z}] # why\n"))
	f.Add([]byte("# a\n\nmax_days: 90\ntests:\n  # b\n  - {test: x, reason: r, proof: {runs: y}, owner: o, since: 2026-11-20, expires: \"2026-11-26\", failures: {count: 1, first: 2026-11-20T00:00:00+02:00, last: 2026-11-21T00:00:00Z, documents: [a, # c\n a]}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := quarantine.Parse("q.yaml", data, today)
		if err != nil {
			return
		}
		file.Add(quarantine.Entry{Test: "new", Reason: "r", Owner: "o", Since: today, Expires: today, Proof: quarantine.Proof{Runs: "x"}})
		text := must.Get(file.Bytes())(t)
		for i := range file.Tests {
			if i > 0 && file.Tests[i].Test == "new" && file.Tests[i-1].Test == "new" {
				return // it was there already
			}
		}
		again, err := quarantine.Parse("q.yaml", text, today)
		if err != nil {
			check.Contains(t, err.Error(), "in line", err, text)
			return
		}
		for _, f := range []*quarantine.File{file, again} {
			for i := range f.Tests {
				f.Tests[i].Line = 0
			}
		}
		check.Same(t, cmp.Diff(file, again, cmpopts.IgnoreUnexported(quarantine.File{}), cmpopts.EquateEmpty()), text)
	})
}

func TestAccept_IG3_LinksAreRejected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	must.Write(t, outside, map[string]string{"quarantine.yaml": "secret line\n"})
	for name, link := range map[string][2]string{
		"the folder": {outside, filepath.Join(dir, "a", ".shadowcourt")}, "the file": {filepath.Join(outside, "quarantine.yaml"), filepath.Join(dir, "b", ".shadowcourt", "quarantine.yaml")},
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(link[1]), 0o700))
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Skip(err)
		}
		file := link[1]
		if name == "the folder" {
			file = filepath.Join(file, "quarantine.yaml")
		}
		if _, err := quarantine.Load(file, quarantine.DayOf(time.Now())); !errors.Is(err, quarantine.ErrLink) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const (
	goReport    = "building\n" + `{"Action":"run","Package":"p","Test":"TestA/b"}` + "\nnot JSON\n" + `{"Action":"fail","Package":"q"}` + "\n"
	junitReport = `<testsuites><testsuite name="s"><testcase classname="c" name="t"/><testcase classname="same" name="same"/></testsuite></testsuites>`
)

func TestAccept_IG3_TestsOfReports(t *testing.T) {
	t.Parallel()
	var k quarantine.Known
	for _, report := range []string{strings.TrimPrefix(goReport, "building\n"), junitReport} {
		must.Do(t, k.Read("r", strings.NewReader(report)))
	}
	for id, want := range map[string]bool{"p.TestA/b": true, "q": true, "c.t": true, "same": true, "p.TestA": false, "c": false} {
		check.Equal(t, k.Has(id), want, id)
	}
	for _, report := range []string{"", "<testsuite><testcase", "nonsense", "{" + strings.Repeat("x", 17<<20)} {
		if err := k.Read("r", strings.NewReader(report)); err == nil {
			t.Errorf("%.20q was read", report)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(goReport))
	f.Add([]byte(junitReport))
	f.Fuzz(func(t *testing.T, data []byte) {
		var k quarantine.Known
		if err := k.Read("r", strings.NewReader(string(data))); err == nil && k.Has("") {
			t.Error("a test without a name")
		}
	})
}

const day = 24 * time.Hour

// failure is a failure with runs of the base alone.
func failure(id, label string, passed, same int) answers.Failure {
	verdict := alibi.NotYours
	switch label {
	case alibi.Caused:
		verdict = alibi.IsYours
	case "":
		verdict = alibi.IsOpen
	}
	return answers.Failure{
		Answer: alibi.Answer{
			ID: "shop." + id, Group: "shop", Test: id, Verdict: verdict, Label: label, Confidence: 0.99, Base: abi.Certified, Why: "1 of 10 failed here",
			Runs: []trial.Experiment{{
				Factors: trial.Factors{Product: abi.Base, Tests: abi.Base, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: passed + same},
				Outcome: abi.OutcomeMixed, Passed: passed, Same: same, Loaded: abi.Certified,
			}},
		},
		Place: answers.Place{File: "shop/a_test.go"},
	}
}

func document(name string, ago time.Duration, failures ...answers.Failure) quarantine.Document {
	return quarantine.Document{
		Document: &answers.Document{Base: answers.Base{Commit: "9ab12cd"}, Head: "head" + name, Failures: failures}, Name: name + ".json", Digest: name, At: now.Add(-ago),
	}
}

func options() quarantine.Options {
	return quarantine.Options{Now: now, Days: 30, Confidence: 0.95, Owners: func(path string) []string {
		if path == "shop/a_test.go" {
			return []string{"@ann", "@org/shop"}
		}
		return nil
	}}
}

func propose(t *testing.T, f *quarantine.File, o quarantine.Options, documents ...quarantine.Document) (changes []quarantine.Change, notes string) {
	t.Helper()
	changes, list, err := quarantine.Propose(f, documents, o)
	must.Do(t, err)
	notes = strings.Join(list, "\n")
	text := written(t, f)
	again := must.Get(quarantine.Parse("q.yaml", []byte(text), quarantine.DayOf(o.Now)))(t, text)
	// The same documents again, after the file was written: nothing changes.
	more, _, err := quarantine.Propose(again, documents, o)
	if err != nil || len(more) > 0 || written(t, again) != text {
		t.Errorf("%v: proposing again changes %v\n%s\n%s", err, more, text, written(t, again))
	}
	return changes, notes
}

func TestAccept_IG3_ProvenFlakesAreProposed(t *testing.T) {
	t.Parallel()
	f := quarantine.New("q.yaml")
	changes, notes := propose(t, f, options(), document("b", time.Hour, failure("TestA", alibi.Flaky, 9, 1)), document("a", 2*day, failure("TestA", alibi.Flaky, 90, 10)))
	if len(changes) != 1 || changes[0].Kind != quarantine.Add || notes != "" {
		t.Fatalf("%+v\n%s", changes, notes)
	}
	const want = `- test: shop.TestA
  group: shop
  reason: passes and fails on the base, too
  proof:
    attribution: flaky
    confidence: 0.99
    runs: 1 of 10 failed here
    base: {failed: 1, runs: 10}
    base_code: certified
    commit: 9ab12cd
    date: 2026-11-26
    link: b.json
  owner: '@ann @org/shop'
  since: 2026-11-26
  expires: 2026-12-26
  failures:
    count: 2
    first: 2026-11-24T20:15:00Z
    last: 2026-11-26T19:15:00Z
    head: headb
    longest: 47h0m0s
    documents: [a, b]
`
	check.Equal(t, changes[0].Entry, want)
}

// TestAccept_IG3_NothingElseIsProposed: what a change did, what fails on the base just the same, and what is not proven.
func TestAccept_IG3_NothingElseIsProposed(t *testing.T) {
	t.Parallel()
	unsure, contradicted, starved, mixed, unowned := failure("TestUnsure", alibi.Flaky, 9, 1), failure("TestContradicted", alibi.Flaky, 9, 1), failure("TestStarved", alibi.Flaky, 9, 1),
		failure("TestMixed", alibi.Flaky, 9, 1), failure("TestUnowned", alibi.Flaky, 9, 1)
	unsure.Confidence = 0.9
	contradicted.Base = abi.Contradicted
	starved.Runs[0].Environment = abi.StarvedEnvironment
	mixed.Runs[0].Product = abi.Head
	unowned.File = "elsewhere_test.go"
	long := failure(strings.Repeat("x", 5000), alibi.Flaky, 9, 1)
	f := quarantine.New("q.yaml")
	changes, notes := propose(t, f, options(),
		document("a", day, failure("TestMadeFlaky", alibi.Caused, 10, 0), failure("TestBroken", alibi.Preexisting, 0, 10), failure("TestOpen", "", 5, 0), failure("TestEnv", alibi.Environment, 0, 5),
			unsure, contradicted, starved, mixed, unowned, long, failure("TestOther", alibi.Flaky, 10, 0)),
		document("b", time.Hour, failure("TestMadeFlaky", alibi.Flaky, 9, 1)), // the change came to the base
		document("c", 100*day, failure("TestOld", alibi.Flaky, 9, 1)),
	)
	if len(changes) > 0 || len(f.Tests) > 0 {
		t.Fatalf("%+v", changes)
	}
	for _, want := range []string{
		"b.json: shop.TestMadeFlaky: not proposed: a.json says that a change made it fail", "TestUnsure: not proposed: flaky with a confidence of 0.900, below 0.95",
		"TestContradicted: not proposed: the base ran code that is not its own", "TestStarved: not proposed: the base did not both", "TestMixed: not proposed", "TestOther: not proposed",
		"xx: not proposed: the name is too long", "TestUnowned: not proposed: no owner is known", "c.json: not counted: it is of 2026-08-18, more than 90 days ago",
	} {
		check.Contains(t, notes, want)
	}
	for _, hidden := range []string{"TestBroken", "TestOpen", "TestEnv"} {
		if strings.Contains(notes, hidden) {
			t.Errorf("%s is no flake, and nothing is to say of it:\n%s", hidden, notes)
		}
	}
	o := options()
	o.Owner, o.Proof = "@fallback", "proofs/1"
	if changes, _ := propose(t, quarantine.New("q.yaml"), o, document("a", day, unowned)); len(changes) != 1 || !strings.Contains(changes[0].Entry, "owner: '@fallback'") || !strings.Contains(changes[0].Entry, "link: proofs/1") {
		t.Errorf("%+v", changes)
	}
}

// entry is one of a test in quarantine that failed so many days ago.
func entry(name string, expires quarantine.Day, days ...int) quarantine.Entry {
	e := quarantine.Entry{Test: "shop." + name, Group: "shop", Reason: "r", Owner: "@ann", Since: "2026-09-01", Expires: expires, Proof: quarantine.Proof{Runs: "x"}}
	for _, d := range days {
		at := now.Add(-time.Duration(d) * day)
		e.Failures.Add(at.Format("0102"), at.Format("0102"), at)
	}
	return e
}

func TestAccept_IG3_EntriesLeave(t *testing.T) {
	t.Parallel()
	f := quarantine.New("q.yaml")
	f.Add(entry("TestExpired", "2026-11-25"))
	f.Add(entry("TestLast", "2026-11-26"))
	f.Add(entry("TestSilent", "2026-12-26", 40, 38, 36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14))
	f.Add(entry("TestSilentAndBack", "2026-12-26", 40, 38, 36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14))
	f.Add(entry("TestTwice", "2026-12-26", 40, 10))
	f.Add(entry("TestMadeFlaky", "2026-12-26", 2))
	f.Add(entry("TestOffline", "2026-12-26", 2))
	before := *f.Find("shop.TestMadeFlaky")
	changes, notes := propose(t, f, options(), document("new", day, failure("TestSilentAndBack", alibi.Preexisting, 0, 3), failure("TestMadeFlaky", alibi.Caused, 9, 0),
		failure("TestOffline", alibi.Environment, 0, 2), failure("TestExpired", alibi.Flaky, 9, 1)))
	got := map[string]quarantine.Kind{}
	for _, c := range changes {
		got[c.Test] = c.Kind
	}
	if len(changes) != 3 || got["shop.TestExpired"] != quarantine.Remove || got["shop.TestSilent"] != quarantine.Remove || got["shop.TestSilentAndBack"] != quarantine.Count {
		t.Fatalf("%+v", changes)
	}
	if !strings.Contains(changes[0].Why, "expired on 2026-11-25: its failures block again until @ann mends it") ||
		changes[1].Why != "stopped: 14 failures from 2026-10-17 to 2026-11-12, and such a silence since has a probability of 0.37 %" ||
		changes[2].Why != "15 failures (14 before), the last on 2026-11-25" {
		t.Errorf("%+v", changes)
	}
	if f.Find("shop.TestMadeFlaky").Failures.Count != before.Failures.Count || !strings.Contains(notes, "shop.TestMadeFlaky: in quarantine, and a change made it fail: not counted") {
		t.Error(notes)
	}
	// What was removed does not come back by a document from before, and does by a later one.
	_, notes = propose(t, f, options(), document("old", 2*day, failure("TestSilent", alibi.Flaky, 9, 1)))
	check.Contains(t, notes, "shop.TestSilent: removed after this document was written")
	o := options()
	o.Now = now.Add(3 * day)
	changes, _ = propose(t, f, o, document("later", -2*day, failure("TestSilent", alibi.Flaky, 9, 1)))
	if f.Find("shop.TestSilent") == nil {
		t.Errorf("%+v", changes)
	}
}
