package render_test

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
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/render/testkit/sample"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must.Do(t, os.MkdirAll("testdata", 0o755))
		must.Do(t, os.WriteFile(file, got, 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	check.Same(t, cmp.Diff(string(want), string(got)))
}

func write(t *testing.T, w render.Writer, trials ...*trial.Trial) {
	t.Helper()
	for _, outcome := range trials {
		must.Do(t, w.Write(outcome))
	}
	must.Do(t, w.Close())
}

func redacting(t *testing.T, patterns ...string) *render.Redactor {
	t.Helper()
	return must.Get(render.NewRedactor(patterns))(t)
}

// tabled is the table of trials at a width.
func tabled(t *testing.T, width int, trials ...*trial.Trial) string {
	t.Helper()
	var b bytes.Buffer
	write(t, render.NewTable(&b, render.TerminalOptions{Width: width}), trials...)
	return b.String()
}

func explained(t *testing.T, outcome *trial.Trial, r *render.Redactor, options render.TerminalOptions) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, render.Explain(&b, outcome, r, options))
	return b.String()
}

func TestWritersGolden(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*bytes.Buffer) render.Writer{
		"table.txt":    func(b *bytes.Buffer) render.Writer { return render.NewTable(b, render.TerminalOptions{}) },
		"table-80.txt": func(b *bytes.Buffer) render.Writer { return render.NewTable(b, render.TerminalOptions{Width: 80}) },
		"table-140.txt": func(b *bytes.Buffer) render.Writer {
			return render.NewTable(b, render.TerminalOptions{Width: 140})
		},
		"table-colour.txt": func(b *bytes.Buffer) render.Writer {
			return render.NewTable(b, render.TerminalOptions{Width: 120, Colour: true})
		},
		"results.jsonl": func(b *bytes.Buffer) render.Writer { return render.NewJSONL(b) },
		"results.json":  func(b *bytes.Buffer) render.Writer { return render.NewJSON(b) },
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
	for name, outcome := range map[string]*trial.Trial{"explain-amended.txt": sample.Amended(), "explain-mistrial.txt": sample.Mistrial(), "explain-accepted.txt": sample.Accepted()} {
		golden(t, name, []byte(explained(t, outcome, nil, render.TerminalOptions{Width: 100})))
	}
	golden(t, "explain-colour.txt", []byte(explained(t, sample.Amended(), nil, render.TerminalOptions{Width: 100, Colour: true})))
}

func TestJSONOfAnEmptyDocketIsValid(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	write(t, render.NewJSON(&b))
	var got struct {
		Results []trial.Result `json:"results"`
		Summary render.Summary `json:"summary"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.Results == nil || got.Summary.Cases != 0 {
		t.Errorf("got %+v, %v from %s", got, err, b.String())
	}
}

func TestExplainNamesPersonasGivenByID(t *testing.T) {
	t.Parallel()
	outcome := sample.Amended()
	outcome.Passes[0].Hearing.Rounds[0].By.Prosecution = "challenger"
	outcome.Passes = append(outcome.Passes, trial.Pass{Light: abi.LightAnswer{Classification: sample.Flaky, Confidence: 0.5, Reasoning: "second thoughts"}})
	outcome.Passes[1].Steps = []trial.Step{{Node: "hearing", To: "hearing"}}
	story := explained(t, outcome, nil, render.TerminalOptions{})
	if strings.Contains(story, "challenger") {
		t.Error("the id stands there instead of the name")
	}
	for _, want := range []string{"answers the remand: nd001 at 0.50", "second thoughts", "hearing → hearing  again"} {
		check.Contains(t, story, want)
	}
}

func TestTableOfAnyWidthFits(t *testing.T) {
	t.Parallel()
	hostile, _ := sample.Hostile()
	for _, width := range []int{60, 72, 80, 100, 132, 200} {
		var b bytes.Buffer
		remanded := *sample.Docket()[0]
		remanded.Result.LightAfter = []trial.Answer{{Classification: sample.Automation, Confidence: 0.6}}
		write(t, render.NewTable(&b, render.TerminalOptions{Width: width, Colour: true}), append(sample.Docket(), &remanded)...)
		if width >= 132 && !strings.Contains(b.String(), "system issue→automation") {
			t.Errorf("width %d: nothing tells that Light changed its answer", width)
		}
		for line := range strings.Lines(b.String()) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("width %d: %d columns: %q", width, n, line)
			}
		}
		b.Reset()
		write(t, render.NewTable(&b, render.TerminalOptions{Width: width}), hostile)
		if n := strings.Count(b.String(), "\n"); n > 20 {
			t.Errorf("width %d: one hostile case takes %d lines", width, n)
		}
	}
}

// outputs runs a trial through everything that this package writes.
func outputs(t *testing.T, r *render.Redactor, outcome *trial.Trial) map[string]string {
	t.Helper()
	buffers := map[string]*bytes.Buffer{"table": {}, "narrow": {}, "json": {}, "jsonl": {}, "html": {}, "md": {}}
	write(t, render.NewOutput(r,
		render.NewTable(buffers["table"], render.TerminalOptions{}), render.NewTable(buffers["narrow"], render.TerminalOptions{Width: 80}),
		render.NewJSON(buffers["json"]), render.NewJSONL(buffers["jsonl"]),
		asHTML(buffers["html"]), asMarkdown(buffers["md"])), outcome)
	out := map[string]string{"explain": explained(t, outcome, r, render.TerminalOptions{Width: 100})}
	for name, b := range buffers {
		out[name] = b.String()
	}
	return out
}

func TestAccept_CLI5_HostileTextIsInertEverywhere(t *testing.T) {
	t.Parallel()
	outcome, n := sample.Hostile()
	if n < 60 {
		t.Fatalf("only %d texts are hostile", n)
	}
	for name, out := range outputs(t, nil, outcome) {
		if !utf8.ValidString(out) {
			t.Errorf("%s: invalid UTF-8", name)
		}
		for _, r := range out {
			if r != '\n' && (r != '\t' || name != "html" && name != "md") && !sanitize.Visible(r) {
				t.Errorf("%s: %U gets through", name, r)
				break
			}
		}
		if name == "jsonl" || name == "json" || name == "md" { // which escapes the bracket
			continue
		}
		want := "␛[31mred"
		if name == "narrow" { // of ids the end is kept
			want = "␛"
		}
		check.Contains(t, out, want, name, "the escape is not shown")
	}
}

func TestAccept_CLI5_JSONKeepsHostileTextExactly(t *testing.T) {
	t.Parallel()
	outcome, _ := sample.Hostile()
	out := outputs(t, nil, outcome)["jsonl"]
	var got trial.Result
	must.Do(t, json.Unmarshal([]byte(out), &got))
	want := strings.ToValidUTF8(strings.ReplaceAll(outcome.Result.ID, "\xff\xc0", "\ufffd\ufffd"), "")
	check.Equal(t, got.ID, want)
}

func TestAccept_CLI5_RedactionReachesEveryOutput(t *testing.T) {
	t.Parallel()
	outcome, n := sample.Hostile()
	redactor := redacting(t, `n\d+`, `(?i)ALERT`)
	before, _ := json.Marshal(outcome.Result)
	for name, out := range outputs(t, redactor, outcome) {
		if strings.Contains(out, "alert") {
			t.Errorf("%s: a redacted text gets through", name)
		}
		if name == "jsonl" && !json.Valid([]byte(out)) {
			t.Errorf("%s: is no valid JSON", name)
		}
		if (name == "html" || name == "md") && strings.Count(out, "redacted") < 80 {
			t.Errorf("%s: too little is redacted", name)
		}
		if strings.Contains(out, " n1 ") || strings.Contains(out, "n1\"") {
			t.Errorf("%s: the id's number gets through", name)
		}
	}
	redacted := redactor.Trial(outcome)
	left, _ := json.Marshal(redacted) //nolint:musttag // only the values are counted
	if got := strings.Count(string(left), render.Redacted); got < n*3 {
		t.Errorf("%d places are redacted, want 3 in each of %d texts", got, n)
	}
	if after, _ := json.Marshal(outcome.Result); !bytes.Equal(before, after) {
		t.Error("the trial itself was changed")
	}
}

func TestRedactionKeepsVocabularyAndComparison(t *testing.T) {
	t.Parallel()
	redactor := redacting(t, `[a-z]+\d*`)
	got := redactor.Trial(sample.Amended())
	if got.Result.Final.Status != trial.Amended || got.Passes[0].Verdict.Decision != "amend" {
		t.Error("the vocabulary was redacted")
	}
	if got.Result.Final.Classification != render.Redacted || got.Result.Light.Classification != render.Redacted {
		t.Error("the labels were not redacted")
	}
	if c := got.Compare(); !c.Known || c.LightRight || !c.CourtRight || !c.Flipped {
		t.Errorf("the comparison was lost: %+v", c)
	}
	check.Equal(t, len(got.Result.Modules), len(sample.Amended().Result.Modules), "modules whose keys became equal were lost", got.Result.Modules)
}

func TestRedactorRejectsBadPatternsTogether(t *testing.T) {
	t.Parallel()
	_, err := render.NewRedactor([]string{"(", "a*", "good"})
	if err == nil || !strings.Contains(err.Error(), `"("`) || !strings.Contains(err.Error(), `"a*"`) || strings.Contains(err.Error(), "good") {
		t.Errorf("got %v", err)
	}
	if r, err := render.NewRedactor(nil); r != nil || err != nil {
		t.Errorf("without patterns: %v, %v", r, err)
	}
}

type failing struct{ err error }

func (f failing) Write(*trial.Trial) error { return f.err }
func (f failing) Close() error             { return f.err }

func TestOutputGoesOnWhenAWriterFails(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	broken := errors.New("disk full")
	o := render.NewOutput(nil, failing{broken}, render.NewJSONL(&b))
	check.Is(t, o.Write(sample.Accepted()), broken)
	if b.Len() == 0 {
		t.Error("the other writer got nothing")
	}
	check.Is(t, o.Close(), broken)
}

// By hand: what Light said, how it ended, what is true.
func TestSummaryCountsFlips(t *testing.T) {
	t.Parallel()
	s := render.NewSummary()
	for _, c := range []struct {
		light, final, truth string
		status              trial.Status
	}{
		{"a", "a", "a", trial.Affirmed},   // both right
		{"a", "a", "b", trial.Affirmed},   // both wrong
		{"a", "b", "b", trial.Amended},    // to right
		{"a", "b", "a", trial.Amended},    // from right to wrong
		{"a", "b", "c", trial.Amended},    // from wrong to wrong
		{"a", "", "a", trial.Acquitted},   // open, Light was right
		{"a", "", "b", trial.Mistrial},    // open, Light was wrong
		{"a", "b", "", trial.Amended},     // nothing known
		{"a", "a", "a", trial.Accepted},   // not tried
		{"a", "a", "b", trial.Unreviewed}, // not tried
	} {
		outcome := &trial.Trial{Result: trial.Result{
			Activated: c.status != trial.Accepted && c.status != trial.Unreviewed,
			Light:     &trial.Answer{Classification: c.light},
			Final:     trial.Final{Status: c.status, Classification: c.final},
		}}
		if c.truth != "" {
			outcome.Truth = &trial.Truth{Classification: c.truth}
		}
		s.Add(outcome)
	}
	want := &render.TruthSummary{Known: 7, LightRight: 3, CourtRight: 2, Flips: 3, FlipsToRight: 1, FlipsToWrong: 1, Open: 2, OpenLightWrong: 1}
	check.Same(t, cmp.Diff(want, s.Truth))
	if s.Cases != 10 || s.Tried != 8 {
		t.Errorf("got %+v", s)
	}
}

// Texts of others begin no line: neither a subject nor a reference forges a line of ours.
func TestNoTextForgesALine(t *testing.T) {
	t.Parallel()
	outcome, _ := sample.Filled("x\nFORGED")
	for name, out := range outputs(t, nil, outcome) {
		for line := range strings.Lines(out) {
			if name != "html" && name != "md" && strings.HasPrefix(strings.TrimLeft(line, " "), "FORGED") {
				t.Errorf("%s: a text begins the line %q", name, line)
				break
			}
		}
	}
	outcome, _ = sample.Filled("x\n  [9] forged")
	outcome.Case.Subject = "disk full\n  [9] \x1b[1mforged\r\u2028"
	safe := render.Sanitize(outcome)
	check.Equal(t, safe.Case.Subject, "disk full␊  [9] ␛[1mforged␍<U+2028>")
	if got := safe.Passes[0].Indictment.Evidence[0].SourceRef; !strings.HasPrefix(got, "x␊  [9] forged") {
		t.Errorf("a reference is %q", got)
	}
	if got := safe.Passes[0].Verdict.Reasoning; !strings.HasPrefix(got, "x\n  [9] forged") {
		t.Errorf("prose lost its line break: %q", got)
	}
}
