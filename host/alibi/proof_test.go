package alibi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/replay"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// world answers experiments as tests would whose names say how they fail: those of a change on head alone, old ones on both trees, and flaky
// ones in half of the runs.
type world struct{}

func (world) Why(*abi.Case) string { return "" }

func (world) Digest() string { return "the world" }

func (world) Offers(context.Context, *abi.Case) ([]abi.ExperimentOffer, error) {
	var offers []abi.ExperimentOffer
	add := func(product, tests abi.TreeRevision, environment abi.RunEnvironment, runs ...int) {
		for _, n := range runs {
			e := abi.Experiment{Product: product, Tests: tests, Environment: environment, Order: abi.Alone, Runs: n}
			offers = append(offers, abi.ExperimentOffer{Experiment: e, Seconds: float64(n)})
		}
	}
	add(abi.Head, abi.Head, abi.OriginalEnvironment, 5, 15, 30, 50)
	add(abi.Base, abi.Base, abi.OriginalEnvironment, 2, 18, 30, 50)
	add(abi.Head, abi.Head, abi.CleanEnvironment, 1)
	add(abi.Head, abi.Base, abi.OriginalEnvironment, 1)
	add(abi.Base, abi.Head, abi.OriginalEnvironment, 1)
	return offers, nil
}

func (world) Run(_ context.Context, c *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	r := abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomePassed, Passed: e.Runs, Test: abi.TestUnchanged, Loaded: abi.Certified}
	switch {
	case strings.Contains(c.ID, "Flaky") && e.Runs > 1:
		r.Outcome, r.Passed, r.Same = abi.OutcomeMixed, e.Runs/2, e.Runs-e.Runs/2
	case e.Product == abi.Head || strings.Contains(c.ID, "Old"):
		r.Outcome, r.Passed, r.Same = abi.OutcomeSame, 0, e.Runs
	}
	return r, nil
}

func failure(name string) docket.Entry {
	return docket.Entry{Case: abi.Case{
		ID: "example.com/cart." + name, Group: "example.com/cart", Subject: name + " fails", Labels: alibi.Labels(),
		Documents: []abi.Document{{Name: "log", Text: "    cart_test.go:7: got 7, want 6\n--- FAIL: " + name + " (0.00s)\n"}},
	}}
}

// change is what the proofs here are of.
func change() *alibi.Change {
	return &alibi.Change{
		Tool: alibi.Tool{Name: "shadowcourt", Version: "devel", Digest: record.DigestOf([]byte("program"))}, Head: strings.Repeat("a", 40), Base: strings.Repeat("b", 40),
		Uncommitted: true, Tree: record.DigestOf([]byte("tree")),
	}
}

// cache is the compile cache that all test packages and the command share.
var cache string

func TestMain(m *testing.M) {
	user, err := os.UserCacheDir()
	if err != nil {
		panic(err)
	}
	cache = filepath.Join(user, "shadowcourt", "modules")
	os.Exit(m.Run())
}

func newKey(t *testing.T) *record.Key {
	t.Helper()
	return must.Get(record.NewKey(bytes.NewReader(make([]byte, 32))))(t)
}

// prove proves three failures and one beside tests, and leaves one without an answer.
func prove(t *testing.T, key *record.Key) []byte {
	t.Helper()
	court := must.Get(alibi.Open(t.Context(), host.Config{Experiments: world{}, Record: record.ContentsReplay, CacheDir: cache}, 0))(t)
	defer func() { _ = court.Close(context.Background()) }()
	var text bytes.Buffer
	p := must.Get(court.Prove(t.Context(), &text, key))(t)
	failures := func(yield func(docket.Entry, error) bool) {
		for _, name := range []string{"TestNew", "TestOld", "TestFlaky"} {
			if !yield(failure(name), nil) {
				return
			}
		}
		yield(docket.Entry{Case: docket.Beside{What: "the exit code is 2", Next: "see the output"}.Case()}, nil)
	}
	for asked := range court.Ask(t.Context(), failures, 1) {
		if asked.Err != nil {
			t.Fatal(asked.Err)
		}
		must.Do(t, p.Add(&asked))
	}
	must.Do(t, p.Finish(change(), []string{"example.com/cart.TestBroken"}))
	return text.Bytes()
}

// entries verifies a record, and gives its entries.
func entries(t *testing.T, text []byte, key *record.Key) (list []*record.Entry, err error) {
	t.Helper()
	v := &alibi.Verifier{}
	report, failed := record.Verify(t.Context(), bytes.NewReader(text), key, func(e *record.Entry, head record.Digest) {
		list = append(list, e)
		err = errors.Join(err, v.Add(e, head))
	})
	if failed != nil {
		t.Fatal(failed)
	}
	if report.Fault != nil {
		return list, report.Fault
	}
	if !report.Closed {
		return list, errors.New("not closed")
	}
	return list, err
}

// replayed are the trials of a record, by their ids.
func replayed(t *testing.T, list []*record.Entry) map[string]*trial.Trial {
	t.Helper()
	replayer := must.Get(replay.Open(list[0].Header, replay.Config{CacheDir: cache}))(t)
	defer func() { _ = replayer.Close(context.Background()) }()
	trials := map[string]*trial.Trial{}
	for _, e := range list {
		if e.Trial == nil {
			continue
		}
		again, is, err := replayer.Replay(t.Context(), e.Trial, nil)
		if err != nil {
			t.Fatal(err)
		}
		if difference, err := record.Compare(e.Trial, is); err != nil || difference != nil {
			t.Fatalf("the trial %s replays to %+v, %v", e.Trial.ID, difference, err)
		}
		trials[e.Trial.ID] = again
	}
	return trials
}

// derive derives the answers of a record from its trials.
func derive(t *testing.T, list []*record.Entry, trials map[string]*trial.Trial) error {
	t.Helper()
	proof := proofOf(t, list)
	d := must.Get(alibi.NewDeriver(list[0].Header, proof))(t)
	var faults []error
	for _, e := range list {
		if e.Trial == nil {
			continue
		}
		at := slices.IndexFunc(proof.Answers, func(a *alibi.Answer) bool { return a.ID == e.Trial.ID })
		faults = append(faults, d.Check(proof.Answers[at], e.Trial, trials[e.Trial.ID]))
	}
	return errors.Join(faults...)
}

func proofOf(t *testing.T, list []*record.Entry) *alibi.Proof {
	t.Helper()
	at := slices.IndexFunc(list, func(e *record.Entry) bool { return e.Statement != nil && e.Statement.PredicateType == alibi.ProofType })
	if at < 0 {
		t.Fatal("there is no proof")
	}
	p := &alibi.Proof{}
	must.Do(t, json.Unmarshal(list[at].Statement.Predicate, p))
	return p
}

// again signs the entries once more, as whoever has the key can.
func again(t *testing.T, list []*record.Entry, key *record.Key) []byte {
	t.Helper()
	var text bytes.Buffer
	w, err := record.Begin(&text, key, list[0].Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		switch {
		case e.Trial != nil:
			err = w.Append(e.Trial)
		case e.Statement != nil:
			err = w.AppendStatement(e.Statement)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	must.Do(t, w.Finish())
	return text.Bytes()
}

func TestAccept_AL8_AProofHoldsAndItsAnswersAreDerivedAgain(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	text := prove(t, key)
	list := must.Get(entries(t, text, key))(t)
	p := proofOf(t, list)
	want := map[string]alibi.Verdict{"TestNew": alibi.IsYours, "TestOld": alibi.NotYours, "TestFlaky": alibi.NotYours, docket.BesideID: alibi.IsOpen}
	tried, alone := 0, 0
	for _, a := range p.Answers {
		if a.Verdict != want[a.Test] {
			t.Errorf("%s is %s (%s)", a.Test, a.Verdict, a.Why)
		}
		if a.Tried {
			tried++
		} else {
			alone++
		}
	}
	if len(p.Answers) != len(want) || tried == 0 || alone == 0 {
		t.Errorf("%d answers, %d tried and %d by Light alone: each way is to be proved", len(p.Answers), tried, alone)
	}
	if err := derive(t, list, replayed(t, list)); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(again(t, list, key), text) {
		t.Error("read and written again, the proof has other bytes")
	}
	if !bytes.Equal(prove(t, key), text) {
		t.Error("the same run has another proof")
	}
	var result struct {
		Result      string   `json:"result"`
		WarnedTests []string `json:"warnedTests"`
		FailedTests []string `json:"failedTests"`
	}
	last := list[len(list)-2].Statement
	must.Do(t, json.Unmarshal(last.Predicate, &result))
	if last.PredicateType != alibi.TestResultType || result.Result != "FAILED" || !slices.Equal(result.FailedTests, []string{"example.com/cart.TestBroken", "example.com/cart.TestNew", docket.BesideID}) ||
		!slices.Equal(result.WarnedTests, []string{"example.com/cart.TestOld", "example.com/cart.TestFlaky"}) {
		t.Errorf("the result of the tests is %s %+v", last.PredicateType, result)
	}
	for _, e := range list[len(list)-3 : len(list)-1] {
		if s := e.Statement.Subject; len(s) != 2 || s[0].Digest["gitCommit"] != change().Head || s[1].Digest["sha256"] != change().Tree.Hex() {
			t.Errorf("the subjects are %v", s)
		}
	}
}

// Whoever has no key can change no byte, and no line.
func TestAccept_AL8_ChangedBytesAreFound(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	text := prove(t, key)
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\n'})
	lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
	found := func(name string, changed []byte) {
		t.Helper()
		if _, err := entries(t, changed, key); err == nil {
			t.Errorf("%s was not found", name)
		}
	}
	for at := 40; at < len(text); at += len(text)/200 + 1 {
		changed := bytes.Clone(text)
		changed[at] ^= 1
		found("a changed byte", changed)
		found("a cut", text[:at])
	}
	n := len(lines)
	for i := range n - 1 {
		found("a swap of lines", slices.Concat(slices.Concat(lines[:i]...), lines[i+1], lines[i], slices.Concat(lines[i+2:]...)))
		found("a missing line", slices.Concat(slices.Concat(lines[:i]...), slices.Concat(lines[i+1:]...)))
	}
	found("a missing end", slices.Concat(lines[:n-1]...))
	found("a proof twice", slices.Concat(slices.Concat(lines[:n-2]...), lines[n-3], slices.Concat(lines[n-2:]...)))
	other := must.Get(record.NewKey(io.LimitReader(strings.NewReader(strings.Repeat("k", 32)), 32)))(t)
	if _, err := entries(t, text, other); !errors.Is(err, record.ErrOtherKey) {
		t.Errorf("another key gives %v", err)
	}
}

// Whoever has the key may sign what does not follow from the trials and the runs. Verifying, or deriving, finds it.
func TestAccept_AL8_AnswersThatDoNotFollowAreFound(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	text := prove(t, key)
	of := func(p *alibi.Proof, test string) *alibi.Answer {
		return p.Answers[slices.IndexFunc(p.Answers, func(a *alibi.Answer) bool { return a.Test == test })]
	}
	run := func(a *alibi.Answer, persona func(string) bool) *trial.Experiment {
		return &a.Runs[slices.IndexFunc(a.Runs, func(e trial.Experiment) bool { return persona(e.Persona) })]
	}
	light := func(p string) bool { return p == "light" }
	untouched, err := entries(t, text, key)
	if err != nil {
		t.Fatal(err)
	}
	trials := replayed(t, untouched)
	for _, tc := range []struct {
		name     string
		edit     func(p *alibi.Proof)
		verifies bool // only a derivation finds it
		want     string
	}{
		{"verdict", func(p *alibi.Proof) { of(p, "TestNew").Verdict = alibi.NotYours }, false, "does not say what the answers say"},
		{"record", func(p *alibi.Proof) { p.Record = record.DigestOf(nil) }, false, "of another record"},
		{"price", func(p *alibi.Proof) { p.MaxFalse = 0.5 }, false, "max_false_alibi"},
		{"modules", func(p *alibi.Proof) { p.Modules = p.Modules[1:] }, false, "its modules are not"},
		{"missing answer", func(p *alibi.Proof) { p.Answers = p.Answers[1:] }, false, "3 answers, and the record 4 trials"},
		{"answer twice", func(p *alibi.Proof) { p.Answers[0] = p.Answers[1] }, false, "twice"},
		{"commit", func(p *alibi.Proof) { p.Head = strings.Repeat("c", 40) }, false, "does not say what the answers say"},
		{"why", func(p *alibi.Proof) { of(p, "TestOld").Why = "it was the weather" }, true, "another why"},
		{"attribution", func(p *alibi.Proof) { of(p, "TestOld").Label = alibi.Environment }, true, "another attribution"},
		{"confidence", func(p *alibi.Proof) { of(p, "TestNew").Confidence = 0.999 }, true, "another confidence"},
		{"part", func(p *alibi.Proof) { of(p, "TestNew").Part = alibi.Tests }, true, "another part"},
		{"runs of Light", func(p *alibi.Proof) { run(of(p, "TestNew"), light).Passed++ }, true, "another runs of Light"},
		{"what Light's runs loaded", func(p *alibi.Proof) {
			for i := range of(p, "TestNew").Runs {
				of(p, "TestNew").Runs[i].Loaded = abi.Contradicted
			}
		}, true, "another posterior of Light"},
		{"a run of Light left out", func(p *alibi.Proof) { of(p, "TestNew").Runs = of(p, "TestNew").Runs[1:] }, true, "another runs of Light"},
		{"a further run of Light", func(p *alibi.Proof) {
			a := of(p, "TestNew")
			e := a.Runs[0]
			e.Runs = 80
			a.Runs = slices.Insert(a.Runs, 2, e)
		}, true, "another number of runs of Light"},
		{"runs of the trial", func(p *alibi.Proof) { run(of(p, "TestOld"), func(p string) bool { return !light(p) }).Other++ }, true, "another runs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			list, err := entries(t, text, key)
			if err != nil {
				t.Fatal(err)
			}
			p := proofOf(t, list)
			tc.edit(p)
			for _, e := range list {
				if s := e.Statement; s != nil && s.PredicateType == alibi.ProofType {
					if s.Predicate, err = json.Marshal(p); err != nil {
						t.Fatal(err)
					}
					s.Subject[0].Digest["gitCommit"] = p.Head
				}
			}
			list, err = entries(t, again(t, list, key), key)
			if tc.verifies {
				if err != nil {
					t.Fatalf("the record does not hold: %v", err)
				}
				err = derive(t, list, trials)
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestAProofNamesAnUnusualPrice(t *testing.T) {
	t.Parallel()
	const said = "; an alibi where the change is at most 5% probable"
	p := &alibi.Proof{Change: *change(), MaxFalse: 0.05}
	if got := p.Summary(); !strings.HasSuffix(got, said) {
		t.Error(got)
	}
	if p.MaxFalse = alibi.MaxFalse; strings.Contains(p.Summary(), "probable") {
		t.Error(p.Summary())
	}
}
