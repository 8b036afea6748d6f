package render_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// opinion is an audit of a name, with two criteria.
func opinion(name, source string, line, first, second int) *trial.Audit {
	return &trial.Audit{
		CaseID: name, CourtName: "Unknown", Source: source, Line: line, GlobalScore: 2.5,
		Results: []trial.AuditResult{
			{CriterionID: "first", NumericScore: first, Share: 0.75, Weight: 1.5, Description: "Is it so?"},
			{CriterionID: "second", NumericScore: second, Share: 0.25, Weight: 0.5},
		},
	}
}

// audited gives what the table for people shows of audits, in a terminal of a width.
func audited(t *testing.T, width int, audits ...*trial.Audit) string {
	t.Helper()
	var b strings.Builder
	w := render.NewAudits(&b, "table", render.TerminalOptions{Width: width})
	for _, a := range audits {
		must.Do(t, w.Write(a))
	}
	must.Do(t, w.Close())
	return b.String()
}

// A text of several lines stands behind a bar: no line of it looks like a criterion or the score.
func TestNoReasoningForgesAScore(t *testing.T) {
	t.Parallel()
	a := opinion("disk", "o.jsonl", 1, 1, 1)
	a.Summary = "Poor.\n\n5.00 of 5"
	a.Results[0].Reasoning = "It is not.\nsecond\nIt is."
	a.Errors = []trial.AuditError{{Persona: "x\n5.00 of 5", Node: "n", Cause: "c", Detail: "d\n5.00 of 5"}}
	got := audited(t, 80, a)
	for _, forged := range []string{"\n5.00 of 5", "\nsecond\n  It is.", "\n  5.00 of 5"} {
		if strings.Contains(got, forged) {
			t.Errorf("%q stands in\n%s", forged, got)
		}
	}
	for _, want := range []string{"\n│ Poor.\n│\n│ 5.00 of 5\n", "\n  │ It is not.\n  │ second\n  │ It is.\n", "x␊5.00 of 5 at n"} {
		check.Contains(t, got, want)
	}
}

func TestOpinionsAreToldApart(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		audit *trial.Audit
		name  string
	}{
		{opinion("disk", "o.jsonl", 1, 1, 1), "disk"},
		{opinion("Unknown", "x/o.jsonl", 3, 1, 1), "o.jsonl:3"},
		{opinion("", "l.json", 1, 1, 1), "l.json item 2"},
		{opinion("", "-", 2, 1, 1), "standard input:2"},
		{opinion("", "-", 0, 1, 1), "standard input"},
		{opinion("", "", 0, 1, 1), "Unknown"},
	} {
		if tc.audit.Source == "l.json" {
			tc.audit.Item = 2
		}
		check.Equal(t, tc.audit.Name(), tc.name)
	}
	text := audited(t, 0,
		opinion("a.txt", "x/a.txt", 0, 1, 2), opinion("a.txt", "y/a.txt", 0, 1, 2), opinion("b.txt", "y/b.txt", 0, 1, 2),
		opinion("disk", "o.jsonl", 1, 1, 2), opinion("disk", "o.jsonl", 2, 1, 2))
	for _, want := range []string{"\nx/a.txt ", "\ny/a.txt ", "\nb.txt ", "\ndisk (o.jsonl:1) ", "\ndisk (o.jsonl:2) "} {
		check.Contains(t, text, want)
	}
}

func TestCriteriaAreColumnsWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	flagged := opinion("b", "", 0, 3, 4)
	flagged.Results[0].SecurityViolationFound, flagged.Results[0].Degraded = true, true
	dissent := "low 1; high 5"
	flagged.Results[1].Dissent = &dissent
	two := []*trial.Audit{opinion("a", "", 0, 1, 2), flagged}
	for _, tc := range []struct {
		width        int
		header, last string
	}{
		{0, "OPINION  SCORE  first  second  FLAGS", "b        2.5    3      4       first: security violation; second: dissent"},
		{60, "OPINION  SCORE  first  second  FLAGS", "b        2.5    3      4       first: security violation; s…"},
		{40, "OPINION  SCORE  first  second", "b        2.5    3 !?   4 ~"},
		{20, "OPINION  SCORE  WEAKEST  FLAGS", "b        2.5    first 3  first: security violati…"},
	} {
		lines := strings.Split(audited(t, tc.width, two...), "\n")
		if lines[0] != tc.header || lines[3] != tc.last {
			t.Errorf("width %d:\n%s\n%s", tc.width, lines[0], lines[3])
		}
	}
	check.Contains(t, audited(t, 40, two...), "\n! security violation, ? a judge does not count, ~ dissent\n", "marks are not explained")
	flagged.CourtName = "Court of b"
	check.Contains(t, audited(t, 0, two...), "OPINION  COURT ", "the court is not shown")
}

// A result has what the score is made of.
func TestAWeightIsInAllOutputs(t *testing.T) {
	t.Parallel()
	a := opinion("a", "", 0, 1, 2)
	text := must.Get(json.Marshal(a))(t)
	check.Contains(t, string(text), `"description":"Is it so?","weight":1.5,"share":0.75`)
	if text := audited(t, 0, a); !strings.Contains(text, "first      1      75%") || !strings.Contains(text, "  Is it so?") {
		t.Errorf("%s", text)
	}
}

func TestACutDocumentIsTold(t *testing.T) {
	t.Parallel()
	a := opinion("a", "", 0, 1, 2)
	a.CutDocuments = []trial.DocumentCut{{Name: "log", Bytes: 3000, Kept: 2000}}
	want := "log was cut: of its 3000 bytes, the first and the last were looked at, 2000 together"
	check.Contains(t, audited(t, 0, a), want)
	check.Contains(t, audited(t, 0, a, opinion("b", "", 0, 1, 2)), "1 was checked against documents that were cut")
	again := docket.CutAgain(a.CutDocuments, []trial.DocumentCut{{Name: "log", Bytes: 2040, Kept: 1040}, {Name: "map", Bytes: 9, Kept: 8}})
	if !slices.Equal(again, []trial.DocumentCut{{Name: "log", Bytes: 3000, Kept: 1000}, {Name: "map", Bytes: 9, Kept: 8}}) {
		t.Errorf("%v", again)
	}
}

func TestOpinionsAreRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string // case, text and line, or the error
	}{
		"text":            {"It was so.", []string{"dir file: It was so. 0"}},
		"in brackets":     {"[1] says so.", []string{"dir file: [1] says so. 0"}},
		"a list":          {"[\n {\"text\":\"a\"},\n\n {\"text\":\"b\",\"case_id\":\"c\"}\n]\n", []string{": a 2 item 1", "c: b 4 item 2"}},
		"one is wrong":    {`[{"text":"a"},{"txt":"b"},{"text":"c"}]`, []string{": a 1", "dir/file:1: [1].text: is missing (missing_field)", ": c 1 item 3"}},
		"no object":       {`[{"text":"a"}, 7]`, []string{": a 1", "wrong_type"}},
		"no JSON":         {"[{\"text\":\"a\"},\n x]", []string{"dir/file:2: is not valid JSON at column 2"}},
		"goes on":         {`[{"text":"a"}] b`, []string{"something follows the list"}},
		"an empty list":   {"[ ]", []string{"no_opinion"}},
		"an empty file":   {" \n", []string{"no_opinion"}},
		"lines":           {"{\"text\":\"a\"}\n\n{\"text\":\"b\"}", []string{": a 1", ": b 3"}},
		"an object alone": {"{\n\"text\":\"a\"}", []string{": a 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			for e, err := range docket.Opinions("dir/file", strings.NewReader(tc.text)) {
				got := strings.Join([]string{strings.Replace(e.Opinion.CaseID, "file", "dir file", 1), e.Opinion.Text + " " + string(rune('0'+e.Line))}, ": ")
				if e.Item > 0 {
					got += " item " + string(rune('0'+e.Item))
				}
				if err != nil {
					got = err.Error()
				}
				if n == len(tc.want) || !strings.Contains(got, tc.want[n]) {
					t.Fatalf("%d: %q, want %v", n, got, tc.want)
				}
				n++
			}
			check.Equal(t, n, len(tc.want), tc.want)
		})
	}
}

// A report shows the opinion, how it was weighed, and what the judges said and cite; all of it sanitized.
func TestReportsOfAuditsTellAll(t *testing.T) {
	t.Parallel()
	argument := "a long argument, " + strings.Repeat("and more of it, ", 400) + "with <b>an end</b>"
	a := &trial.Audit{
		CaseID: "a.txt", CourtName: trial.Unnamed, Source: "x/a.txt", GlobalScore: 2.5, Degraded: true,
		Opinion:      "First line.\n</details><script>alert(1)</script> ``` \u202eend.",
		Cited:        []trial.CitedItem{{SourceRef: "log:L2", Content: "<i>full</i>"}},
		CutDocuments: []trial.DocumentCut{{Name: "log", Bytes: 3000, Kept: 2000}},
		Results: []trial.AuditResult{{
			CriterionID: "first", NumericScore: 3, Share: 0.75, Description: "Is it so?", Reasoning: "mild gives 3: " + argument,
			Judges: []trial.AuditJudge{
				{Judge: "mild", Standing: "counts", CitedEvidence: []string{"log:L2"}},
				{Judge: "liar", Standing: "overruled", Argument: "it said this"},
			},
		}},
	}
	var page, text strings.Builder
	for _, w := range []render.AuditWriter{render.NewAuditReport(&page, false), render.NewAuditReport(&text, true)} {
		must.Do(t, w.Write(a))
		must.Do(t, w.Close())
	}
	for what, has := range map[string][]string{
		page.String(): {
			"<h2><bdi>a.txt</bdi></h2>", "x/a.txt", "75% of the score", "Is it so?", "with &lt;b&gt;an end&lt;/b&gt;", "liar said: it said this",
			"<bdi>mild</bdi> cites <code>log:L2</code>", "<blockquote>&lt;i&gt;full&lt;/i&gt;</blockquote>", "<summary>The opinion</summary>",
			"First line.\n&lt;/details&gt;&lt;script&gt;", "log was cut: of its 3000 bytes", "degraded",
		},
		text.String(): {
			"## `a.txt`", "From `x/a.txt`", "| `first` | 3 | 75% |", "Is it so?", "with &lt;b&gt;an end&lt;/b&gt;", "liar said: it said this",
			"mild cites `log:L2`", "`log:L2`: &lt;i&gt;full", "<details><summary>The opinion</summary>\n\n````text\nFirst line.\n",
			"log was cut: of its 3000 bytes", "degraded; documents cut**",
		},
	} {
		for _, want := range has {
			check.Contains(t, what, want)
		}
		for _, bad := range []string{"\u202e", "Court</th>", "Court |", "Unknown"} {
			if strings.Contains(what, bad) {
				t.Errorf("%q is in %s", bad, what)
			}
		}
	}
	if strings.Contains(page.String(), "<script>") {
		t.Error("the opinion's markup is alive")
	}
	if a.Opinion == "" || !strings.Contains(a.Opinion, "\u202e") {
		t.Error("the audit was changed")
	}
}
