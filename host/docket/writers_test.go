package docket_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/inert"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/sample"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func write(t *testing.T, w docket.Writer, trials ...*docket.Trial) {
	t.Helper()
	for _, trial := range trials {
		if err := w.Write(trial); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWritersGolden(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*bytes.Buffer) docket.Writer{
		"table.txt":    func(b *bytes.Buffer) docket.Writer { return docket.NewTable(b, docket.TerminalOptions{}) },
		"table-80.txt": func(b *bytes.Buffer) docket.Writer { return docket.NewTable(b, docket.TerminalOptions{Width: 80}) },
		"table-140.txt": func(b *bytes.Buffer) docket.Writer {
			return docket.NewTable(b, docket.TerminalOptions{Width: 140})
		},
		"table-colour.txt": func(b *bytes.Buffer) docket.Writer {
			return docket.NewTable(b, docket.TerminalOptions{Width: 120, Colour: true})
		},
		"results.jsonl": func(b *bytes.Buffer) docket.Writer { return docket.NewJSONL(b) },
		"results.json":  func(b *bytes.Buffer) docket.Writer { return docket.NewJSON(b) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			write(t, open(&b), sample.Docket()...)
			golden(t, name, b.Bytes())
		})
	}
}

func TestExplainGolden(t *testing.T) {
	t.Parallel()
	for name, trial := range map[string]*docket.Trial{"explain-amended.txt": sample.Amended(), "explain-mistrial.txt": sample.Mistrial(), "explain-accepted.txt": sample.Accepted()} {
		var b bytes.Buffer
		if err := docket.Explain(&b, trial, nil, docket.TerminalOptions{Width: 100}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
	var b bytes.Buffer
	if err := docket.Explain(&b, sample.Amended(), nil, docket.TerminalOptions{Width: 100, Colour: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "explain-colour.txt", b.Bytes())
}

func TestNarrowTableFits(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	write(t, docket.NewTable(&b, docket.TerminalOptions{Width: 80}), sample.Docket()...)
	rows, _, _ := strings.Cut(b.String(), "\n\n")
	for line := range strings.Lines(rows) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestJSONOfAnEmptyDocketIsValid(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	write(t, docket.NewJSON(&b))
	var got struct {
		Results []docket.Result `json:"results"`
		Summary docket.Summary  `json:"summary"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.Results == nil || got.Summary.Cases != 0 {
		t.Errorf("got %+v, %v from %s", got, err, b.String())
	}
}

func TestExplainNamesPersonasGivenByID(t *testing.T) {
	t.Parallel()
	trial := sample.Amended()
	trial.Passes[0].Hearing.Rounds[0].By.Prosecution = "challenger"
	trial.Passes = append(trial.Passes, docket.Pass{Light: abi.LightAnswer{Classification: sample.Flaky, Confidence: 0.5, Reasoning: "second thoughts"}})
	trial.Passes[1].Steps = []docket.Step{{Node: "hearing", To: "hearing"}}
	var b bytes.Buffer
	if err := docket.Explain(&b, trial, nil, docket.TerminalOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "challenger") {
		t.Error("the id stands there instead of the name")
	}
	for _, want := range []string{"answers the remand: nd001 at 0.50", "second thoughts", "hearing → hearing  once more"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestTableOfAnyWidthFits(t *testing.T) {
	t.Parallel()
	hostile, _ := sample.Hostile()
	for _, width := range []int{60, 72, 80, 100, 132, 200} {
		var b bytes.Buffer
		remanded := *sample.Docket()[0]
		remanded.Result.LightAfter = []docket.Answer{{Classification: sample.Automation, Confidence: 0.6}}
		write(t, docket.NewTable(&b, docket.TerminalOptions{Width: width, Colour: true}), append(sample.Docket(), &remanded)...)
		if width >= 72 && !strings.Contains(b.String(), "si001→ab001") {
			t.Errorf("width %d: nothing tells that Light changed its answer", width)
		}
		for line := range strings.Lines(b.String()) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("width %d: %d columns: %q", width, n, line)
			}
		}
		b.Reset()
		write(t, docket.NewTable(&b, docket.TerminalOptions{Width: width}), hostile)
		if n := strings.Count(b.String(), "\n"); n > 20 {
			t.Errorf("width %d: one hostile case takes %d lines", width, n)
		}
	}
}

// outputs runs a trial through everything that package docket writes.
func outputs(t *testing.T, r *docket.Redactor, trial *docket.Trial) map[string]string {
	t.Helper()
	buffers := map[string]*bytes.Buffer{"table": {}, "narrow": {}, "json": {}, "jsonl": {}, "explain": {}}
	write(t, docket.NewOutput(r,
		docket.NewTable(buffers["table"], docket.TerminalOptions{}), docket.NewTable(buffers["narrow"], docket.TerminalOptions{Width: 80}),
		docket.NewJSON(buffers["json"]), docket.NewJSONL(buffers["jsonl"])), trial)
	if err := docket.Explain(buffers["explain"], trial, r, docket.TerminalOptions{Width: 100}); err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for name, b := range buffers {
		out[name] = b.String()
	}
	return out
}

func TestAccept_CLI5_HostileTextIsInertInTheTerminal(t *testing.T) {
	t.Parallel()
	trial, n := sample.Hostile()
	if n < 60 {
		t.Fatalf("only %d texts are hostile", n)
	}
	for name, out := range outputs(t, nil, trial) {
		if !utf8.ValidString(out) {
			t.Errorf("%s: invalid UTF-8", name)
		}
		for _, r := range out {
			if r != '\n' && !inert.Shows(r) {
				t.Errorf("%s: %U gets through", name, r)
				break
			}
		}
		if name == "jsonl" || name == "json" {
			continue
		}
		want := "␛[31mred"
		if name == "narrow" { // of ids the end is kept
			want = "␛"
		}
		if !strings.Contains(out, want) {
			t.Errorf("%s: the escape is not shown", name)
		}
	}
}

func TestAccept_CLI5_JSONKeepsHostileTextExactly(t *testing.T) {
	t.Parallel()
	trial, _ := sample.Hostile()
	out := outputs(t, nil, trial)["jsonl"]
	var got docket.Result
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := strings.ToValidUTF8(strings.ReplaceAll(trial.Result.ID, "\xff\xc0", "\ufffd\ufffd"), "")
	if got.ID != want {
		t.Errorf("got %q, want %q", got.ID, want)
	}
}

func TestAccept_CLI5_RedactionReachesEveryOutput(t *testing.T) {
	t.Parallel()
	trial, n := sample.Hostile()
	redactor, err := docket.NewRedactor([]string{`n\d+`, `(?i)ALERT`})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(trial.Result)
	for name, out := range outputs(t, redactor, trial) {
		if strings.Contains(out, "alert") {
			t.Errorf("%s: a redacted text gets through", name)
		}
		if name == "jsonl" {
			if !json.Valid([]byte(out)) {
				t.Errorf("%s: is no valid JSON", name)
			}
		}
		if strings.Contains(out, " n1 ") || strings.Contains(out, "n1\"") {
			t.Errorf("%s: the id's number gets through", name)
		}
	}
	redacted := redactor.Trial(trial)
	left, _ := json.Marshal(redacted) //nolint:musttag // only the values are counted
	if got := strings.Count(string(left), docket.Redacted); got < n*3 {
		t.Errorf("%d places are redacted, want 3 in each of %d texts", got, n)
	}
	if after, _ := json.Marshal(trial.Result); !bytes.Equal(before, after) {
		t.Error("the trial itself was changed")
	}
}

func TestRedactionKeepsVocabularyAndComparison(t *testing.T) {
	t.Parallel()
	redactor, err := docket.NewRedactor([]string{`[a-z]+\d*`})
	if err != nil {
		t.Fatal(err)
	}
	got := redactor.Trial(sample.Amended())
	if got.Result.Final.Status != docket.Amended || got.Passes[0].Verdict.Decision != "amend" {
		t.Error("the vocabulary was redacted")
	}
	if got.Result.Final.Classification != docket.Redacted || got.Result.Light.Classification != docket.Redacted {
		t.Error("the labels were not redacted")
	}
	if c := got.Compare(); !c.Known || c.LightRight || !c.CourtRight || !c.Flipped {
		t.Errorf("the comparison was lost: %+v", c)
	}
	if len(got.Result.Modules) != len(sample.Amended().Result.Modules) {
		t.Errorf("modules whose keys became equal were lost: %v", got.Result.Modules)
	}
	if drawing := string(got.Drawing); !strings.Contains(drawing, `viewBox="0 0 320 40"`) || strings.Contains(drawing, "indict") || strings.Contains(drawing, "walk") {
		t.Errorf("the drawing is %s", drawing)
	}
}

func TestRedactorRefusesBadPatternsTogether(t *testing.T) {
	t.Parallel()
	_, err := docket.NewRedactor([]string{"(", "a*", "good"})
	if err == nil || !strings.Contains(err.Error(), `"("`) || !strings.Contains(err.Error(), `"a*"`) || strings.Contains(err.Error(), "good") {
		t.Errorf("got %v", err)
	}
	if r, err := docket.NewRedactor(nil); r != nil || err != nil {
		t.Errorf("without patterns: %v, %v", r, err)
	}
}

func TestSummaryCounts(t *testing.T) {
	t.Parallel()
	s := docket.NewSummary()
	for _, trial := range sample.Docket() {
		s.Add(trial)
	}
	// By hand: amended (Light wrong, court right), affirmed (both right), acquitted and mistrial (open, Light wrong).
	want := &docket.TruthSummary{Known: 4, LightRight: 1, CourtRight: 2, Flips: 1, FlipsToRight: 1, Open: 2, OpenLightWrong: 2, Expected: 1, AsExpected: 1}
	if diff := cmp.Diff(want, s.Truth); diff != "" {
		t.Error(diff)
	}
	if s.Cases != 6 || s.Tried != 4 || s.ByStatus[docket.Rejected] != 1 || s.ByCause[docket.CauseInvalidArtifact] != 1 {
		t.Errorf("got %+v", s)
	}
}

type failing struct{ err error }

func (f failing) Write(*docket.Trial) error { return f.err }
func (f failing) Close() error              { return f.err }

func TestOutputGoesOnWhenAWriterFails(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	broken := errors.New("disk full")
	o := docket.NewOutput(nil, failing{broken}, docket.NewJSONL(&b))
	if err := o.Write(sample.Accepted()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if b.Len() == 0 {
		t.Error("the other writer got nothing")
	}
	if err := o.Close(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// By hand: what Light said, how it ended, what is true.
func TestSummaryCountsFlips(t *testing.T) {
	t.Parallel()
	s := docket.NewSummary()
	for _, c := range []struct {
		light, final, truth string
		status              docket.Status
	}{
		{"a", "a", "a", docket.Affirmed},   // both right
		{"a", "a", "b", docket.Affirmed},   // both wrong
		{"a", "b", "b", docket.Amended},    // to right
		{"a", "b", "a", docket.Amended},    // from right to wrong
		{"a", "b", "c", docket.Amended},    // from wrong to wrong
		{"a", "", "a", docket.Acquitted},   // open, Light was right
		{"a", "", "b", docket.Mistrial},    // open, Light was wrong
		{"a", "b", "", docket.Amended},     // nothing known
		{"a", "a", "a", docket.Accepted},   // not tried
		{"a", "a", "b", docket.Unreviewed}, // not tried
	} {
		trial := &docket.Trial{Result: docket.Result{
			Activated: c.status != docket.Accepted && c.status != docket.Unreviewed,
			Light:     &docket.Answer{Classification: c.light},
			Final:     docket.Final{Status: c.status, Classification: c.final},
		}}
		if c.truth != "" {
			trial.Truth = &docket.Truth{Classification: c.truth}
		}
		s.Add(trial)
	}
	want := &docket.TruthSummary{Known: 7, LightRight: 3, CourtRight: 2, Flips: 3, FlipsToRight: 1, FlipsToWrong: 1, Open: 2, OpenLightWrong: 1}
	if diff := cmp.Diff(want, s.Truth); diff != "" {
		t.Error(diff)
	}
	if s.Cases != 10 || s.Tried != 8 {
		t.Errorf("got %+v", s)
	}
}
