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
