package render_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// A report shows the opinion, how it was weighed, and what the judges said and
// cite; all of it sanitized.
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
	for _, w := range []render.AuditWriter{render.NewAuditHTML(&page, render.PageOptions{}), render.NewAuditMarkdown(&text, render.PageOptions{})} {
		if err := w.Write(a); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
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
			if !strings.Contains(what, want) {
				t.Errorf("no %q in %s", want, what)
			}
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
