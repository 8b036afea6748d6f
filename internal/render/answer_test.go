package render_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/render/testkit/sample"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var answerTrees = render.AnswerTrees{Base: "3f2c1a9b0d1e2f3a4b5c", Name: "main", Why: "merge base of HEAD and origin/main", Head: "9ab12cd0e1f2"}

type openAnswers func(b *bytes.Buffer, names []string) render.AnswerWriter

func answerTable(width int, colour bool) openAnswers {
	return func(b *bytes.Buffer, names []string) render.AnswerWriter {
		return render.NewAnswerTable(b, answerTrees, names, render.TerminalOptions{Width: width, Colour: colour})
	}
}

func answerStory(width int, colour bool) openAnswers {
	return func(b *bytes.Buffer, _ []string) render.AnswerWriter {
		return render.NewAnswerExplanations(b, answerTrees, render.TerminalOptions{Width: width, Colour: colour})
	}
}

func answerHTML(b *bytes.Buffer, _ []string) render.AnswerWriter {
	return render.NewAnswerHTML(b, answerTrees)
}

func answerMarkdown(b *bytes.Buffer, _ []string) render.AnswerWriter {
	return render.NewAnswerMarkdown(b, answerTrees)
}

func answerForm(form string) openAnswers {
	return func(b *bytes.Buffer, _ []string) render.AnswerWriter {
		return render.NewAnswerForm(form, b, answerTrees)
	}
}

func answerJSONL(b *bytes.Buffer, _ []string) render.AnswerWriter {
	return render.NewAnswerJSONL(b, answerTrees)
}

// written are answers as a writer writes them. The first has a trial.
func written(t *testing.T, open openAnswers, list ...alibi.Answer) string {
	t.Helper()
	var names []string
	for i := range list {
		names = append(names, list[i].Test)
	}
	var b bytes.Buffer
	w := open(&b, names)
	for i := range list {
		a := render.Answered{Answer: list[i], Took: time.Duration(i*17+4) * time.Second}
		switch {
		case i == 0:
			a.Trial = sample.Amended()
		case i == 1 || i == 2:
			a.Place = answers.Place{File: "cart/parse_test.go", Line: 31, Owners: []string{"@acme/shop", "ann@example.org"}}
		case a.Label == alibi.Environment:
			a.Place = answers.Place{File: "cart/upload_test.go", Quarantined: &answers.Quarantined{Reason: "the bucket is gone", Owner: "@acme/infra", Expires: "2027-01-31"}}
		}
		must.Do(t, w.Write(&a))
	}
	must.Do(t, w.Close())
	return b.String()
}

func TestAccept_AL6_AnswersGolden(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]openAnswers{
		"answers.txt": answerTable(0, false), "answers-100.txt": answerTable(100, false), "answers-50.txt": answerTable(50, false), "answers-colour.txt": answerTable(120, true),
		"answers-explain.txt": answerStory(100, false), "answers-explain-60.txt": answerStory(60, false), "answers-explain-colour.txt": answerStory(100, true),
		"answers.md": answerMarkdown, "answers.jsonl": answerJSONL,
		"answers.json": answerForm(render.FormJSON), "answers.sarif": answerForm(render.FormSARIF), "answers.xml": answerForm(render.FormJUnit),
		"answers.github": answerForm(render.FormGitHub), "answers.gitlab.json": answerForm(render.FormGitLab),
	} {
		golden(t, name, []byte(written(t, open, sample.Answers()...)))
	}
	_, body, found := strings.Cut(written(t, answerHTML, sample.Answers()...), "</head>\n")
	if !found {
		t.Fatal("there is no head")
	}
	golden(t, "answers.html", []byte(body))
}

// forPeople are the forms that people read.
var forPeople = map[string]func(*bytes.Buffer, render.AnswerTrees) render.AnswerWriter{
	"table": func(b *bytes.Buffer, trees render.AnswerTrees) render.AnswerWriter {
		return render.NewAnswerTable(b, trees, nil, render.TerminalOptions{})
	},
	"explanations": func(b *bytes.Buffer, trees render.AnswerTrees) render.AnswerWriter {
		return render.NewAnswerExplanations(b, trees, render.TerminalOptions{})
	},
	"html": func(b *bytes.Buffer, trees render.AnswerTrees) render.AnswerWriter {
		return render.NewAnswerHTML(b, trees)
	},
	"md": func(b *bytes.Buffer, trees render.AnswerTrees) render.AnswerWriter {
		return render.NewAnswerMarkdown(b, trees)
	},
}

// TestAccept_AL6_AnInterruptedRunIsNoAllClear: nothing says that nothing failed where failures have no answer.
func TestAccept_AL6_AnInterruptedRunIsNoAllClear(t *testing.T) {
	t.Parallel()
	for name, open := range forPeople {
		for want, partial := range map[string]render.PartialAnswers{
			"Interrupted: 0 of 3 answered.": {Failures: 3, Interrupted: true}, "Interrupted: 1 of 3 answered.": {Answered: 1, Failures: 3, Interrupted: true}, "1 of 2 answered.": {Answered: 1, Failures: 2},
		} {
			trees, own := answerTrees, render.PartialAnswers{}
			trees.Partial = &own
			var b bytes.Buffer
			w := open(&b, trees)
			for i := range partial.Answered {
				must.Do(t, w.Write(&render.Answered{Answer: sample.Answers()[i]}))
			}
			own = partial
			must.Do(t, w.Close())
			if said := b.String(); strings.Contains(said, "Nothing failed") || !strings.Contains(said, want) {
				t.Errorf("%s: %s, want %q", name, said, want)
			}
		}
	}
}

// TestAccept_AL5_AnotherCourtIsNamed with its price, beside the base.
func TestAccept_AL5_AnotherCourtIsNamed(t *testing.T) {
	t.Parallel()
	trees := answerTrees
	trees.Court, trees.MaxFalse = "my\x1b.yaml, judge mine (sha256 0123)", 0.05
	for name, open := range forPeople {
		said := written(t, func(b *bytes.Buffer, _ []string) render.AnswerWriter { return open(b, trees) }, sample.Answers()...)
		if !strings.Contains(strings.ReplaceAll(said, "\\", ""), "judge mine (sha256 0123)") || !strings.Contains(said, "5% probable") || strings.Contains(said, "\x1b") {
			t.Errorf("%s: %s", name, said)
		}
	}
	lines := written(t, func(b *bytes.Buffer, _ []string) render.AnswerWriter { return render.NewAnswerJSONL(b, trees) }, sample.Answers()...)
	if !strings.Contains(lines, `judge mine (sha256 0123)`) || !strings.Contains(lines, `"max_false_alibi":0.05`) {
		t.Error(lines)
	}
}

func TestAccept_AL6_NothingFailed(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]openAnswers{"table": answerTable(80, false), "html": answerHTML, "md": answerMarkdown} {
		check.Contains(t, written(t, open), "Nothing failed.", name, "does not say so")
	}
}

func TestAccept_AL6_HostileAnswersAreInert(t *testing.T) {
	t.Parallel()
	verdicts := []alibi.Verdict{alibi.IsYours, alibi.IsOpen, alibi.NotYours}
	filled := func(text string) (list []alibi.Answer) {
		for _, v := range verdicts {
			list = append(list, sample.FilledAnswer(v, text))
		}
		return list
	}
	attack := filled(sample.Attack)
	for name, open := range map[string]openAnswers{
		"table": answerTable(0, false), "narrow table": answerTable(60, false), "explanation": answerStory(80, false), "md": answerMarkdown, "html": answerHTML, "jsonl": answerJSONL,
	} {
		page := written(t, open, attack...)
		for _, r := range page {
			if r != '\n' && r != '\t' && !sanitize.Visible(r) {
				t.Errorf("%s: %U gets through", name, r)
			}
		}
	}
	check.Equal(t, strings.Count(written(t, answerTable(0, false), attack...), "\n"), len(verdicts)+3, "the table", "lines")
	if diff := cmp.Diff(skeleton(written(t, answerHTML, filled("word")...)), skeleton(written(t, answerHTML, attack...))); diff != "" {
		t.Errorf("the attack changes the elements:\n%s", diff)
	}
	fence := ""
	for line := range strings.SplitSeq(written(t, answerMarkdown, attack...), "\n") {
		switch run := strings.TrimSuffix(line, "text"); {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = run
		case line == fence:
			fence = ""
		case fence == "":
			checkMarkdownLine(t, line, "")
		}
	}
	check.Equal(t, fence, "", "a code block is not closed")
}

func TestAccept_AL6_AnswersInHTMLLoadAndRunNothing(t *testing.T) {
	t.Parallel()
	page := written(t, answerHTML, sample.Answers()...)
	check.Equal(t, outside.FindString(strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, "")), "", "the page")
	if !strings.Contains(page, `http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'`) {
		t.Error("the page does not forbid itself scripts")
	}
}

var folded = regexp.MustCompile(`(?s)<details class="fold">.*?<p class="back">`)

// What only the court knows stands below the fold: codes of labels and edges, weights, the path.
func TestAccept_AL10_NoCodeStandsAboveTheFold(t *testing.T) {
	t.Parallel()
	page := written(t, answerHTML, sample.Answers()...)
	_, page, _ = strings.Cut(page, "<body>")
	codes := regexp.MustCompile(`pb001|ab001|HD\d|\bnats\b|handoff|Light|hearing`)
	check.Equal(t, codes.FindString(folded.ReplaceAllString(page, "")), "", "stands above the fold")
	if !codes.MatchString(page) {
		t.Error("the trial is not told below the fold")
	}
	for name, open := range map[string]openAnswers{"table": answerTable(0, false), "explanation": answerStory(0, false), "md": answerMarkdown} {
		check.Equal(t, codes.FindString(written(t, open, sample.Answers()...)), "", name, "says")
	}
}

func TestAccept_AL6_AnswersFitTheTerminal(t *testing.T) {
	t.Parallel()
	answers := sample.Answers()
	answers[3].Test = "TestUpload/" + strings.Repeat("with_a_long_name_", 5)
	for width := 40; width <= 160; width += 7 {
		for name, open := range map[string]openAnswers{"table": answerTable(width, true), "explanation": answerStory(width, true)} {
			page := written(t, open, answers...)
			_, page, _ = strings.Cut(page, "\n") // the base
			for line := range strings.SplitSeq(page, "\n") {
				if n := text.StringWidthWithoutEscSequences(line); n > width {
					t.Errorf("%s at %d: %d columns: %q", name, width, n, line)
				}
			}
			for i := range answers {
				if whole := strings.Contains(page, answers[i].Test); name == "table" && i != 2 && whole != (len(answers[i].Test) <= width) {
					t.Errorf("at %d: %s stands whole: %v", width, answers[i].Test, whole)
				}
			}
		}
	}
}

func TestAccept_AL6_MarkdownHasAKilobyteAFailure(t *testing.T) {
	t.Parallel()
	answers := sample.Answers()
	for _, text := range []string{sample.Attack, strings.Repeat("`", 5000), strings.Repeat("<", 5000), strings.Repeat("å|", 3000), "\n\n\n"} {
		for _, v := range []alibi.Verdict{alibi.IsYours, alibi.IsOpen, alibi.NotYours} {
			answers = append(answers, sample.FilledAnswer(v, text))
		}
	}
	for i := range answers {
		page := written(t, answerMarkdown, answers[i])
		_, of, found := strings.Cut(page, "\n### ")
		if !found {
			t.Errorf("answer %d has no section: %s", i, page)
		}
		if end := strings.LastIndex(of, "\n\n"); end > render.MarkdownAnswerBytes {
			t.Errorf("answer %d takes %d bytes", i, end)
		}
	}
}

func TestAccept_AL6_EqualFailuresAreOneRow(t *testing.T) {
	t.Parallel()
	answers := sample.Answers()
	apart := []alibi.Answer{answers[1], answers[0], answers[2]}
	if page := written(t, answerTable(0, false), answers...); strings.Count(page, "TestParse/") != 1 || !strings.Contains(page, "TestParse/empty and 1 more") {
		t.Errorf("the table has more than one row: %s", page)
	}
	if page := written(t, answerHTML, apart...); strings.Count(page, "<article") != 2 || !strings.Contains(page, "1 more test fails in the same way") || !strings.Contains(page, "TestParse/blank") {
		t.Errorf("the page has more than one section, or does not name the other test: %s", page)
	}
	different := answers[2]
	different.Message = "another"
	if page := written(t, answerTable(0, false), answers[1], different); strings.Count(page, "TestParse/") != 2 {
		t.Errorf("different failures are one row: %s", page)
	}
}
