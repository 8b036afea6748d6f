package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/host/calibrate/fit"
)

// print writes what was found out about a fit.
func (o *fitOptions) print(w io.Writer, r *fit.Report) error {
	if o.format == "json" {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	for _, line := range fitLines(o.output, r) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// fitLines tells a report to people.
func fitLines(output string, r *fit.Report) []string {
	lines := []string{fmt.Sprintf("%s: learned from %s", inertLine(output), count(r.Cases, "case", "cases"))}
	if r.WithoutTruth > 0 {
		lines[0] += fmt.Sprintf("; %s without a truth left out", count(r.WithoutTruth, "case", "cases"))
	}
	lines = append(lines, "model: "+r.Model, "")
	if len(r.Figures) > 0 {
		lines = append(lines, figuresTable(r), "")
	}
	return append(lines, sourcesTable(r))
}

func figuresTable(r *fit.Report) string {
	t := fitTable(2, 3)
	how := fmt.Sprintf("on cases not fitted on (%d parts)", r.Parts)
	if r.Groups > 0 {
		how = fmt.Sprintf("on groups not fitted on (%d groups, %d parts)", r.Groups, r.Parts)
	}
	t.AppendHeader(table.Row{how, "accuracy", "log loss"})
	for _, f := range r.Figures {
		t.AppendRow(table.Row{f.Name, three(f.Accuracy), three(f.LogLoss)})
	}
	return t.Render()
}

func sourcesTable(r *fit.Report) string {
	t := fitTable(2, 3, 4, 5)
	t.AppendHeader(table.Row{"source", "speaks", "names a label", "right", "worth (nats)"})
	for _, s := range r.Sources {
		right := "–"
		if s.Named > 0 {
			right = three(s.Right)
		}
		t.AppendRow(table.Row{inertLine(s.Source), s.Cases, s.Named, right, two(s.Nats)})
	}
	if r.Signals > 0 {
		t.AppendFooter(table.Row{count(r.Signals, "signal", "signals"), "", "", "", two(r.SignalNats)})
	}
	return t.Render()
}

// fitTable is a table whose given columns, from 1, hold numbers.
func fitTable(numbers ...int) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header, t.Style().Format.Footer = text.FormatDefault, text.FormatDefault
	var columns []table.ColumnConfig
	for _, n := range numbers {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight, AlignFooter: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	return t
}

func two(x float64) string   { return strconv.FormatFloat(x, 'f', 2, 64) }
func three(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
