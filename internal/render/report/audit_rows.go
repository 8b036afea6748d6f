package report

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// auditRow is what the table of all opinions shows of one. Its texts are sanitized.
type auditRow struct {
	Anchor, Name, Apart, Court, Score string
	Flags                             []string
	results                           *trial.Audit
}

// auditScore is the score of a criterion, or a dash.
type auditScore struct{ Criterion, Score string }

func newAuditRow(a *trial.Audit, anchor string) auditRow {
	scores := &trial.Audit{Results: make([]trial.AuditResult, len(a.Results))}
	for i := range a.Results {
		scores.Results[i].CriterionID, scores.Results[i].NumericScore = a.Results[i].CriterionID, a.Results[i].NumericScore
	}
	flags := a.Flags()
	if a.Degraded {
		flags = append(flags, "degraded")
	}
	if len(a.CutDocuments) > 0 {
		flags = append(flags, "documents cut")
	}
	return auditRow{anchor, a.Name(), a.Apart(), a.Court(), a.Score(), flags, scores}
}

// Scores of criteria, in their order.
func (r auditRow) Scores(criteria []string) []auditScore {
	list := make([]auditScore, len(criteria))
	for i, id := range criteria {
		list[i] = auditScore{id, "–"}
		if result := r.results.Result(id); result != nil {
			list[i].Score = strconv.Itoa(result.NumericScore)
		}
	}
	return list
}

// auditRows are the rows of a table.
type auditRows []auditRow

// Courts says whether an opinion names its court.
func (l auditRows) Courts() bool {
	for i := range l {
		if l[i].Court != "" {
			return true
		}
	}
	return false
}

// Criteria are those of all opinions.
func (l auditRows) Criteria() []string {
	audits := make([]*trial.Audit, len(l))
	for i := range l {
		audits[i] = l[i].results
	}
	return trial.Criteria(audits)
}
