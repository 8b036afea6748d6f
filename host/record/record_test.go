package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// seed is a stream of bytes that is no secret.
type seed byte

func (s seed) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s) + byte(i)
	}
	return len(p), nil
}

// newKey is one of two keys.
func newKey(t testing.TB, first bool) *record.Key {
	t.Helper()
	from := seed(2)
	if first {
		from = seed(1)
	}
	return must.Get(record.NewKey(from))(t)
}

func header() *record.Header {
	return &record.Header{
		Contents: record.ContentsReplay, Instrumentation: "3", Pipeline: "pipeline: a\n", Court: []byte{0x80},
		Configuration: []record.Part{{Name: "pipeline", Digest: record.DigestOf([]byte("pipeline: a\n"))}},
	}
}

func modules(version string) []record.Part {
	return []record.Part{
		{Name: "clerk", Digest: record.DigestOf([]byte("clerk"))},
		{Name: "specter", Digest: record.DigestOf([]byte("specter" + version))},
	}
}

func trial(id string) *record.Trial {
	content := []byte("the case " + id)
	result := json.RawMessage(`{"id":"` + id + `","why":"<1 & >0"}`)
	fuel := uint64(17)
	return &record.Trial{
		ID: id, Case: record.DigestOf(content), ResultDigest: record.DigestOf(result), Result: result, Modules: modules("1"),
		Contents: []record.Content{{Digest: record.DigestOf(content), Bytes: content}},
		Events: []record.Event{
			{Call: &record.Call{
				Node: "verdict", Persona: "specter", Module: "specter", Kind: abi.CallNode, Input: record.DigestOf([]byte("in")),
				Output: record.DigestOf([]byte("out")), Fuel: &fuel,
				Uses: []record.Use{{Capability: abi.CapRecall, Request: record.DigestOf([]byte("q")), Answer: record.DigestOf([]byte("a"))}},
			}},
			{Merge: record.DigestOf([]byte("state"))},
		},
	}
}

// audited is a trial with an audit; both keep a message, and one that both had.
func audited(id string) *record.Trial {
	one := trial(id)
	result := json.RawMessage(`{"case_id":"` + id + `","global_score":3.5,"results":[` +
		`{"criterion_id":"a","weight":1,"numeric_score":3},{"criterion_id":"b","weight":1,"numeric_score":4}]}`)
	fuel := uint64(19)
	own := []byte("asked by warden")
	one.Attach(&record.Audit{
		Court: "court", ResultDigest: record.DigestOf(result), Result: result,
		Modules: []record.Part{{Name: "warden", Digest: record.DigestOf([]byte("warden"))}},
		Events: []record.Event{
			{Call: &record.Call{
				Node: "judge", Persona: "warden", Module: "warden", Kind: abi.CallJudge, Input: record.DigestOf([]byte("in")),
				Output: record.DigestOf([]byte("out")), Fuel: &fuel,
			}},
			{Merge: record.DigestOf([]byte("judged"))},
		},
	}, []record.Content{{Digest: record.DigestOf(own), Bytes: own}, one.Contents[0]})
	return one
}

// auditHeader is the header of a record with audits.
func auditHeader() *record.Header {
	h := header()
	h.Audit = &record.AuditHeader{Pipeline: "pipeline: audit\n", Rubric: "rubric: r\n"}
	return h
}

// write makes a record of trials, every other one audited; those after the second have other modules.
func write(t testing.TB, key *record.Key, trials int) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "record")
	w := must.Get(record.Create(name, key, auditHeader()))(t)
	appendTrials(t, w, 0, trials)
	must.Do(t, w.Finish())
	return read(t, name)
}

func appendTrials(t testing.TB, w *record.Writer, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		one := trial(fmt.Sprintf("case-%d", i))
		if i%2 == 0 {
			one = audited(one.ID)
		}
		if i >= 2 {
			one.Modules = modules("2")
		}
		must.Do(t, w.Append(one))
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(name))(t)
}

func verify(t testing.TB, data []byte, key *record.Key) *record.Report {
	t.Helper()
	return must.Get(record.Verify(t.Context(), bytes.NewReader(data), key, nil))(t)
}

func TestARecordHolds(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} {
		key := newKey(t, first)
		data := write(t, key, 4)
		if again := write(t, key, 4); !bytes.Equal(data, again) {
			t.Error("the same trials gave other bytes")
		}
		report := verify(t, data, key)
		if report.Fault != nil || !report.Complete() || report.Trials != 4 || report.Entries != 1+3+4+1 {
			t.Errorf("%+v", report)
		}
		text := must.Get(key.PublicPEM())(t)
		public := must.Get(record.ParseKey(text))(t)
		if report := verify(t, data, public); !report.Complete() {
			t.Errorf("with the public key: %+v", report)
		}
		if _, err := record.Create(filepath.Join(t.TempDir(), "r"), public, header()); err == nil {
			t.Error("a public key signed")
		}
	}
}

// Every bit of the file counts: one that is flipped is found, in the entry that it is in. Of most bytes one or two bits are tried: a signature
// takes a hundred times a hash.
func TestAccept_SE1_EveryFlippedBitIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/record")
	key := newKey(t, true)
	data := write(t, key, 1)
	entry := 0
	// Between the ends of a Base64 text all characters are alike; of all others every bit is tried.
	alike := func(i int) bool {
		around := data[max(i-4, 0):min(i+5, len(data))]
		return !bytes.ContainsAny(around, "\"\n=")
	}
	for i := range data {
		for bit := range 8 {
			if alike(i) && (i*8+bit)%5 != 0 {
				continue
			}
			data[i] ^= 1 << bit
			report := verify(t, data, key)
			if report.Fault == nil {
				t.Fatalf("bit %d of byte %d: not found", bit, i)
			}
			if report.Fault.Entry != entry || report.Entries != entry {
				t.Fatalf("bit %d of byte %d: found in entry %d, it is in %d: %v", bit, i, report.Fault.Entry, entry, report.Fault)
			}
			data[i] ^= 1 << bit
		}
		if data[i] == '\n' {
			entry++
		}
	}
	if entry != 5 { // header, modules of court and audit, a trial with its audit, the end
		t.Errorf("%d entries", entry)
	}
}

func TestAccept_SE1_EntriesThatAreMovedAreFound(t *testing.T) {
	t.Parallel()
	key := newKey(t, false)
	lines := strings.SplitAfter(strings.TrimSuffix(string(write(t, key, 3)), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	for name, c := range map[string]struct {
		order []int
		entry int
	}{
		"left out":            {[]int{0, 1, 2, 4, 5, 6, 7}, 3},
		"without the audit's": {[]int{0, 1, 3, 4, 5, 6, 7}, 2},
		"swapped":             {[]int{0, 1, 2, 4, 3, 5, 6, 7}, 3},
		"doubled":             {[]int{0, 1, 2, 3, 3, 4, 5, 6, 7}, 4},
		"begun":               {[]int{1, 2, 3, 4, 5, 6, 7}, 0},
		"twice":               {[]int{0, 1, 2, 3, 4, 5, 6, 7, 0}, 8},
	} {
		var b strings.Builder
		for _, i := range c.order {
			b.WriteString(lines[i])
		}
		report := verify(t, []byte(b.String()), key)
		if report.Fault == nil || report.Fault.Entry != c.entry {
			t.Errorf("%s: %v, want entry %d", name, report.Fault, c.entry)
		}
	}
	if report := verify(t, []byte(strings.Join(lines[:7], "")), key); report.Fault != nil || report.Complete() {
		t.Errorf("without the closing entry: %+v", report)
	}
	if report := verify(t, []byte(strings.Join(lines, "")), newKey(t, true)); report.Fault == nil || !errors.Is(report.Fault, record.ErrOtherKey) {
		t.Errorf("another key: %v", report.Fault)
	}
}

// Cut at every offset, a record keeps all entries before the cut, and goes on.
func TestAccept_RE2_ARecordCutAtAnyByteKeepsTheEntriesBefore(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	data := write(t, key, 3)
	name := filepath.Join(t.TempDir(), "cut")
	whole, trials := 0, 0
	for cut := range len(data) + 1 {
		if cut > 0 && data[cut-1] == '\n' {
			whole++
			if whole > 3 && whole != 6 && whole < 8 { // header, modules of court and audit, two trials, modules, a trial, the end
				trials++
			}
		}
		report := verify(t, data[:cut], key)
		torn := cut > 0 && data[cut-1] != '\n'
		if report.Entries != whole || (report.Fault != nil) != torn || torn && !errors.Is(report.Fault, record.ErrTorn) {
			t.Fatalf("cut at %d: %d entries, %v; want %d", cut, report.Entries, report.Fault, whole)
		}
		if report.Trials != trials || report.Complete() != (cut == len(data)) {
			t.Fatalf("cut at %d: %+v, want %d trials", cut, report, trials)
		}
		if cut%7 != 0 && !torn && cut != len(data) {
			continue
		}
		if cut%97 == 0 || !torn {
			resumeAt(t, name, data, cut, trials, key)
		}
	}
}

// resumeAt continues with a record that was cut, to the same bytes as without the cut.
func resumeAt(t *testing.T, name string, data []byte, cut, trials int, key *record.Key) {
	t.Helper()
	must.Do(t, os.WriteFile(name, data[:cut], 0o600))
	// All trials are kept, or one less: the last one may be of a run that was killed before anybody saw its result.
	kept := max(trials-cut%2, 0)
	if cut == len(data) { // a closed record
		kept = trials
	}
	heads := []record.Digest{""} // behind so many trials
	if _, err := record.Verify(t.Context(), bytes.NewReader(data[:cut]), key, func(e *record.Entry, head record.Digest) {
		if e.Trial != nil {
			heads = append(heads, head)
		}
	}); err != nil {
		t.Fatal(err)
	}
	rejected := func(want error, trials int, head record.Digest) {
		t.Helper()
		if _, err := record.Resume(name, key, auditHeader(), trials, head); !errors.Is(err, want) || !bytes.Equal(read(t, name), data[:cut]) {
			t.Fatalf("cut at %d: %v, want %v, and the file as it was", cut, err, want)
		}
	}
	rejected(record.ErrFewer, trials+1, "")
	if trials > 0 {
		rejected(record.ErrOtherRun, trials, heads[trials-1])
	}
	if cut == len(data) {
		rejected(record.ErrOtherRun, trials-1, heads[trials-1])
		rejected(record.ErrOtherRun, 0, "")
	}
	w := must.Get(record.Resume(name, key, auditHeader(), kept, heads[kept]))(t, "cut at", cut)
	appendTrials(t, w, kept, 3)
	must.Do(t, w.Finish())
	if !bytes.Equal(read(t, name), data) {
		t.Fatalf("cut at %d: the record that was gone on with is another one", cut)
	}
}

func TestResumeRejectsAnotherConfigurationAndAnotherKey(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	name := filepath.Join(t.TempDir(), "record")
	must.Do(t, os.WriteFile(name, write(t, key, 1), 0o600))
	other := auditHeader()
	other.Pipeline = "pipeline: b\n"
	other.Configuration[0].Digest = record.DigestOf([]byte(other.Pipeline))
	_, err := record.Resume(name, key, other, -1, "")
	if err == nil || err.Error() != "the record is of another configuration: another pipeline" {
		t.Errorf("another pipeline: %v", err)
	}
	check.Is(t, check.Err(record.Resume(name, newKey(t, false), header(), -1, "")), record.ErrOtherKey, "another key")
	check.Is(t, check.Err(record.Create(name, key, auditHeader())), os.ErrExist, "over a record")
	w := must.Get(record.Resume(name, key, auditHeader(), -1, ""))(t)
	check.Is(t, check.Err(record.Resume(name, key, auditHeader(), -1, "")), record.ErrInUse, "two writers")
	if err := w.Append(trial("case-0")); err == nil || err.Error() != `a second trial of the case "case-0"` {
		t.Errorf("a case that the record has: %v", err)
	}
	must.Do(t, w.Close())
}

func TestKeysAreReadAndNeverShown(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} {
		key := newKey(t, first)
		text := must.Get(key.PEM())(t)
		again, err := record.ParseKey(text)
		if err != nil || again.ID() != key.ID() || !again.Signs() {
			t.Errorf("%v, %v", again, err)
		}
		secret := strings.Split(string(text), "\n")[1]
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if shown := fmt.Sprintf(verb, key); strings.Contains(shown, secret) || !strings.Contains(shown, key.ID()) {
				t.Errorf("%s shows %s", verb, shown)
			}
		}
		if _, err := record.ParseKey(append(text, text...)); err == nil {
			t.Error("two keys were read as one")
		}
		if _, err := record.ParseKey([]byte(strings.Replace(string(text), secret, secret[4:], 1))); err == nil || strings.Contains(err.Error(), secret[8:16]) {
			t.Errorf("a broken key: %v", err)
		}
	}
}

// A record in memory has the bytes of one in a file.
func TestBegin(t *testing.T) {
	t.Parallel()
	key := newKey(t, false)
	write := func(w *record.Writer, err error) {
		t.Helper()
		if err == nil {
			err = w.Append(trial("a"))
		}
		if err == nil {
			err = w.Finish()
		}
		must.Do(t, err)
	}
	var memory bytes.Buffer
	write(record.Begin(&memory, key, header()))
	name := filepath.Join(t.TempDir(), "record")
	write(record.Create(name, key, header()))
	file, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(file, memory.Bytes()) {
		t.Errorf("%d bytes in memory, %d in a file, %v", memory.Len(), len(file), err)
	}
}

func TestTheStoreGivesWhatItsNamesSay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s := record.OpenStore(dir)
	d := must.Get(s.Put([]byte("a module")))(t)
	must.Get(s.Put([]byte("a module")))(t)
	check.Equal(t, string(must.Get(s.Get(d))(t)), "a module")
	check.Is(t, check.Err(s.Get(record.DigestOf([]byte("another")))), os.ErrNotExist, "another")
	name := filepath.Join(dir, "sha256-"+d.Hex()+".wasm")
	must.Do(t, os.WriteFile(name, []byte("a wodule"), 0o600))
	if _, err := s.Get(d); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a module that was changed: %v", err)
	}
	must.Get(s.Put([]byte("a module")))(t)
	must.Get(s.Get(d))(t, "put again")
}

// Of long lists that differ the first items that do are shown.
func TestCompareTellsPartsOfLongLists(t *testing.T) {
	t.Parallel()
	for want, add := range map[string]func(*record.Trial, int){
		"when its time was over: [9] 9 10009": func(r *record.Trial, i int) { r.Over = append(r.Over, i) },
		`answers for edges: [9].id "9" "10009"`: func(r *record.Trial, i int) {
			r.Events[0].Call.Edges = append(r.Events[0].Call.Edges, record.Edge{ID: strconv.Itoa(i), Fires: true})
		},
	} {
		was, is := trial("a"), trial("a")
		for i := range 10_000 {
			add(was, i)
			add(is, i+min(i/9, 1)*10_000)
		}
		d := must.Get(record.Compare(was, is))(t)
		if first := d.Fields[0]; len(d.Fields) != 20 || d.What+": "+first.Path+" "+first.Was+" "+first.Is != want {
			t.Errorf("%+v, not %s", d, want)
		}
	}
}
