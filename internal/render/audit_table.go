package render

import (
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

type auditTable struct {
	w       io.Writer
	options TerminalOptions
	audits  []*trial.Audit
}

// Write keeps the audit without the opinion's text, which a table does not show.
func (t *auditTable) Write(a *trial.Audit) error {
	kept := *a
	kept.Opinion = ""
	t.audits = append(t.audits, &kept)
	return nil
}

func (t *auditTable) Close() error {
	var text string
	switch len(t.audits) {
	case 0:
		return nil
	case 1:
		text = t.one(t.audits[0])
	default:
		text = t.several()
	}
	_, err := io.WriteString(t.w, text)
	return err
}

func (t *auditTable) width() int { return min(t.options.columns(), 100) }

func (t *auditTable) one(a *trial.Audit) string {
	var b strings.Builder
	name := snip(a.Name(), idColumns)
	if court := a.Court(); court != "" {
		name += ", " + snip(court, nameColumns)
	}
	b.WriteString(t.options.paint(bold, name) + "\n\n" + t.options.paint(scorePaint(a.GlobalScore), a.Score()) + " of 5\n\n")
	g := NewGrid(Column{Name: "CRITERION"}, Column{Name: "SCORE"}, Column{Name: "SHARE"}, Column{Name: "CONFIDENCE"}, Column{Name: "FLAGS"})
	for i := range a.Results {
		r := &a.Results[i]
		g.rows = append(g.rows, []cell{
			{text: snip(r.CriterionID, labelColumns)},
			{text: strconv.Itoa(r.NumericScore), paint: scorePaint(float64(r.NumericScore))},
			{text: r.SharePercent()},
			{text: number(r.RelevanceConfidence)},
			{text: snip(strings.Join(r.Flags(), ", "), nameColumns), paint: yellow},
		})
	}
	b.WriteString(g.Text(t.options))
	for i := range a.Results {
		r := &a.Results[i]
		b.WriteString("\n" + t.options.paint(bold, snip(r.CriterionID, labelColumns)) + "\n")
		if r.Description != "" {
			t.indented(&b, r.Description, faint)
		}
		t.indented(&b, r.Reasoning, plain)
	}
	for i := range a.Errors {
		e := &a.Errors[i]
		b.WriteString("\n" + t.options.paint(red, snip(e.Persona+" at "+e.Node+": "+e.Cause, t.width())) + "\n")
		t.indented(&b, e.Detail, plain)
	}
	for _, c := range a.CutDocuments {
		b.WriteString("\n" + strings.Join(wrap(sanitize.Line(c.String()), t.width()), "\n") + "\n")
	}
	b.WriteString("\n" + strings.Join(quoted(a.Summary, t.width()), "\n") + "\n")
	return b.String()
}

func (t *auditTable) indented(b *strings.Builder, text string, p paint) {
	for _, line := range quoted(text, t.width()-2) {
		b.WriteString("  " + t.options.paint(p, line) + "\n")
	}
}

func (t *auditTable) several() string {
	sums, cut := auditSums{}, 0
	for _, a := range t.audits {
		sums.add(a)
		count(&cut, len(a.CutDocuments) > 0)
	}
	text := t.grid() + "\n" + plural(len(t.audits), "opinion", "opinions") + ", mean score " + sums.Mean() + ", " +
		plural(sums.Violations, "security violation", "security violations")
	if cut > 0 {
		text += ", " + plural(cut, "was", "were") + " checked against documents that were cut"
	}
	return text + "\n"
}

func scorePaint(score float64) paint {
	switch {
	case score >= 4:
		return green
	case score >= 3:
		return yellow
	default:
		return red
	}
}

// leastFlags is how narrow the column of the flags may get.
const leastFlags = 24

// grid lays audits out by how much room there is: with a column for each criterion and the flags in words, with marks in
// place of the words, or else with the weakest criterion of each alone.
func (t *auditTable) grid() string {
	criteria := trial.Criteria(t.audits)
	words := t.begin()
	t.scores(words, criteria, nil)
	t.flags(words)
	if _, fits := words.fit(t.options.Width); fits {
		return words.Text(t.options)
	}
	marks, used := t.begin(), map[string]bool{}
	t.scores(marks, criteria, used)
	if _, fits := marks.fit(t.options.Width); fits {
		var legend []string
		for _, m := range auditMarks() {
			if used[m.mark] {
				legend = append(legend, m.mark+" "+m.means)
			}
		}
		text := marks.Text(t.options)
		if len(legend) > 0 {
			text += strings.Join(legend, ", ") + "\n"
		}
		return text
	}
	weakest := t.begin()
	t.add(weakest, Column{Name: "WEAKEST"}, func(a *trial.Audit) cell {
		if len(a.Results) == 0 {
			return cell{}
		}
		r := slices.MinFunc(a.Results, func(x, y trial.AuditResult) int { return x.NumericScore - y.NumericScore })
		return cell{text: snip(r.CriterionID, labelColumns), tail: " " + strconv.Itoa(r.NumericScore)}
	})
	t.flags(weakest)
	return weakest.Text(t.options)
}

func (t *auditTable) add(g *Grid, c Column, of func(a *trial.Audit) cell) {
	g.addColumn(c, func(i int) cell { return of(t.audits[i]) })
}

// begin makes a grid of the names and scores. Courts have a column where one is named.
func (t *auditTable) begin() *Grid {
	g := NewGrid()
	g.rows = make([][]cell, len(t.audits))
	names := distinctNames(t.audits)
	g.addColumn(Column{Name: "OPINION"}, func(i int) cell { return cell{text: snipStart(names[i], idColumns/2), end: true} })
	t.add(g, Column{Name: "COURT"}, func(a *trial.Audit) cell { return cell{text: snip(a.Court(), labelColumns)} })
	t.add(g, Column{Name: "SCORE"}, func(a *trial.Audit) cell { return cell{text: a.Score(), paint: scorePaint(a.GlobalScore)} })
	return g
}

// scores adds a column for each criterion. With used, what is special about a score is marked, and the marks are noted there.
func (t *auditTable) scores(g *Grid, criteria []string, used map[string]bool) {
	for _, id := range criteria {
		t.add(g, Column{Name: snip(id, labelColumns)}, func(a *trial.Audit) cell {
			r := a.Result(id)
			if r == nil {
				return cell{text: "–"}
			}
			c := cell{text: strconv.Itoa(r.NumericScore), paint: scorePaint(float64(r.NumericScore)), tail: " "}
			for _, m := range auditMarks() {
				if used != nil && m.of(r) {
					c.tail, used[m.mark] = c.tail+m.mark, true
				}
			}
			c.tail = strings.TrimRight(c.tail, " ")
			return c
		})
	}
}

type auditMark struct {
	mark, means string
	of          func(r *trial.AuditResult) bool
}

func auditMarks() []auditMark {
	return []auditMark{
		{"!", "security violation", func(r *trial.AuditResult) bool { return r.SecurityViolationFound }},
		{"?", "a judge does not count", func(r *trial.AuditResult) bool { return r.Degraded }},
		{"~", "dissent", func(r *trial.AuditResult) bool { return r.Dissent != nil }},
	}
}

func (t *auditTable) flags(g *Grid) {
	t.add(g, Column{Name: "FLAGS", least: leastFlags}, func(a *trial.Audit) cell {
		return cell{text: snip(strings.Join(a.Flags(), "; "), nameColumns), paint: yellow}
	})
}

// distinctNames gives audits distinct names where possible: audits of the same name get their place appended, or shown in place of
// the name where the name is that of the file.
func distinctNames(audits []*trial.Audit) []string {
	count := make(map[string]int)
	for _, a := range audits {
		count[a.Name()]++
	}
	list := make([]string, len(audits))
	for i, a := range audits {
		list[i] = a.Name()
		switch place := a.Apart(); {
		case count[list[i]] == 1 || place == "":
		case a.Line == 0 && list[i] == filepath.Base(a.Source):
			list[i] = place
		default:
			list[i] += " (" + place + ")"
		}
	}
	return list
}

// NewAudits writes audits in one of the formats jsonl (one a line, at once), json (one object with `audits`, a list of them) and, for people,
// table: of one audit all that was said, of several a row each.
func NewAudits(w io.Writer, format string, terminal TerminalOptions) AuditWriter {
	switch format {
	case "jsonl":
		return jsonLines[trial.Audit]{w, auditJSON}
	case "json":
		return &jsonList[trial.Audit]{w: w, name: "audits", encode: auditJSON}
	}
	return &auditTable{w: w, options: terminal}
}

// NewAuditReport writes audits as HTML or as Markdown.
func NewAuditReport(w io.Writer, asMarkdown bool) AuditWriter {
	return &auditPage{page: newPage(w, asMarkdown)}
}

type auditPage struct {
	page
	sums   auditSums
	list   []auditView
	audits []*trial.Audit // of the list
}

// auditView is an audit with its place on the page.
type auditView struct {
	*trial.Audit
	Anchor string
	Flags  []string // of the audit, with what else there is to know of it
}

func (p *auditPage) Write(a *trial.Audit) error {
	p.sums.add(a)
	shown := *a
	shown.Opinion = whole(a.Opinion)
	v := auditView{safe.audit(&shown), "opinion-" + strconv.Itoa(p.sums.Count), nil}
	v.Flags = v.Audit.Flags()
	if v.Degraded {
		v.Flags = append(v.Flags, "degraded")
	}
	if len(v.CutDocuments) > 0 {
		v.Flags = append(v.Flags, "documents cut")
	}
	// Until Close only what the table shows is kept: the long texts are in the article.
	row := &trial.Audit{Source: v.Source, Line: v.Line, Item: v.Item, CaseID: v.CaseID, CourtName: v.CourtName, GlobalScore: v.GlobalScore}
	for _, r := range v.Results {
		row.Results = append(row.Results, trial.AuditResult{CriterionID: r.CriterionID, NumericScore: r.NumericScore})
	}
	p.list, p.audits = append(p.list, auditView{row, v.Anchor, v.Flags}), append(p.audits, row)
	return p.templates.ExecuteTemplate(&p.articles, "auditarticle", v)
}

func (p *auditPage) Close() error {
	return p.templates.ExecuteTemplate(p.w, "auditpage", struct {
		pageTop
		*auditSums
		Rows     []auditView
		Courts   bool
		Criteria []string
		Articles any
	}{
		newPageTop("Shadowcourt audit", trialStyle+styleSheet+auditStyle), &p.sums, p.list,
		slices.ContainsFunc(p.audits, func(a *trial.Audit) bool { return a.Court() != "" }), trial.Criteria(p.audits),
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
	count(&s.Violations, a.SecurityViolationFound)
}

// Mean is the mean score with two decimals.
func (s *auditSums) Mean() string {
	if s.Count == 0 {
		return "–"
	}
	return strconv.FormatFloat(s.scores/float64(s.Count), 'f', 2, 64)
}

type auditScore struct{ Criterion, Score string }

// Scores of criteria, in their order.
func (v auditView) Scores(criteria []string) []auditScore {
	list := make([]auditScore, len(criteria))
	for i, id := range criteria {
		list[i] = auditScore{id, "–"}
		if result := v.Result(id); result != nil {
			list[i].Score = strconv.Itoa(result.NumericScore)
		}
	}
	return list
}
