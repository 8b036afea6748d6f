package render

import (
	"io"
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// NewAuditHTML writes audits as HTML.
func NewAuditHTML(w io.Writer, options PageOptions) AuditWriter {
	return &auditPage{page: page{w: w, options: options, templates: htmlTemplates()}}
}

// NewAuditMarkdown writes audits as Markdown.
func NewAuditMarkdown(w io.Writer, options PageOptions) AuditWriter {
	return &auditPage{page: page{w: w, options: options, templates: markdownTemplates(), markdown: true}}
}

type auditPage struct {
	page
	sums auditSums
	list auditRows
}

// auditView is an audit with its place on the page.
type auditView struct {
	*trial.Audit
	Anchor string
}

func (p *auditPage) Write(a *trial.Audit) error {
	p.sums.add(a)
	shown := *a
	shown.Opinion = whole(a.Opinion)
	v := auditView{SanitizeAudit(&shown), "opinion-" + strconv.Itoa(p.sums.Count)}
	p.list = append(p.list, newAuditRow(v.Audit, v.Anchor))
	return p.templates.ExecuteTemplate(&p.articles, "auditarticle", v)
}

func (p *auditPage) Close() error {
	return p.templates.ExecuteTemplate(p.w, "auditpage", struct {
		pageTop
		*auditSums
		Rows     auditRows
		Courts   bool
		Criteria []string
		Articles any
	}{
		p.options.top("Shadowcourt audit", trialStyle+styleSheet+auditStyle), &p.sums, p.list, p.list.Courts(), p.list.Criteria(),
		p.rendered(&p.articles),
	})
}

// auditSums are what stands first in a report of audits.
type auditSums struct {
	Count, Violations int
	scores            float64
}

func (s *auditSums) add(a *trial.Audit) {
	s.Count++
	s.scores += a.GlobalScore
	if a.SecurityViolationFound {
		s.Violations++
	}
}

// Mean is the mean score with two decimals.
func (s *auditSums) Mean() string {
	if s.Count == 0 {
		return "–"
	}
	return strconv.FormatFloat(s.scores/float64(s.Count), 'f', 2, 64)
}

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
