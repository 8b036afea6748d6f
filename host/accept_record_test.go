package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/replay"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// countedBytes is a stream of bytes that is no secret.
type countedBytes struct{}

func (countedBytes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i)
	}
	return len(p), nil
}

func recordKey(t testing.TB) *record.Key {
	t.Helper()
	return must.Get(record.NewKey(countedBytes{}))(t)
}

// exampleDocket reads a docket of the examples.
func exampleDocket(t testing.TB, name string) []docket.Entry {
	t.Helper()
	f := must.Get(os.Open(filepath.Join("..", "examples", "dockets", name)))(t)
	defer func() { _ = f.Close() }()
	var entries []docket.Entry
	var reader docket.Reader
	for entry, err := range reader.JSONL(name, f) {
		must.Do(t, err)
		entries = append(entries, entry)
	}
	return entries
}

func lightPath(t testing.TB) *pipeline.Definition {
	t.Helper()
	return must.Get(pipeline.LoadFS(pipelines.FS, pipelines.RCAInvestigation))(t)
}

// recordTrials tries cases in a host with a store, and gives the store and the record.
func recordTrials(t testing.TB, config host.Config, workers int, entries ...docket.Entry) (*record.Store, []byte) {
	t.Helper()
	return recordIn(t, config, func(h *host.Host, write func(*record.Trial)) {
		for tried := range h.TryAll(t.Context(), seq(entries), workers) {
			must.Do(t, tried.Err)
			write(tried.Record)
		}
	})
}

func seq(entries []docket.Entry) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// recordIn has all try cases in a host with a store, and gives the store and the record.
func recordIn(t testing.TB, config host.Config, all func(h *host.Host, write func(*record.Trial))) (*record.Store, []byte) {
	t.Helper()
	return recordBy(t, config, nil, all)
}

// recordBy is recordIn with the audits of an Auditor, which may be nil.
func recordBy(t testing.TB, config host.Config, a *host.Auditor, all func(h *host.Host, write func(*record.Trial))) (*record.Store, []byte) {
	t.Helper()
	dir := t.TempDir()
	if config.Store == nil {
		config.Store = record.OpenStore(filepath.Join(dir, "store"))
	}
	if config.Record == "" {
		config.Record = record.ContentsReplay
	}
	h := open(t, config)
	configuration := must.Get(h.Configuration(t.Context()))(t)
	header, err := h.RecordHeader(configuration)
	if err == nil && a != nil {
		header.Audit, err = a.RecordHeader()
	}
	must.Do(t, err)
	name := filepath.Join(dir, "record")
	w := must.Get(record.Create(name, recordKey(t), header))(t)
	all(h, func(one *record.Trial) {
		must.Do(t, w.Append(one))
	})
	must.Do(t, w.Finish())
	data := must.Get(os.ReadFile(name))(t)
	return config.Store, data
}

// tryRecorded tries one case.
func tryRecorded(t testing.TB, h *host.Host, c abi.Case) *record.Trial {
	t.Helper()
	_, recorded, err := h.TryRecorded(t.Context(), c)
	must.Do(t, err)
	return recorded
}

// trials reads a record.
func trials(t testing.TB, data []byte) (*record.Header, []*record.Trial) {
	t.Helper()
	r := must.Get(record.NewReader(bytes.NewReader(data), recordKey(t)))(t)
	var list []*record.Trial
	for {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header(), list
		}
		must.Do(t, err)
		if entry.Trial != nil {
			list = append(list, entry.Trial)
		}
	}
}

// replayAll tries every trial of a record again, which must give the same bytes.
func replayAll(t testing.TB, store *record.Store, data []byte) []*trial.Trial {
	t.Helper()
	header, list := trials(t, data)
	r := must.Get(replay.Open(header, replay.Config{Store: store, CacheDir: cacheDir}))(t)
	defer func() { _ = r.Close(context.Background()) }()
	var replayed []*trial.Trial
	for _, was := range list {
		outcome, is, err := r.Replay(t.Context(), was, nil)
		must.Do(t, err, was.ID)
		difference, err := record.Compare(was, is)
		if err != nil || difference != nil {
			t.Errorf("%s: %+v, %v", was.ID, difference, err)
		}
		replayed = append(replayed, outcome)
	}
	return replayed
}

func entryOf(cases ...abi.Case) []docket.Entry {
	var list []docket.Entry
	for _, c := range cases {
		list = append(list, docket.Entry{Case: c})
	}
	return list
}

func TestAccept_RE1_EveryExampleTrialIsReplayedToTheSameBytes(t *testing.T) {
	t.Parallel()
	texts := []string{"sentiment-fit.jsonl", "sentiment-test.jsonl"}
	tests := []string{"go-failures.jsonl", "go-fit-1.jsonl", "go-test-1.jsonl"}
	for name, c := range map[string]struct {
		config  host.Config
		dockets []string // beside the tour, in the long run
	}{
		"the docket's Light": {host.Config{}, slices.Concat(texts, tests)},
		"the Light path":     {host.Config{LightPath: lightPath(t)}, tests},
		"with all bytes":     {host.Config{LightPath: lightPath(t), Record: record.ContentsBytes}, tests[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := exampleDocket(t, "tour.jsonl")
			if long() {
				for _, name := range c.dockets {
					entries = append(entries, exampleDocket(t, name)...)
				}
			}
			store, data := recordTrials(t, c.config, 2, entries...)
			check.Len(t, replayAll(t, store, data), len(entries), "trials of")
		})
	}
}

// Entries stand in docket order, whatever the workers, and hold nothing of the moment.
func TestAccept_RE1_WorkersChangeNoByteOfARecord(t *testing.T) {
	t.Parallel()
	entries := exampleDocket(t, "go-failures.jsonl")[:30]
	_, one := recordTrials(t, host.Config{}, 1, entries...)
	_, four := recordTrials(t, host.Config{}, 4, entries...)
	if !bytes.Equal(one, four) {
		t.Error("one worker and four wrote other records")
	}
}

// mistrials are configurations in which a dispute ends as a mistrial, by its cause.
func mistrials(t *testing.T) map[trial.Cause]host.Config {
	t.Helper()
	return map[trial.Cause]host.Config{
		trial.CauseTTL: {
			Pipeline: behave(t, "specter", "verdict", "spin", "ttl: 10m", "ttl: 500ms"), Limits: host.Limits{WallClock: time.Minute, Fuel: 1 << 50},
		},
		trial.CauseWallClock: host.WithCallClock(host.Config{
			Pipeline: behave(t, "specter", "verdict", "spin"), Limits: host.Limits{WallClock: time.Second, Fuel: 1 << 50},
		}, wasmtest.Ticking(time.Millisecond)),
		trial.CauseFuel:             {Pipeline: behave(t, "specter", "verdict", "spin"), Limits: host.Limits{Fuel: 50_000_000}},
		trial.CauseTrap:             {Pipeline: behave(t, "specter", "verdict", "trap")},
		trial.CauseExit:             {Pipeline: behave(t, "bulwark", "discover", "exit")},
		trial.CauseInvalidArtifact:  {Pipeline: behave(t, "specter", "verdict", "several")},
		trial.CauseFailure:          {Pipeline: behave(t, "specter", "verdict", "fail")},
		trial.CauseJudge:            {Pipeline: behave(t, "specter", "verdict", "mistrial")},
		trial.CauseHandoffs:         {Court: func(c *pipeline.Court) { c.MaxHandoffs = 1 }},
		trial.CauseRemandsExhausted: {Pipeline: behave(t, "specter", "verdict", "remand"), Light: stubborn{}, Reclassify: true},
		trial.CauseLight:            {Light: absent{}, Reclassify: true},
	}
}

// stubborn answers every remand with nothing new.
type stubborn struct{}

func (stubborn) Answer(_ context.Context, req host.LightRequest) (host.LightResponse, error) {
	r := host.LightResponse{Answer: abi.LightAnswer{Classification: "leak", Confidence: 0.65, Reasoning: "as before"}}
	if req.Feedback == nil {
		return r, nil
	}
	r.Remand = &abi.RemandAnswer{}
	for _, q := range req.Feedback.Questions {
		r.Remand.Answers = append(r.Remand.Answers, abi.RemandReply{QuestionID: q.ID, Status: abi.NotFound})
	}
	for _, c := range req.Feedback.Challenged {
		r.Remand.Challenged = append(r.Remand.Challenged, abi.ChallengedReply{EvidenceIndex: c.EvidenceIndex, Status: abi.ItemStands})
	}
	return r, nil
}

// absent gives no answer.
type absent struct{}

func (absent) Answer(context.Context, host.LightRequest) (host.LightResponse, error) {
	return host.LightResponse{}, errors.New("nobody is there")
}

func TestAccept_RE1_MistrialsAreReplayedWhateverTheirCause(t *testing.T) {
	t.Parallel()
	for cause, config := range mistrials(t) {
		if cause != trial.CauseTrap && cause != trial.CauseWallClock && !tier.Whole("host/record", "host/replay", "host/internal/court") {
			continue
		}
		t.Run(string(cause), func(t *testing.T) {
			t.Parallel()
			store, data := recordTrials(t, config, 1, entryOf(dispute())...)
			outcome := replayAll(t, store, data)[0]
			if got := outcome.Result.Final; got.Status != trial.Mistrial || got.Cause != cause {
				t.Errorf("%+v", got)
			}
		})
	}
}

// The time of a trial runs out at every moment at which it looks at the clock, and each of these trials is replayed.
func TestAccept_RE1_ATimeThatEndsAtAnyMomentIsReplayed(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]host.Config{"the case's Light": {}, "the Light path": {LightPath: lightPath(t)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := 0
			config.Now = func() time.Time {
				if left--; left < 0 {
					return time.Unix(1_000_000, 0)
				}
				return time.Unix(0, 0)
			}
			store, data := recordIn(t, config, func(h *host.Host, write func(*record.Trial)) {
				for looks := range 60 {
					c := dispute()
					c.ID = fmt.Sprint("look-", looks)
					left = looks
					write(tryRecorded(t, h, c))
				}
			})
			causes := map[trial.Cause]int{}
			for _, outcome := range replayAll(t, store, data) {
				causes[outcome.Result.Final.Cause]++
			}
			if causes[trial.CauseTTL] < 10 {
				t.Errorf("causes %v", causes)
			}
		})
	}
}

func TestAccept_PL8_CapabilityUsesStandInTheSignedRecordWithTheirAnswers(t *testing.T) {
	t.Parallel()
	book := &library{cases: []abi.PriorCase{{CaseID: "old-7", Subject: "as it was", Classification: "quota", Status: "affirmed", Confidence: 0.9, Similarity: 1, Seen: 2, Confirmed: true}}}
	config := host.Config{
		LightPath: lampPath(t, map[string]string{"recall": "ask", "investigate": "source"}, straight...), Modules: lit(t), Casebook: book, Source: book,
	}
	store, data := recordTrials(t, config, 1, entryOf(unclassified())...)
	_, list := trials(t, data)
	var uses []record.Use
	for _, c := range list[0].Calls() {
		uses = append(uses, c.Uses...)
	}
	if len(uses) != 3 || uses[0].Capability != abi.CapRecall || uses[2].Capability != abi.CapSource {
		t.Fatalf("%+v", uses)
	}
	request, _ := list[0].Content(uses[0].Request)
	answer, _ := list[0].Content(uses[0].Answer)
	if !bytes.Equal(request, codec.AppendRecallQuery(nil, &abi.RecallQuery{Limit: 3})) || !bytes.Equal(answer, codec.AppendPriorCases(nil, &abi.PriorCases{Cases: book.cases})) {
		t.Errorf("asked %x, answered %x", request, answer)
	}
	// The replay has no casebook and no source: it takes the answers from the record.
	replayAll(t, store, data)
	config.Record = record.ContentsDigests
	_, data = recordTrials(t, config, 1, entryOf(unclassified())...)
	header, list := trials(t, data)
	r := must.Get(replay.Open(header, replay.Config{Store: store, CacheDir: cacheDir}))(t)
	subject := unclassified()
	if _, _, err := r.Replay(t.Context(), list[0], &subject); !errors.Is(err, replay.ErrNoAnswers) {
		t.Errorf("without the answers: %v", err)
	}
}

// Trials before and after a swap are replayed with their own modules.
func TestAccept_RE1_ATrialIsReplayedWithTheModulesThatItHad(t *testing.T) {
	t.Parallel()
	files := modules(t)
	store, data := recordIn(t, host.Config{Modules: files}, func(h *host.Host, write func(*record.Trial)) {
		for i := range 4 {
			c := dispute()
			c.ID = fmt.Sprint("dispute-", i)
			if i == 2 {
				marked := must.Get(module.Annotate(files["specter.wasm"].Data, "specter", specterManifest(t)))(t)
				files["specter.wasm"].Data = marked
				must.Do(t, h.Swap(t.Context(), files))
			}
			write(tryRecorded(t, h, c))
		}
	})
	header, list := trials(t, data)
	if slices.Equal(list[1].Modules, list[2].Modules) || list[1].Generation != 1 || list[2].Generation != 4 {
		t.Fatalf("generations %d and %d", list[1].Generation, list[2].Generation)
	}
	replayAll(t, store, data)
	// Without the store the swapped module is missed by name.
	r := must.Get(replay.Open(header, replay.Config{CacheDir: cacheDir}))(t)
	var missing *replay.MissingModulesError
	if _, _, err := r.Replay(t.Context(), list[3], nil); !errors.As(err, &missing) || len(missing.Modules) != 1 || missing.Modules[0].Name != "specter" {
		t.Errorf("%v", err)
	}
}

func specterManifest(t *testing.T) []byte {
	t.Helper()
	data := must.Get(fs.ReadFile(os.DirFS("../plugins/specter"), "manifest.yaml"))(t)
	return bytes.Replace(data, []byte("version: "), []byte("version: 9."), 1)
}

// A trial that goes another way is told by call, node and field.
func TestAccept_RE1_TheFirstDivergenceIsToldByField(t *testing.T) {
	t.Parallel()
	config := host.Config{Record: record.ContentsBytes, Pipeline: behave(t, "specter", "verdict", "amend")}
	store, data := recordTrials(t, config, 1, entryOf(dispute())...)
	header, list := trials(t, data)
	header.Pipeline = string(bytes.Replace([]byte(header.Pipeline), []byte("behave: amend"), []byte("behave: acquit"), 1))
	r := must.Get(replay.Open(header, replay.Config{Store: store, CacheDir: cacheDir}))(t)
	defer func() { _ = r.Close(context.Background()) }()
	_, is, err := r.Replay(t.Context(), list[0], nil)
	must.Do(t, err)
	d, err := record.Compare(list[0], is)
	if err != nil || d == nil || d.What != "input" || d.Call < 3 || d.Where != "node call of specter (module puppet) at verdict" {
		t.Fatalf("%+v, %v", d, err)
	}
	if want := (record.FieldDifference{Path: "params[0].text", Was: `"amend"`, Is: `"acquit"`}); len(d.Fields) != 1 || d.Fields[0] != want {
		t.Errorf("%+v", d.Fields)
	}
}

// A judge that a pipeline names by a reference is taken from the modules by its escaped name, and its trials are recorded with who signed
// it. Replays find it by its digest.
func TestAccept_DI2_RecordsNameSignerAndPolicy(t *testing.T) {
	t.Parallel()
	const reference = "oci://registry.example:5000/judges/specter:v1@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	text := must.Get(fs.ReadFile(pipelines.FS, pipelines.DefectCourt))(t)
	replaced := strings.Replace(string(text), "module: specter\n", "module: "+reference+"\n", 1)
	def := must.Get(pipeline.Parse("court.yaml", []byte(replaced)))(t)
	modules := must.Get(bundle.FS())(t)
	judge := must.Get(fs.ReadFile(modules, "specter.wasm"))(t)
	config := host.Config{Pipeline: def, Modules: modules, CacheDir: cacheDir}
	var rejected *host.RejectedError
	if _, err := host.Open(t.Context(), config); !errors.As(err, &rejected) || !strings.Contains(err.Error(), reference+": it was not fetched") {
		t.Fatal(err)
	}
	config.Modules = moduledir.Over(modules, map[string][]byte{pipeline.ModuleFile(reference): judge})
	config.Signed = map[record.Digest]host.Signature{record.DigestOf(judge): {Signer: "acme", Policy: "trust.yaml:7 sha256:2"}}
	store, data := recordTrials(t, config, 2, exampleDocket(t, "go-failures.jsonl")[:2]...)
	_, list := trials(t, data)
	for _, trial := range list {
		for _, part := range trial.Modules {
			want := record.Part{Name: part.Name, Digest: part.Digest}
			if part.Name == reference {
				want = record.Part{Name: reference, Digest: record.DigestOf(judge), Signer: "acme", Policy: "trust.yaml:7 sha256:2"}
			}
			check.Equal(t, part, want)
		}
	}
	if replayAll(t, store, data); len(list) != 2 {
		t.Errorf("%d trials", len(list))
	}
}
