package render_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/render/testkit/sample"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_IG2_MarkdownFitsIntoAComment writes many answers with much to say.
func TestAccept_IG2_MarkdownFitsIntoAComment(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("0123456789", 500), strings.Repeat("<@#[\\`", 300), "é\n```\n" + strings.Repeat("ünï\n", 400)} {
		var list []alibi.Answer
		for i := range 300 {
			a := sample.FilledAnswer([]alibi.Verdict{alibi.NotYours, alibi.IsOpen, alibi.IsYours}[i%3], text)
			a.Test = fmt.Sprintf("Test%d", i)
			a.Why = fmt.Sprint(i, " ", a.Why)
			list = append(list, a)
		}
		md := written(t, answerMarkdown, list...)
		if len(md) > render.MarkdownBytes || len(md) < render.MarkdownBytes*3/4 {
			t.Errorf("%d bytes", len(md))
		}
		sections := strings.Split(md, "\n### ")[1:]
		for i, s := range sections[:len(sections)-1] {
			if n := len("\n### " + s); n > 1000 {
				t.Errorf("%d bytes in section %d", n, i)
			}
		}
		first, _, _ := strings.Cut(md, "\n")
		left := fmt.Sprintf("\nNot shown here, for want of space: %d yours, 100 open, 100 not yours.\n", 100-len(sections))
		if !strings.HasPrefix(first, "**100 failures are yours, 100 not yours, 100 open.**") || !strings.Contains(md, left) {
			t.Errorf("%s\n%d sections, expected %s", first, len(sections), left)
		}
	}
}

// TestAccept_IG2_AllFormsSayTheSame reads each form with a reader of its format, and compares what it says of each failure with the document.
func TestAccept_IG2_AllFormsSayTheSame(t *testing.T) {
	t.Parallel()
	list := sample.Answers()
	d := must.Get(answers.Read(strings.NewReader(written(t, answerForm(render.FormJSON), list...))))(t)
	form := func(name string) string {
		text := written(t, answerForm(name), list...)
		// From the document, the same bytes.
		var again bytes.Buffer
		must.Do(t, render.WriteAnswers(d, func(trees render.AnswerTrees) render.AnswerWriter { return render.NewAnswerForm(name, &again, trees) }))
		if name != render.FormHTML && again.String() != text { // the page has the trial, too
			t.Errorf("%s of the document is another one:\n%s\n%s", name, again.String(), text)
		}
		return text
	}
	var junit struct {
		Cases []struct {
			Name       string `xml:"name,attr"`
			File       string `xml:"file,attr"`
			Line       int    `xml:"line,attr"`
			Properties []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
			Failure struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	must.Do(t, xml.Unmarshal([]byte(form(render.FormJUnit)), &junit))
	var sarif struct {
		Runs []struct {
			Results []struct {
				RuleID  string `json:"ruleId"`
				Level   string `json:"level"`
				Message struct {
					Text string `json:"text"`
				} `json:"message"`
				Properties map[string]any `json:"properties"`
			} `json:"results"`
		} `json:"runs"`
	}
	must.Do(t, json.Unmarshal([]byte(form(render.FormSARIF)), &sarif))
	github, md, html, gitlab := form(render.FormGitHub), form(render.FormMD), form(render.FormHTML), form(render.FormGitLab)
	for i := range d.Failures {
		f := &d.Failures[i]
		rule := f.Label
		if rule == "" {
			rule = "open"
		}
		c, result := &junit.Cases[i], &sarif.Runs[0].Results[i]
		properties := map[string]string{}
		for _, p := range c.Properties {
			properties[p.Name] = p.Value
		}
		if c.Name != f.Test || c.File != f.File || c.Line != f.Line || c.Failure.Message != f.Conclusion || c.Failure.Text != f.Message ||
			properties["verdict"] != string(f.Verdict) || properties["attribution"] != f.Label || properties["confidence"] != fmt.Sprint(f.Confidence) {
			t.Errorf("JUnit: %+v", c)
		}
		if result.RuleID != rule || !strings.HasSuffix(result.Message.Text, f.Conclusion) || result.Properties["verdict"] != string(f.Verdict) || (result.Level == "error") != (f.Verdict == alibi.IsYours) {
			t.Errorf("SARIF: %+v", result)
		}
		if (f.Culprit == nil) != (properties["culprit"] == "") || (f.Culprit == nil) != (result.Properties["culprit"] == nil) {
			t.Errorf("%s: the culprit is not in every form", f.Test)
		}
		escaped := strings.NewReplacer("%", "%25", "\"", "\"").Replace(f.Conclusion)
		quoted, _ := json.Marshal(f.Conclusion)
		if !strings.Contains(github, escaped) || !strings.Contains(gitlab, string(bytes.Trim(quoted, `"`))) {
			t.Errorf("%s: not in the annotations", f.Test)
		}
		if lead, _, _ := strings.Cut(f.Conclusion, ":"); !strings.Contains(md, lead) || !strings.Contains(html, lead) {
			t.Errorf("%s: %q is not on the pages", f.Test, lead)
		}
	}
	if len(junit.Cases) != len(list) || len(sarif.Runs[0].Results) != len(list) || strings.Count(github, "\n") != len(list) {
		t.Errorf("%d cases, %d results, %d annotations of %d answers", len(junit.Cases), len(sarif.Runs[0].Results), strings.Count(github, "\n"), len(list))
	}
}

// codeText are blocks and spans of code.
var codeText = regexp.MustCompile("(?s)```text\n.*?\n```|`[^`\n]*`")

// TestAccept_IG2_HostileTextsStayData: no text of a test begins a command, an element or markup.
func TestAccept_IG2_HostileTextsStayData(t *testing.T) {
	t.Parallel()
	text := "=cmd|' /C calc'!A0\n::set-output name=x::y\r\n::error::owned<script>&]]>\x1b[31m\u202e@everyone #1 <!-- --> %0A::warning::x"
	for _, form := range render.AnswerForms() {
		got := written(t, answerForm(form), sample.FilledAnswer(alibi.IsYours, text))
		if strings.ContainsAny(got, "\x1b\u202e\r") {
			t.Errorf("%s has invisible characters", form)
		}
		switch form {
		case render.FormGitHub:
			if n := strings.Count(got, "\n"); n != 1 || !strings.HasPrefix(got, "::error file=") && !strings.HasPrefix(got, "::error title=") || strings.Contains(got, "%0A::warning") {
				t.Errorf("%d lines: %s", n, got)
			}
		case render.FormJUnit:
			if err := xml.Unmarshal([]byte(got), new(struct{})); err != nil || strings.Contains(got, "<script") {
				t.Errorf("%v: %s", err, got)
			}
		case render.FormMD:
			if prose := codeText.ReplaceAllString(got, ""); strings.ContainsAny(prose, "<@") {
				t.Error(prose)
			}
		}
	}
}

// TestAccept_IG2_TestsOfOneNameAreToldApart: where two packages have a test of one name, people read the whole names.
func TestAccept_IG2_TestsOfOneNameAreToldApart(t *testing.T) {
	t.Parallel()
	one := sample.Answers()[0]
	other := one
	other.Group, other.ID, other.Message = "example.org/shop/till", "example.org/shop/till.TestTotal", "another message"
	for name, open := range map[string]openAnswers{
		"table": answerTable(0, false), "md": answerForm(render.FormMD), "html": answerForm(render.FormHTML), "github": answerForm(render.FormGitHub),
		"gitlab": answerForm(render.FormGitLab), "sarif": answerForm(render.FormSARIF),
	} {
		got := written(t, open, one, other)
		if !strings.Contains(got, one.ID) || !strings.Contains(got, other.ID) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
