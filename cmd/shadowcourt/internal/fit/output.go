package fit

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// stdStream is the name of the standard output, where a file is asked for.
const stdStream = "-"

// fitOutput is where the profile and the figures go.
type fitOutput struct {
	profile, figures io.Writer
	file             *disk.File // nil where the profile goes to the standard output
}

// create begins the file of the profile.
func (o *fitOptions) create(s cli.Streams) (*fitOutput, error) {
	if o.output == stdStream {
		return &fitOutput{profile: s.Out, figures: s.Err}, nil
	}
	file, err := disk.Create(o.output)
	return &fitOutput{profile: file, figures: s.Out, file: file}, err
}

func (f *fitOutput) commit() error {
	if f.file == nil {
		return nil
	}
	return f.file.Commit()
}

func (f *fitOutput) discard() {
	if f.file != nil {
		f.file.Discard()
	}
}

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
	if output == stdStream {
		output = "standard output"
	}
	lines := []string{fmt.Sprintf("%s: learned from %s", sanitize.Line(output), cli.Count(r.Cases, "case", "cases"))}
	switch {
	case r.Temperature != nil:
		lines[0] = fmt.Sprintf("%s: nothing learned of sources and texts, %s; the profile changes only how sure the court is (temperature %.2f)", sanitize.Line(output), cli.Count(r.Cases, "case", "cases"), *r.Temperature)
	case !r.Learned:
		lines[0] = fmt.Sprintf("%s: nothing learned, %s; the profile changes nothing but how much unknown sources count", sanitize.Line(output), cli.Count(r.Cases, "case", "cases"))
	}
	if r.WithoutTruth > 0 {
		lines[0] += fmt.Sprintf("; %s without a truth left out", cli.Count(r.WithoutTruth, "case", "cases"))
	}
	lines = append(lines, "model: "+r.Model)
	if r.Repeated > 0 {
		lines = append(lines, fmt.Sprintf("warning: near duplicates of other cases: %d; each is in one group with those", r.Repeated))
	}
	if n := len(r.Contradictions); n > 0 {
		x := &r.Contradictions[0]
		lines = append(lines, fmt.Sprintf("warning: %s equal to an earlier one with another ground truth; %s is %s, but %s is %s",
			cli.Count(n, "case is", "cases are"), sanitize.Line(x.Case), sanitize.Line(x.Truth), sanitize.Line(x.Other), sanitize.Line(x.OtherTruth)))
	}
	for _, warning := range r.Warnings {
		lines = append(lines, "warning: "+sanitize.Line(warning))
	}
	lines = append(lines, "")
	if len(r.Figures) > 0 {
		lines = append(lines, figuresTable(r), "")
	}
	if t := r.TextTurns; t != nil && r.Signals > 0 {
		lines = append(lines, fmt.Sprintf("a made-up text could turn about %.1f of 100 answers from right to wrong; with --no-text none", 100**t), "")
	}
	if r.Bands != nil {
		lines = append(lines, "accept the court's answer "+r.Bands.String(), "")
	}
	if len(r.Sources) > 0 {
		lines = append(lines, sourcesTable(r))
	}
	if r.Experiments != nil {
		lines = append(lines, "", experimentsTable(r.Experiments))
	}
	return lines
}

// experimentsTable tells which tables of experiments were learned.
func experimentsTable(w *fit.ExperimentWorth) string {
	t := fitTable(2)
	t.AppendHeader(table.Row{"experiment", "cases", "table"})
	for i := range w.Tables {
		of := "learned"
		if !w.Tables[i].Learned {
			of = "default: " + w.Tables[i].Why
		}
		t.AppendRow(table.Row{w.Tables[i].Experiment, w.Tables[i].Cases, of})
	}
	if w.LogLoss > 0 {
		t.AppendFooter(table.Row{"log loss of experiments alone", "", three(w.LogLoss) + "; of the default " + three(w.DefaultLogLoss)})
	}
	return t.Render()
}

func figuresTable(r *fit.Report) string {
	t := fitTable(2, 3, 4)
	how := fmt.Sprintf("on cases not fitted on (%d parts)", r.Parts)
	switch {
	case r.Groups == 1:
		how = fmt.Sprintf("on other cases of the one group (%d parts); on no other group", r.Parts)
	case r.Groups > 1:
		how = fmt.Sprintf("on groups not fitted on (%d groups, %d parts)", r.Groups, r.Parts)
	}
	t.AppendHeader(table.Row{how, "accuracy", "log loss", "AURC"})
	for _, f := range r.Figures {
		t.AppendRow(table.Row{f.Name, three(f.Accuracy), three(f.LogLoss), three(*f.AURC)})
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
		t.AppendRow(table.Row{sanitize.Line(s.Source), s.Cases, s.Named, right, two(s.Nats)})
	}
	if r.Signals > 0 {
		t.AppendFooter(table.Row{cli.Count(r.Signals, "signal", "signals"), "", "", "", two(r.SignalNats)})
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
