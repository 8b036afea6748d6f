package quarantine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/quarantine"
)

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
	if err != nil {
		t.Fatal(err)
	}
	notes = strings.Join(list, "\n")
	text := bytesOf(t, f)
	again, err := quarantine.Parse("q.yaml", text, quarantine.DayOf(o.Now))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	// The same documents again, after the file was written: nothing changes.
	more, _, err := quarantine.Propose(again, documents, o)
	if err != nil || len(more) > 0 || string(bytesOf(t, again)) != string(text) {
		t.Errorf("%v: proposing again changes %v\n%s\n%s", err, more, text, bytesOf(t, again))
	}
	return changes, notes
}

func bytesOf(t *testing.T, f *quarantine.File) []byte {
	t.Helper()
	text, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return text
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
	if changes[0].Entry != want {
		t.Error(changes[0].Entry)
	}
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
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in\n%s", want, notes)
		}
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
	if !strings.Contains(notes, "shop.TestSilent: removed after this document was written") {
		t.Error(notes)
	}
	o := options()
	o.Now = now.Add(3 * day)
	changes, _ = propose(t, f, o, document("later", -2*day, failure("TestSilent", alibi.Flaky, 9, 1)))
	if f.Find("shop.TestSilent") == nil {
		t.Errorf("%+v", changes)
	}
}
