package abi_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// found gives the problems as "code path", a line each.
func found(c *abi.Collector) string {
	err := c.Err()
	if err == nil {
		return ""
	}
	var v *abi.ValidationError
	if !errors.As(err, &v) {
		return err.Error()
	}
	var lines []string
	for _, p := range v.Problems {
		lines = append(lines, string(p.Code)+" "+p.Path.String())
	}
	return strings.Join(lines, "\n")
}

// expect runs check and demands these problems, a line each.
func expect(t *testing.T, want string, check func(*abi.Collector)) {
	t.Helper()
	var c abi.Collector
	check(&c)
	if got := found(&c); got != want {
		t.Errorf("problems are\n%s\nwant\n%s", got, want)
	}
}

var labels = []string{"product", "flake"}

func item(content string) abi.IndictmentItem {
	return abi.IndictmentItem{SourceRef: "log", Content: content, Weight: 0.5, Supports: "product", Element: abi.Fire}
}

func indictment(contents ...string) *abi.Indictment {
	v := &abi.Indictment{ChargedDefectType: "product"}
	for _, content := range contents {
		v.Evidence = append(v.Evidence, item(content))
	}
	return v
}

func TestCheckIndictment(t *testing.T) {
	t.Parallel()
	light := &abi.LightAnswer{Classification: "product"}
	var evidence []abi.Evidence
	for _, content := range []string{"a", "b", "b"} {
		i := item(content)
		evidence = append(evidence, abi.Evidence{SourceRef: i.SourceRef, Content: i.Content, Supports: i.Supports, Element: i.Element, RelevanceConfidence: 1})
	}
	check := func(v *abi.Indictment) func(*abi.Collector) {
		return func(c *abi.Collector) { abi.CheckIndictment(v, light, evidence, c) }
	}
	expect(t, "", check(indictment("b", "a", "b")))
	expect(t, "", check(indictment()))
	expect(t, "not_in_case evidence[1]", check(indictment("a", "a")))
	for name, change := range map[string]func(*abi.IndictmentItem){
		"source":  func(i *abi.IndictmentItem) { i.SourceRef = "lo"; i.Content = "ga" },
		"label":   func(i *abi.IndictmentItem) { i.Supports = "flake" },
		"element": func(i *abi.IndictmentItem) { i.Element = abi.Water },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := indictment("a")
			change(&v.Evidence[0])
			expect(t, "not_in_case evidence[0]", check(v))
		})
	}
	other := indictment("x")
	other.ChargedDefectType = "flake"
	expect(t, "charge charged_defect_type\nnot_in_case evidence[0]", check(other))
}

func TestCheckDiscovery(t *testing.T) {
	t.Parallel()
	contains := func(document, quote string) (known, stands bool) { return document == "log", quote == "here" }
	v := &abi.Discovery{Findings: []abi.Finding{
		{Document: "log", Quote: "here", Supports: "product"},
		{Document: "log", Quote: "here"},
		{Document: "log", Quote: "not here", Supports: "guilt"},
		{Document: "diff", Quote: "here"},
	}}
	expect(t, "not_a_label findings[2].supports\nnot_in_documents findings[2].quote\nnot_in_documents findings[3].document",
		func(c *abi.Collector) { abi.CheckDiscovery(v, labels, nil, contains, c) })
}

func TestCheckCompletion(t *testing.T) {
	t.Parallel()
	models := []abi.ModelOffer{{Model: "small", ContextTokens: 100, AnswerTokens: 10}, {Model: "large", ContextTokens: 1000, AnswerTokens: 100}}
	for _, tc := range []struct {
		model  string
		tokens int
		want   string
	}{
		{"small", 10, ""},
		{"large", 11, ""},
		{"small", 11, "not_offered completion.answer_tokens"},
		{"other", 1, "not_offered completion.model"},
	} {
		expect(t, tc.want, func(c *abi.Collector) {
			abi.CheckCompletion(&abi.Completion{Model: tc.model, AnswerTokens: tc.tokens}, models, c)
		})
	}
}

func TestCheckChallenges(t *testing.T) {
	t.Parallel()
	contested := []abi.Challenge{{EvidenceIndex: 1, Challenge: "doubt", Severity: abi.Minor, By: "Bulwark"}}
	v := []abi.Challenge{
		{EvidenceIndex: 0},
		{EvidenceIndex: 1, By: "Abyss"},
		contested[0],
		{EvidenceIndex: 1, Challenge: "another doubt", Severity: abi.Minor, By: "Bulwark"},
		{EvidenceIndex: 2},
	}
	expect(t, "identity challenges[3].by\nevidence_index challenges[4].evidence_index",
		func(c *abi.Collector) { abi.CheckChallenges("challenges", v, 2, nil, "Abyss", contested, c) })
	expect(t, "evidence_index x[0].evidence_index\nidentity x[3].by\nevidence_index x[4].evidence_index",
		func(c *abi.Collector) { abi.CheckChallenges("x", v, 2, []int{1}, "Abyss", contested, c) })
	expect(t, "evidence_index x[0].evidence_index",
		func(c *abi.Collector) { abi.CheckChallenges("x", v[:1], 2, []int{}, "Abyss", nil, c) })
}

func TestAFindingNamesOnlyAModelThatHasAnswered(t *testing.T) {
	t.Parallel()
	contains := func(string, string) (known, stands bool) { return true, true }
	sources := abi.ModelSources([]abi.CompletionResult{
		{Model: "reader", Outcome: abi.CompletionPartial, Answers: []string{"yes"}},
		{Model: "reader", Outcome: abi.CompletionAnswered, Answers: []string{"yes"}},
		{Model: "silent", Outcome: abi.CompletionInvalid, Answers: []string{}},
	})
	v := &abi.Discovery{Findings: []abi.Finding{
		{Document: "log", Quote: "here"},
		{Document: "log", Quote: "here", Source: "model:reader"},
		{Document: "log", Quote: "here", Source: "model:silent"},
		{Document: "log", Quote: "here", Source: "recall"},
	}}
	expect(t, "identity findings[2].source\nidentity findings[3].source",
		func(c *abi.Collector) { abi.CheckDiscovery(v, labels, sources, contains, c) })
}

func TestCheckRemandAnswer(t *testing.T) {
	t.Parallel()
	feedback := &abi.RemandFeedback{
		Questions:  []abi.Question{{ID: "q1"}, {ID: "q2"}},
		Challenged: []abi.ChallengedItem{{EvidenceIndex: 0}, {EvidenceIndex: 0}, {EvidenceIndex: 2}},
	}
	answer := func(ids string, indexes ...int) func(*abi.Collector) {
		v := &abi.RemandAnswer{}
		for id := range strings.FieldsSeq(ids) {
			v.Answers = append(v.Answers, abi.RemandReply{QuestionID: id})
		}
		for _, index := range indexes {
			v.Challenged = append(v.Challenged, abi.ChallengedReply{EvidenceIndex: index})
		}
		return func(c *abi.Collector) { abi.CheckRemandAnswer(v, feedback, c) }
	}
	expect(t, "", answer("q2 q1", 2, 0))
	expect(t, "unanswered answers", answer("q1", 0, 2))
	expect(t, "unanswered answers", answer("q1 q2 q2", 0, 2))
	expect(t, "wrong_answers answers[1].question_id", answer("q1 q3 q2", 0, 2))
	expect(t, "unanswered challenged", answer("q1 q2", 2))
	expect(t, "unanswered challenged", answer("q1 q2", 0, 2, 0))
	expect(t, "wrong_answers challenged[1].evidence_index", answer("q1 q2", 0, 1, 2))
}

func TestCollector(t *testing.T) {
	t.Parallel()
	var c abi.Collector
	c.Add(abi.CodeEmpty, "is empty", abi.Field("a"))
	mark := c.Mark()
	c.Add(abi.CodeEmpty, "is empty", abi.Index(3), abi.Field("b"))
	c.Nest(mark, abi.Key(`re"po`))
	c.Nest(mark, abi.Field("evidences"))
	expect(t, "empty a\nempty evidences[\"re\\\"po\"][3].b", func(out *abi.Collector) { *out = c })

	c.Reset()
	if !c.Empty() || c.Err() != nil {
		t.Error("Reset keeps problems")
	}
	for i := range abi.MaxProblems + 7 {
		c.Add(abi.CodeEmpty, "no "+strconv.Itoa(i))
	}
	if c.Mark() != abi.MaxProblems || c.Found() != abi.MaxProblems+7 {
		t.Errorf("%d listed, %d found", c.Mark(), c.Found())
	}
	lines := strings.Split(c.Err().Error(), "\n")
	if len(lines) != abi.MaxProblems+1 || !slices.Contains(lines, "no 99") || lines[abi.MaxProblems] != "and 7 more" {
		t.Errorf("error ends with %q", lines[len(lines)-1])
	}
}

func TestWordsOfResults(t *testing.T) {
	t.Parallel()
	five := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
	for _, tc := range []struct {
		result abi.ExperimentResult
		want   string
	}{
		{abi.ExperimentResult{Experiment: five, Outcome: abi.OutcomePassed, Passed: 5}, "5 passed"},
		{abi.ExperimentResult{Experiment: five, Outcome: abi.OutcomeSame, Same: 2}, "2 failed in the same way, 3 not made"},
		{abi.ExperimentResult{Experiment: five, Outcome: abi.OutcomeOther, Same: 1, Other: 4}, "1 failed in the same way, 4 failed in another way"},
		{abi.ExperimentResult{Experiment: five, Outcome: abi.OutcomeMixed, Passed: 1, Same: 1}, "1 passed, 1 failed in the same way, 3 not made"},
		{abi.ExperimentResult{Experiment: five, Outcome: abi.OutcomeNotRun, Detail: "why"}, "was not run"},
	} {
		if got := tc.result.Words(); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.result, got, tc.want)
		}
	}
}
