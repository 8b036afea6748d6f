package render_test

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/render/testkit/sample"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

type open func(*bytes.Buffer) render.Writer

func asHTML(b *bytes.Buffer) render.Writer     { return render.NewHTML(b) }
func asMarkdown(b *bytes.Buffer) render.Writer { return render.NewMarkdown(b) }

func rendered(t testing.TB, o open, trials ...*trial.Trial) string {
	t.Helper()
	var b bytes.Buffer
	w := o(&b)
	for _, outcome := range trials {
		must.Do(t, w.Write(outcome))
	}
	must.Do(t, w.Close())
	return b.String()
}

func TestReportsGolden(t *testing.T) {
	t.Parallel()
	_, body, found := strings.Cut(rendered(t, asHTML, sample.Docket()...), "</head>\n")
	if !found {
		t.Fatal("there is no head")
	}
	golden(t, "report.html", []byte(body))
	golden(t, "report.md", []byte(rendered(t, asMarkdown, sample.Docket()...)))
}

func TestReportsOfAnEmptyDocketSaySo(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]open{"html": asHTML, "md": asMarkdown} {
		check.Contains(t, rendered(t, o), "There is no case in this docket.", name, "does not say it")
	}
}

var (
	tag = regexp.MustCompile(`<[^>]*>`)
	// held is an attribute that holds text of the data.
	held = regexp.MustCompile(`title="[^"]*"`)
	// outside is whatever would load something, or run.
	outside = regexp.MustCompile(`(?i)<(script|iframe|img|link|object|embed|base|form)|\son[a-z]+\s*=|src\s*=|href="[^#]|url\(|@import|https?:`)
)

// skeleton is a page without its text: the tags in their order.
func skeleton(page string) []string {
	tags := tag.FindAllString(page, -1)
	for i := range tags {
		tags[i] = held.ReplaceAllString(tags[i], "title")
	}
	return tags
}

func TestAccept_CLI5_HostileTextIsInertInHTML(t *testing.T) {
	t.Parallel()
	hostile, _ := sample.Hostile()
	harmless, _ := sample.Filled("word")
	page := rendered(t, asHTML, hostile)
	check.Same(t, cmp.Diff(skeleton(rendered(t, asHTML, harmless)), skeleton(page)), "the attack changes the elements")
	text := html.UnescapeString(tag.ReplaceAllString(page, ""))
	if n := strings.Count(text, sanitize.Block(sample.Attack)); n < 40 {
		t.Errorf("the text itself stands only %d times in the page", n)
	}
}

func TestAccept_CLI5_HTMLLoadsAndRunsNothing(t *testing.T) {
	t.Parallel()
	page := rendered(t, asHTML, sample.Docket()...)
	markup := strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, "")
	check.Equal(t, outside.FindString(markup), "", "the page")
	if !strings.Contains(page, `http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'`) {
		t.Error("the page does not forbid itself scripts")
	}
}

func TestAccept_CLI5_HostileTextIsInertInMarkdown(t *testing.T) {
	t.Parallel()
	hostile, _ := sample.Hostile()
	harmless, _ := sample.Filled("word")
	got, want := rendered(t, asMarkdown, hostile), rendered(t, asMarkdown, harmless)
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	must.Equal(t, len(gotLines), len(wantLines), "lines")
	fence := ""
	for i, line := range gotLines {
		if run := strings.TrimRight(line, "tex"); strings.HasPrefix(line, "```") && strings.Trim(run, "`") == "" {
			if fence == "" {
				fence = run
			} else if line == fence {
				fence = ""
			}
			continue
		}
		if strings.HasPrefix(line, "<details><summary>") && line == wantLines[i] || line == "</details>" {
			continue // ours
		}
		if fence == "" {
			checkMarkdownLine(t, line, wantLines[i])
		}
	}
	check.Equal(t, fence, "", "a code block is not closed")
}

// checkMarkdownLine checks a line outside code blocks against the same line with harmless text.
func checkMarkdownLine(t *testing.T, line, harmless string) {
	t.Helper()
	bare := withoutCode(line)
	for _, bad := range []string{"<", "://", "@", "#1", "[x]", "![", "]("} {
		if strings.Contains(strings.TrimLeft(bare, "#"), bad) {
			t.Errorf("%q stands outside code: %s", bad, line)
		}
	}
	if strings.HasPrefix(harmless, "| ") && cells(line) != cells(harmless) {
		t.Errorf("%d cells instead of %d: %s", cells(line), cells(harmless), line)
	}
}

// withoutCode takes out code spans as CommonMark finds them, and what a backslash escapes.
func withoutCode(line string) string {
	var out strings.Builder
	for i := 0; i < len(line); {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			i += 2
		case line[i] == '`':
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			end := closing(line[i+n:], n)
			if end < 0 {
				out.WriteString(line[i : i+n])
				i += n
				continue
			}
			i += n + end + n
		default:
			out.WriteByte(line[i])
			i++
		}
	}
	return out.String()
}

// closing finds a run of exactly n backticks.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

// cells counts the bars that no backslash escapes.
func cells(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			n++
		}
	}
	return n
}

func FuzzHTML(f *testing.F) {
	f.Add(sample.Attack)
	f.Add("\x00\ufeff\u202e</style></title><svg onload=x>&lt;script&#62;")
	f.Add("'\"`${{}}<!--")
	harmless, _ := sample.Filled("word")
	want := skeleton(rendered(f, asHTML, harmless))
	f.Fuzz(func(t *testing.T, text string) {
		outcome, _ := sample.Filled(text)
		page := rendered(t, asHTML, outcome)
		check.Same(t, cmp.Diff(want, skeleton(page)), "the text changes the elements")
		for _, r := range page {
			if r != '\n' && r != '\t' && !sanitize.Visible(r) {
				t.Fatalf("%U gets through", r)
			}
		}
	})
}

// A case that came to no trial has its story too: why it was rejected, and how the Light path went.
func TestReportsTellCasesWithoutATrial(t *testing.T) {
	t.Parallel()
	answered := sample.Accepted()
	answered.Light = []trial.LightPass{{Artifacts: []abi.ArtifactEntry{{
		Persona: "seeker", Artifact: abi.Artifact{Investigate: &abi.InvestigateArtifact{Summary: "the path is not writable"}},
	}}}}
	for name, format := range map[string]open{"HTML": asHTML, "Markdown": asMarkdown} {
		out := rendered(t, format, answered, sample.Rejected())
		for _, want := range []string{"the path is not writable", "Nothing in the log is known", "run the test again", "too unsure for a trial"} {
			check.Contains(t, out, want, name)
		}
		bare := sample.Accepted()
		bare.Case.Light.Reasoning, bare.Case.Evidence = " ", nil
		if plain := rendered(t, format, bare); strings.Contains(plain, "What Light") || strings.Contains(plain, "No item of evidence") {
			t.Errorf("%s has an article for a case without a story", name)
		}
	}
}

// A case that Light settles has Light's reasons: what it said, and the items that speak for it, the surest first, also
// those that the Light path gathered. What speaks for another label is not among them, and nothing of it does anything.
func TestReportsSayWhatLightHadToGoBy(t *testing.T) {
	t.Parallel()
	item := func(text, label string, confidence float64) abi.Evidence {
		return abi.Evidence{SourceRef: "log", Content: text, Supports: label, RelevanceConfidence: confidence}
	}
	settled := sample.Accepted()
	label := settled.Result.Light.Classification
	settled.Case.Evidence = []abi.Evidence{
		item("the weaker item", label, 0.6), item("another story", "other", 0.99), item("the surer item", label, 0.8), item(sample.Attack, label, 0.5),
	}
	settled.Light = []trial.LightPass{{
		Gathered: []abi.Evidence{item("what was gathered", label, 0.7)},
		Answer:   &abi.LightAnswer{Classification: label, Confidence: 0.93},
	}}
	for name, format := range map[string]open{"HTML": asHTML, "Markdown": asMarkdown} {
		out, at := rendered(t, format, settled), 0
		for _, want := range []string{"EACCES in the log", "What Light had to go by", "the surer item", "the weaker item", "what was gathered"} {
			i := strings.Index(out[at:], want)
			if i < 0 {
				t.Fatalf("%s: %q is not said, or not in its place", name, want)
			}
			at += i
		}
		for _, no := range []string{"another story", "No item of evidence", "\x1b", "\u202e"} {
			if strings.Contains(out, no) {
				t.Errorf("%s says %q", name, no)
			}
		}
		if name == "HTML" && strings.Contains(out, "<script>alert") {
			t.Error("an item runs in the page")
		}
		settled := sample.Rejected()
		settled.Case.Evidence = nil
		if out := rendered(t, format, settled); !strings.Contains(out, "No item of evidence speaks for what Light says.") {
			t.Errorf("%s does not say that there was nothing to go by", name)
		}
	}
}

// What Light found after a remand follows the trial that remanded it.
func TestReportsTellTheLightPath(t *testing.T) {
	t.Parallel()
	pass := func(text string) trial.LightPass {
		return trial.LightPass{Artifacts: []abi.ArtifactEntry{{Persona: "seeker", Artifact: abi.Artifact{Investigate: &abi.InvestigateArtifact{Summary: text}}}}}
	}
	outcome := sample.Amended()
	again := outcome.Passes[0]
	again.Indictment = &abi.Indictment{ChargedDefectType: sample.Product, ProsecutionNarrative: "the second narrative"}
	outcome.Passes[0].Indictment.ProsecutionNarrative = "the first narrative"
	outcome.Passes = append(outcome.Passes, again)
	outcome.Light = []trial.LightPass{pass("the first pass"), pass("the second pass"), pass("the last pass")}
	for name, format := range map[string]open{"HTML": asHTML, "Markdown": asMarkdown} {
		out, at := rendered(t, format, outcome), 0
		for _, want := range []string{"the first pass", "the first narrative", "the second pass", "the second narrative", "the last pass"} {
			i := strings.Index(out[at:], want)
			if i < 0 {
				t.Fatalf("%s: no %q behind what stands before it", name, want)
			}
			at += i
		}
	}
}

func TestPartsAreInertAndLinkTheirPlaces(t *testing.T) {
	t.Parallel()
	hostile, _ := sample.Hostile()
	harmless, _ := sample.Filled("word")
	var shapes [2][]string
	for i, outcome := range []*trial.Trial{hostile, harmless} {
		links := 0
		parts, err := render.NewParts(outcome, func(source, quote string) string {
			if source == "" || quote == "" {
				t.Errorf("link of %q, %q", source, quote)
			}
			links++
			return "#place"
		})
		must.Do(t, err)
		page := string(parts.Outcome + parts.Failure + parts.Gaps + parts.Experiments + parts.Transcript + parts.Modules)
		if links == 0 || links != strings.Count(page, `href="#place"`) {
			t.Errorf("%d links, the page has %d", links, strings.Count(page, `href="#place"`))
		}
		check.Equal(t, outside.FindString(strings.ReplaceAll(strings.Join(skeleton(page), ""), `href="#place"`, "")), "", "the parts hold")
		if strings.Contains(page, "style=") || strings.Contains(page, "<style") {
			t.Error("a part has a style of its own")
		}
		shapes[i] = skeleton(page)
	}
	check.Same(t, cmp.Diff(shapes[1], shapes[0]), "the attack changes the elements")
}

func TestPartsNameLabels(t *testing.T) {
	t.Parallel()
	parts := must.Get(render.NewParts(sample.Amended(), nil))(t)
	if !strings.Contains(string(parts.Outcome), "<bdi>automation bug</bdi>") || strings.Contains(string(parts.Outcome), "<bdi>"+sample.Automation) {
		t.Errorf("the outcome is %s", parts.Outcome)
	}
}
