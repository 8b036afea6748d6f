package court

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// What a module has the host hold is bounded over all calls of a trial: another
// call does not begin again, another module does, and the same question is not held twice.
func TestAccept_FX1_UsesOfATrialAreBounded(t *testing.T) {
	t.Parallel()
	s := newSession(&Services{Logger: slog.New(slog.DiscardHandler)}, nil, nil, &abi.Case{ID: "case"}, nil)
	ask := func(module string) *broker {
		return &broker{
			session: s, module: module,
			persona: &pipeline.Persona{Grants: []abi.Capability{abi.CapLog, abi.CapCorrelate}},
			node:    &pipeline.Node{Masks: []pipeline.Mask{pipeline.MaskCorrelation}},
		}
	}
	long := strings.Repeat("x", 100<<10)
	question := func(n int) []byte {
		return codec.AppendCorrelateQuery(nil, &abi.CorrelateQuery{Text: long[n:], Limit: 1})
	}
	d := ask("one")
	for range 200 {
		must.Get(d.Ask(t.Context(), abi.CapCorrelate, question(0)))(t, "the same question")
	}
	held := 0
	var err error
	for n := range 100 {
		d = ask("one") // each in a call of its own
		if _, err = d.Ask(t.Context(), abi.CapCorrelate, question(n)); err != nil {
			break
		}
		held = s.held["one"]
	}
	var denied *sandbox.DeniedError
	if !errors.As(err, &denied) || held > maxUseBytes || held < maxUseBytes-2*len(long) {
		t.Errorf("%d bytes are held, the limit is %d: %v", held, maxUseBytes, err)
	}
	d = ask("one")
	for range 100 {
		line := codec.AppendLogLine(nil, &abi.LogLine{Message: long})
		must.Get(d.Ask(t.Context(), abi.CapLog, line))(t, "a log line is not dropped")
	}
	if len(d.uses) > 1 {
		t.Errorf("%d log lines are held beyond the limit", len(d.uses))
	}
	must.Get(ask("two").Ask(t.Context(), abi.CapCorrelate, question(1)))(t, "another module")
}

func TestAProfileIsCutToTheCase(t *testing.T) {
	t.Parallel()
	weights := []abi.LabelWeight{{Label: "a", Weight: 1}}
	signal := func(p string) abi.Signal { return abi.Signal{Phrase: p, Weights: weights} }
	source := func(n string) abi.SourceReliability { return abi.SourceReliability{Source: n, Share: 1, Cap: 1} }
	light := source("light")
	whole := &abi.Profile{
		Name: "p", SignalCap: 2, BaseRates: []abi.LabelWeight{{Label: "a", Weight: 0.5}}, Light: &light,
		Signals: []abi.Signal{signal("in the log"), signal("nowhere"), signal("in the subject"), signal("unlabelled"), signal("labelled")},
		Sources: []abi.SourceReliability{source("rule"), source("silent"), source("log")},
	}
	subject := &abi.Case{Subject: "IN the subject", Labels: []string{"a", "b"}, Documents: []abi.Document{{Name: "log#2", Text: "what stands in the log"}}}
	evidence := []abi.Evidence{{SourceRef: "rule:7", Content: "labelled", Supports: "a"}, {SourceRef: "other", Content: "is unlabelled"}}
	d := newDomain(whole, true)
	want := &abi.Profile{
		Name: "p", SignalCap: 2, BaseRates: whole.BaseRates, Light: &light,
		Signals: []abi.Signal{whole.Signals[0], whole.Signals[2], whole.Signals[3]},
		Sources: []abi.SourceReliability{whole.Sources[0]}, // whoever quotes the log is not its source
	}
	got, read := d.standing(subject, evidence)
	check.Same(t, cmp.Diff(want, got.profile))
	check.Same(t, cmp.Diff([]int{0}, read), "the signals in the documents")
	check.Same(t, cmp.Diff(abi.ProfileParts{Signals: []int{0, 2, 3}, Sources: []int{0}, Outcomes: true}, got.parts), "the parts")
	none := newDomain(nil, true)
	if got, read := none.standing(subject, evidence); got.profile != nil || read != nil {
		t.Errorf("without a profile: %+v, %v", got, read)
	}
}

// What is no pipeline of an audit is rejected before any module is loaded.
func TestWhatIsNoPipelineOfAnAudit(t *testing.T) {
	t.Parallel()
	rubric := must.Get(audit.LoadFS(pipelines.FS, pipelines.CourtOpinions))(t)
	text := must.Get(pipelines.FS.ReadFile(pipelines.Audit))(t)
	for name, tc := range map[string]struct{ old, instead, want string }{
		"as it is":                 {"", "", ""},
		"a third round":            {"rounds: 2", "rounds: 3", "judges are asked 2 times at most"},
		"one round":                {"rounds: 2", "rounds: 1", ""},
		"nobody collects":          {"parallel: [tracer, scribe]", "", "names nobody who collects"},
		"one after the other":      {"parallel: [tracer, scribe]", "persona: [tracer, scribe]", ""},
		"judges of the pipeline":   {"rounds: 2", "persona: tracer", "the rubric says who acts"},
		"no conclusion":            {"family: conclude", "family: synthesize", "one node of the family conclude, this pipeline has 0"},
		"a node of the court":      {"family: conclude", "family: verdict", "has no part in an audit"},
		"a persona called a judge": {"tracer", "warden", `the judge "warden" has the name of a persona`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def, err := pipeline.Parse("p.yaml", []byte(strings.ReplaceAll(string(text), tc.old, tc.instead)))
			if tc.old == "" {
				def, err = pipeline.Parse("p.yaml", text)
			}
			must.Do(t, err)
			err = checkAuditGraph(def, rubric)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestTimeStandsStillWhileATrialWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := &timeLimit{now: time.Now}
		ctx := limit.context(t.Context(), 10*time.Second)
		defer limit.free()
		time.Sleep(6 * time.Second)
		resume := limit.pause()
		time.Sleep(time.Hour)
		resume()
		time.Sleep(3 * time.Second)
		if ctx.Err() != nil || limit.pausedFor() != time.Hour {
			t.Fatalf("after 9 of 10 seconds: %v, paused for %v", ctx.Err(), limit.pausedFor())
		}
		time.Sleep(2 * time.Second)
		if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Fatalf("after 11 seconds: %v", context.Cause(ctx))
		}
		limit.pause()()
		if ctx.Err() == nil {
			t.Error("a limit that has passed does not stay passed")
		}
	})
}

// An answer of Light in a record is read and written again as the same.
func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"classification":"a","confidence":0.5,"reasoning":"r","evidence":[{"source_ref":"l","content":"c","relevance_confidence":1}]}`))
	f.Add([]byte(`{"classification":"a","confidence":0.5,"reasoning":"r","remand":{"answers":[{"question_id":"q","status":"found"}],"challenged":null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		answer, err := parseAnswer(text)
		if err != nil {
			return
		}
		first := must.Get(json.Marshal(answerJSONOf(&answer)))(t)
		again := must.Get(parseAnswer(first))(t, first)
		if second, err := json.Marshal(answerJSONOf(&again)); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%v\n%s\nis written again as\n%s", err, first, second)
		}
	})
}
