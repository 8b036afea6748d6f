package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

// Row is one measurement. Ratio is the value over that of Peer, the row of that
// name: 0.1 is a tenth of the peer's time. A row without a peer has no ratio.
type Row struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Unit  string   `json:"unit"`
	Ratio *float64 `json:"ratio"`
	Peer  *string  `json:"peer"`
}

// report collects rows, and what could not be measured.
type report struct {
	rows    []Row
	missing []string
}

func (r *report) add(name string, value float64, unit string) {
	r.rows = append(r.rows, Row{Name: name, Value: value, Unit: unit})
}

// against sets a row beside its peer; the same row may stand beside several,
// once for each. Nothing is added when one of them was not measured.
func (r *report) against(name, peer string) {
	row, other := r.find(name), r.find(peer)
	if row == nil || other == nil || other.Value == 0 {
		return
	}
	ratio := row.Value / other.Value
	if row.Peer == nil {
		row.Ratio, row.Peer = &ratio, &peer
		return
	}
	at := 0
	for i := range r.rows {
		if r.rows[i].Name == name {
			at = i + 1
		}
	}
	r.rows = slices.Insert(r.rows, at, Row{Name: name, Value: row.Value, Unit: row.Unit, Ratio: &ratio, Peer: &peer})
}

func (r *report) find(name string) *Row {
	for i := range r.rows {
		if r.rows[i].Name == name {
			return &r.rows[i]
		}
	}
	return nil
}

// miss says what was not measured, and why.
func (r *report) miss(what string, err error) {
	r.missing = append(r.missing, fmt.Sprintf("%s: %v", what, err))
}

func (r *report) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "NAME\tVALUE\tUNIT\tRATIO\tOF")
	for _, row := range r.rows {
		ratio, peer := "", ""
		if row.Ratio != nil {
			ratio, peer = fmt.Sprintf("%.3g", *row.Ratio), *row.Peer
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", row.Name, figure(row.Value), row.Unit, ratio, peer)
	}
	_ = w.Flush()
	for _, m := range r.missing {
		_, _ = fmt.Fprintf(out, "not measured: %s\n", m)
	}
}

func figure(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// write leaves the rows in a file, whole or not at all.
func (r *report) write(path string) error {
	text, err := json.MarshalIndent(r.rows, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".results-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	if _, err := temp.Write(append(text, '\n')); err != nil {
		return err
	}
	if err := temp.Chmod(0o644); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
