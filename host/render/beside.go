package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/render/sanitize"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// BesideSummary counts what a candidate court made of the cases that it tried beside the court in force.
type BesideSummary struct {
	// Trials that ran beside; Flips of them end with another status or another label, Mistrials of them are mistrials
	// where the court in force gave an end of its own.
	Trials    int `json:"trials"`
	Flips     int `json:"flips"`
	Mistrials int `json:"mistrials"`
	// Known are the flips of cases whose right classification is known: ToRight of them would be right now, FromRight not
	// any more.
	Known     int `json:"known"`
	ToRight   int `json:"to_right"`
	FromRight int `json:"from_right"`
}

// Add counts a trial, if a candidate took part.
func (s *BesideSummary) Add(t *trial.Trial) {
	if t.Beside == nil {
		return
	}
	s.Trials++
	c := t.Compare()
	if !c.BesideFlips {
		return
	}
	s.Flips++
	if t.Beside.Result.Final.Status == trial.Mistrial && t.Result.Final.Status != trial.Mistrial {
		s.Mistrials++
	}
	if c.Known {
		s.Known++
		count(&s.ToRight, c.BesideRight && !c.CourtRight)
		count(&s.FromRight, !c.BesideRight && c.CourtRight)
	}
}

// Text says it in a sentence.
func (s *BesideSummary) Text() string {
	if s.Trials == 0 {
		return "No case was tried by both courts."
	}
	text := fmt.Sprintf("%s by both courts, %s would flip", plural(s.Trials, "case was tried", "cases were tried"), plural(s.Flips, "verdict", "verdicts"))
	if s.Mistrials > 0 {
		text += ", " + strconv.Itoa(s.Mistrials) + " of them to a mistrial"
	}
	if s.Known > 0 {
		text += fmt.Sprintf("; of %d with a known truth, %d would become right and %d wrong", s.Known, s.ToRight, s.FromRight)
	}
	return text + "."
}

// BesideJSON is a line of what [NewBesideJSONL] writes: both trials of a case.
type BesideJSON struct {
	ID string `json:"id"`
	// Flips: the two end with another status or another label.
	Flips bool `json:"flips"`
	// Truth is the right classification, null where it is not known.
	Truth     *string       `json:"truth"`
	Court     *trial.Result `json:"court"`
	Candidate *trial.Result `json:"candidate"`
}

// NewBesideJSON states both trials of a case; nil where no candidate took part. Timings are left out.
func NewBesideJSON(t *trial.Trial) *BesideJSON {
	if t.Beside == nil {
		return nil
	}
	court, candidate := t.Result, t.Beside.Result
	court.Timings, candidate.Timings = nil, nil
	line := &BesideJSON{ID: t.Result.ID, Flips: t.Compare().BesideFlips, Court: &court, Candidate: &candidate}
	if t.Truth != nil && t.Truth.Classification != "" {
		line.Truth = &t.Truth.Classification
	}
	return line
}

// NewBesideJSONL writes a line for each trial that a candidate took part in, at once.
func NewBesideJSONL(w io.Writer) Writer { return besideJSONL{w} }

type besideJSONL struct{ w io.Writer }

func (b besideJSONL) Write(t *trial.Trial) error {
	line := NewBesideJSON(t)
	if line == nil {
		return nil
	}
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = b.w.Write(append(data, '\n'))
	return err
}

func (besideJSONL) Close() error { return nil }

// NewBesideText tells at the end what a candidate would have changed: how many verdicts, and each flip with both
// transcripts in short.
func NewBesideText(w io.Writer) Writer { return &besideText{w: w} }

type besideText struct {
	w       io.Writer
	summary BesideSummary
	flips   strings.Builder
}

func (b *besideText) Write(t *trial.Trial) error {
	b.summary.Add(t)
	c := t.Compare()
	if t.Beside == nil || !c.BesideFlips {
		return nil
	}
	safe := Sanitize(t)
	mark := ""
	switch {
	case c.Known && c.BesideRight:
		mark = ", to right"
	case c.Known && c.CourtRight:
		mark = ", from right"
	}
	fmt.Fprintf(&b.flips, "\n%s%s\n", sanitize.Line(safe.Result.ID), mark)
	b.transcript("court", &safe.Result)
	b.transcript("candidate", &safe.Beside.Result)
	return nil
}

// transcript is one side of a flip. The texts are sanitized.
func (b *besideText) transcript(who string, r *trial.Result) {
	fmt.Fprintf(&b.flips, "  %-9s  %s\n", who, sanitize.Line(r.End()))
	fmt.Fprintf(&b.flips, "  %9s  %s\n", "", sanitize.Line(strings.Join(r.Path, " ")))
	if why := r.Why(); why != "" {
		fmt.Fprintf(&b.flips, "  %9s  %s\n", "", sanitize.Line(why))
	}
}

func (b *besideText) Close() error {
	_, err := io.WriteString(b.w, "candidate: "+b.summary.Text()+"\n"+strings.TrimPrefix(b.flips.String(), "\n"))
	return err
}
