package host_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/rules"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const ofDisk = `rules:
  - name: volume-quota
    label: quota
    reason: the volume of the data is too small
    owner: "@storage"
    match: ['quota exceeded for volume \S+', '^\d+:\d+ retrying$']
    confidence: 0.9
  - name: rising
    label: leak
    reason: writes that fail for hours are a leak
    match: write failed
    test: disk
  - name: other-test
    label: load
    reason: is for another test
    match: write failed
    test: TestNetwork
  - name: other-domain
    label: si001
    reason: names no label of the case
    match: write failed
  - name: not-there
    label: load
    reason: one of its patterns matches nowhere
    match: [write failed, deployed]
`

func ruleSet(t testing.TB, text string) *rules.Set {
	t.Helper()
	return must.Get(rules.Parse("folder/rules.yaml", []byte(text)))(t)
}

// What rules match is evidence under the rule's own name, evaluated by a module in the sandbox, and told as a rule that somebody wrote.
func TestAccept_IG5_RulesAreEvaluatedInAModuleAndVisible(t *testing.T) {
	t.Parallel()
	s := &spy{}
	h := open(t, host.Config{Rules: ruleSet(t, ofDisk), Observe: s.observe})
	outcome := try(t, h, dispute())
	first := s.calls[0]
	if first.Module != "rulebook" || first.Call != abi.CallNode || slices.ContainsFunc(s.calls[1:], func(r host.CallRecord) bool { return r.Module == "rulebook" }) {
		t.Errorf("the first of %d calls is one of %s at %s", len(s.calls), first.Module, first.Node)
	}
	response, err := codec.DecodeNodeResponse(first.Output, len(first.Output))
	if err != nil || len(response.Artifact.Investigate.Evidence) != 2 {
		t.Fatalf("the module answered %+v, %v", response, err)
	}
	got := outcome.Result.Rules
	want := []trial.RuleMatch{
		{
			Rule: "volume-quota", Label: "quota", Reason: "the volume of the data is too small", Owner: "@storage", Confidence: 0.9,
			SourceRef: "rule/volume-quota:log:L2", Content: "quota exceeded for volume data-7\n12:01 retrying",
		},
		{
			Rule: "rising", Label: "leak", Reason: "writes that fail for hours are a leak", Confidence: rules.DefaultConfidence,
			SourceRef: "rule/rising:log:L1", Content: "12:00 write failed",
		},
	}
	if got == nil || got.Error != nil || got.File != "rules.yaml" || !strings.HasPrefix(got.Digest, "sha256:") || !slices.Equal(got.Matches, want) {
		t.Fatalf("the result has %+v", got)
	}
	check.Equal(t, outcome.Result.Modules["rulebook"], first.Digest, "the result names", "as rulebook")
	// Two rules that name different labels are both before the court, with all that came with the case.
	sources := make([]string, 0, 5)
	for _, e := range outcome.Passes[0].Indictment.Evidence {
		sources = append(sources, e.SourceRef)
	}
	for _, ref := range []string{"log:L2", "graph", "operator", "rule/volume-quota:log:L2", "rule/rising:log:L1"} {
		if !slices.Contains(sources, ref) {
			t.Errorf("the indictment has %q, and not %s", sources, ref)
		}
	}
	const says = "rule volume-quota of rules.yaml: the volume of the data is too small (owner @storage)"
	var explained, page, markdown bytes.Buffer
	must.Do(t, render.Explain(&explained, outcome, nil, render.TerminalOptions{Width: 200}))
	for out, writer := range map[*bytes.Buffer]render.Writer{&page: render.NewHTML(&page), &markdown: render.NewMarkdown(&markdown)} {
		must.Do(t, writer.Write(outcome))
		must.Do(t, writer.Close())
		// Markdown puts signs that would act, such as @, between backticks.
		if !strings.Contains(strings.ReplaceAll(out.String(), "`", ""), says) || !strings.Contains(out.String(), "Your rules") {
			t.Errorf("nobody is told of the rule:\n%s", out)
		}
	}
	check.Contains(t, explained.String(), "Your rules\n  • "+says, "nobody is told of the rule")
}

// A court without rules has neither the module nor anything else of them, and a set that matches nothing changes no verdict.
func TestAccept_IG5_WithoutRulesNothingIsAnother(t *testing.T) {
	t.Parallel()
	s := &spy{}
	plain := open(t, host.Config{Observe: s.observe})
	files := modules(t)
	delete(files, "rulebook.wasm") // nobody needs it
	without := open(t, host.Config{Modules: files})
	silent := open(t, host.Config{Rules: ruleSet(t, "rules: [{name: a, label: leak, reason: b, match: nowhere}]")})
	a, b, c := try(t, plain, dispute()), try(t, without, dispute()), try(t, silent, dispute())
	for _, one := range []*trial.Trial{a, b, c} {
		one.Result.Timings = nil
	}
	first, errA := a.Result.MarshalJSON()
	second, errB := b.Result.MarshalJSON()
	if errA != nil || errB != nil || !bytes.Equal(first, second) || bytes.Contains(first, []byte("rule")) {
		t.Errorf("%s\n%s", first, second)
	}
	if slices.ContainsFunc(s.calls, func(r host.CallRecord) bool { return r.Module == "rulebook" }) {
		t.Error("the module was asked without rules")
	}
	if c.Result.Rules == nil || len(c.Result.Rules.Matches) != 0 || c.Result.Final != a.Result.Final {
		t.Errorf("%+v, %+v, without rules %+v", c.Result.Rules, c.Result.Final, a.Result.Final)
	}
}

// A rule decides what is open, whatever the machine reads in the same line; where a profile has measured the rule, its figures count.
func TestAccept_IG5_ARuleCountsByItsConfidenceAndByWhatAProfileMeasured(t *testing.T) {
	t.Parallel()
	const line = "dial tcp 10.0.0.7:5000: i/o timeout"
	c := abi.Case{
		ID: "registry", Subject: "TestPush", Labels: []string{"pb001", "ab001", "si001", "nd001"},
		Light:     &abi.LightAnswer{Classification: "nd001", Confidence: 0.62},
		Evidence:  []abi.Evidence{{SourceRef: "log:L1", Content: line, RelevanceConfidence: 0.5, Supports: "nd001"}},
		Documents: []abi.Document{{Name: "log", Text: line + "\n"}},
	}
	// The label by its name for people.
	const text = `rules: [{name: registry-timeout, label: System Issue, reason: it is rebuilt at night, match: 'dial tcp .*:5000: i/o timeout', confidence: 0.95}]`
	reliable := func(right, wrong float64) *abi.Profile {
		given := func(of string) []abi.LabelWeight {
			var list []abi.LabelWeight
			for _, l := range c.Labels {
				w := wrong
				if l == of {
					w = right
				}
				list = append(list, abi.LabelWeight{Label: l, Weight: w})
			}
			return list
		}
		statement := func(source, label string) abi.SourceReliability {
			return abi.SourceReliability{Source: source, Share: 1, Cap: 4, Statements: []abi.SourceStatement{{Says: label, Given: given(label)}}}
		}
		return &abi.Profile{Name: "measured", SignalCap: 1, Sources: []abi.SourceReliability{statement("rule/registry-timeout", "si001"), statement("elsewhere", "nd001")}}
	}
	stranger := reliable(0.5, 0.5)
	stranger.Sources = stranger.Sources[1:]
	for _, tc := range []struct {
		name    string
		rules   *rules.Set
		profile *abi.Profile
		want    string
	}{
		{"without rules", nil, nil, "nd001"},
		{"with a rule", ruleSet(t, text), nil, "si001"},
		{"beside measured sources", ruleSet(t, text), stranger, "si001"},
		{"measured as right", ruleSet(t, text), reliable(0.6, 0.02), "si001"},
		{"measured as worthless", ruleSet(t, text), reliable(0.2, 0.2), ""}, // next to nothing speaks: open,
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := try(t, open(t, host.Config{Rules: tc.rules, Profile: tc.profile}), c).Result
			check.Equal(t, got.Final.Classification, tc.want, got.Final, got.Verdict)
		})
	}
}

// A pattern that takes too long ends by fuel. The result names module and cause, and the trial goes on without the rules; other trials are
// not concerned.
func TestAccept_IG5_AHeavyPatternEndsByFuelAndTheTrialGoesOn(t *testing.T) {
	t.Parallel()
	heavy := fmt.Sprintf("rules: [{name: heavy, label: leak, reason: never ends, match: '%s'}]", "(a?b?c?){900}x")
	set, limits := ruleSet(t, heavy), host.Limits{Fuel: 500_000_000} // a twentieth of the default: for a test that ends soon
	h := open(t, host.Config{Rules: set, Limits: limits})
	c := dispute()
	light := try(t, h, c) // its log is short
	if light.Result.Rules.Error != nil {
		t.Fatalf("%+v", light.Result.Rules.Error)
	}
	c.Documents = append(c.Documents, abi.Document{Name: "noise", Text: strings.Repeat(strings.Repeat("abc", 1000)+"\n", 300)})
	c.ID = "noisy"
	store, data := recordTrials(t, host.Config{Rules: set, Limits: limits}, 1, docket.Entry{Case: c}, docket.Entry{Case: dispute()})
	got := replayAll(t, store, data)
	failed := got[0].Result.Rules.Error
	if failed == nil || failed.Code != trial.CauseFuel || failed.Persona != "rulebook" || failed.Node != "rules" || failed.Module != got[0].Result.Modules["rulebook"] {
		t.Fatalf("%+v", failed)
	}
	if r := got[0].Result; r.Final.Status == trial.Mistrial || r.Final.Classification != light.Result.Final.Classification || r.Error != nil {
		t.Errorf("%+v, %+v", r.Final, r.Error)
	}
	if got[1].Result.Rules.Error != nil {
		t.Errorf("the trial after it has %+v", got[1].Result.Rules.Error)
	}
	var b bytes.Buffer
	if err := render.Explain(&b, got[0], nil, render.TerminalOptions{Width: 200}); err != nil || !strings.Contains(b.String(), "could not be evaluated") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// A record has the rules: a replay needs no file, and gives the same bytes.
func TestAccept_IG5_ARecordIsReplayedWithoutTheFile(t *testing.T) {
	t.Parallel()
	config := host.Config{Rules: ruleSet(t, ofDisk), Record: record.ContentsBytes}
	store, data := recordTrials(t, config, 2, docket.Entry{Case: dispute()})
	for _, again := range replayAll(t, store, data) {
		if r := again.Result.Rules; r == nil || len(r.Matches) != 2 || r.File != "rules.yaml" || r.Digest != config.Rules.Digest {
			t.Errorf("the replay has %+v", r)
		}
	}
	header, _ := trials(t, data)
	named := func(p record.Part) bool { return p.Name == "rules" }
	own := header.Configuration[slices.IndexFunc(header.Configuration, named)]
	other := must.Get(open(t, host.Config{Rules: ruleSet(t, ofDisk+"# changed\n")}).Configuration(t.Context()))(t)
	if at := slices.IndexFunc(other, named); at < 0 || other[at] == own {
		t.Error("another file has the same digest")
	}
	plain, err := open(t, host.Config{}).Configuration(t.Context())
	if err != nil || slices.ContainsFunc(plain, func(p record.Part) bool { return named(p) || p.Name == "module rulebook" }) {
		t.Errorf("%v, %v", plain, err)
	}
}

var scribbler = sync.OnceValues(func() ([]byte, error) { return buildGuest("./testdata/scribbler") })

// The host writes the items of rules itself. What a module in the place of the rulebook says is rejected unless it is what a rule says of a
// line that is there, with the confidence of the rule; and nobody else can speak as a rule.
func TestAccept_IG5_NobodySpeaksAsARule(t *testing.T) {
	t.Parallel()
	wasm := must.Get(scribbler())(t)
	files := modules(t)
	files["rulebook.wasm"] = &fstest.MapFile{Data: wasm}
	h := open(t, host.Config{Rules: ruleSet(t, ofDisk), Modules: files})
	for _, tc := range []struct{ says, code, path string }{
		{"rising:log:L1|12:00 write failed|leak", "", ""},
		{"invented:log:L1|12:00 write failed|leak", "identity", "artifact.investigate.evidence[0].source_ref"},
		{"rising:log:L1|12:00 write failed|quota", "not_a_label", "artifact.investigate.evidence[0].supports"},
		{"rising:log:L1|a line that nobody wrote|leak", "not_in_documents", "artifact.investigate.evidence[0].content"},
		{"rising:elsewhere:L1|12:00 write failed|leak", "not_in_documents", "artifact.investigate.evidence[0].content"},
		{"rising:log:L1|12:00 write failed\na line that nobody wrote|leak", "not_in_documents", "artifact.investigate.evidence[0].content"},
		{"rule/rising:log:L1|12:00 write failed|leak", "identity", "artifact.investigate.evidence[0].source_ref"},
		{"other-domain:log:L1|12:00 write failed|leak", "not_a_label", "artifact.investigate.evidence[0].supports"},
	} {
		c := dispute()
		c.Subject = tc.says
		got := try(t, h, c).Result.Rules
		if tc.code == "" {
			if got.Error != nil || len(got.Matches) != 1 || math.Abs(got.Matches[0].Confidence-rules.DefaultConfidence) > 1e-9 {
				t.Errorf("%s: %+v", tc.says, got)
			}
			continue
		}
		if got.Error == nil || got.Error.Code != trial.CauseInvalidArtifact || len(got.Error.Problems) != 1 || len(got.Matches) != 0 ||
			string(got.Error.Problems[0].Code) != tc.code || got.Error.Problems[0].Path != tc.path {
			t.Errorf("%s: %+v", tc.says, got.Error)
		}
	}
	c := dispute()
	c.Evidence[0].SourceRef = "rule/rising:log:L1"
	check.Fails(t, check.Err(open(t, host.Config{}).Try(t.Context(), c)), "begins names of the host's own", "a case that speaks as a rule")
}
