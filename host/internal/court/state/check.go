package state

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// check finds what the decoder cannot see: map keys that differ from the
// values under them, and entries that contradict the state.
func (s *State) check(u *abi.Update) error {
	var c abi.Collector
	opinions().check(s.opinions, u.Opinions, &c)
	checkJudgements(u.Judgements, &c)
	checkCriterionResults(u.CriterionResults, &c)
	artifacts().check(s.artifacts, u.Artifacts, &c)
	contests().check(s.contests, u.Contests, &c)
	nodeErrors().check(s.errors, u.Errors, &c)
	s.checkScore(u.Report, &c)
	if s.report != nil && u.Report != nil && !sameReport(s.report, u.Report) {
		c.Add(abi.CodeDuplicateEntry, "the state holds another report", abi.Field("report"))
	}
	return c.Err()
}

// checkScore compares the score of a report with that of its results. The
// decoder does not know their weights.
func (s *State) checkScore(report *abi.AuditReport, c *abi.Collector) {
	if report == nil || len(report.Results) == 0 {
		return
	}
	detail := "nothing says how the results are weighed"
	if s.score != nil {
		derived := s.score(report.Results)
		if report.GlobalScore == derived {
			return
		}
		detail = "is " + score(report.GlobalScore) + ", the results give " + score(derived)
	}
	c.Add(abi.CodeGlobalScore, detail, abi.Field("report"), abi.Field("global_score"))
}

func score(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func checkJudgements(judgements map[string]map[string]abi.CriterionOpinion, c *abi.Collector) {
	for _, criterion := range slices.Sorted(maps.Keys(judgements)) {
		judges := judgements[criterion]
		for _, judge := range slices.Sorted(maps.Keys(judges)) {
			mark := c.Mark()
			opinion := judges[judge]
			checkKey(judge, opinion.Judge, "judge", c)
			checkKey(criterion, opinion.CriterionID, "criterion_id", c)
			c.Nest(mark, abi.Key(judge))
			c.Nest(mark, abi.Key(criterion))
			c.Nest(mark, abi.Field("judgements"))
		}
	}
}

func checkCriterionResults(results map[string]abi.CriterionResult, c *abi.Collector) {
	for _, criterion := range slices.Sorted(maps.Keys(results)) {
		mark := c.Mark()
		checkKey(criterion, results[criterion].CriterionID, "criterion_id", c)
		c.Nest(mark, abi.Key(criterion))
		c.Nest(mark, abi.Field("criterion_results"))
	}
}

func checkKey(key, value, field string, c *abi.Collector) {
	if key != value {
		c.Add(abi.CodeKeyMismatch, "is "+strconv.Quote(value)+" under the key "+strconv.Quote(key), abi.Field(field))
	}
}

func sameReport(a, b *abi.AuditReport) bool {
	return bytes.Equal(codec.AppendAuditReport(nil, a), codec.AppendAuditReport(nil, b))
}
