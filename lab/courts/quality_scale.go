package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/measure"
)

// The size of the docket that fit is timed on.
const (
	scaleSources = 50
	scaleLabels  = 20
	scaleWords   = 2_000
	scaleLength  = 30 // words of a document
)

// scale times fit on a docket of invented cases: half of the sources speak in each, of different reliability, and one word in six
// of a document is of its label.
func scale(ctx context.Context, cases, workers int, out io.Writer) error {
	entries := invented(rand.New(rand.NewPCG(1, 2)), cases) //nolint:gosec // reproducible cases, no secret
	begin := time.Now()
	result, err := measure.Fit(ctx, entries, measure.FitConfig{Seed: 1, Workers: workers})
	if err != nil {
		return err
	}
	took := time.Since(begin)
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "`fit` on %d cases, %d sources and %d labels, with %d workers: %.0f s and %d MB at most in memory; accuracy %.3f, Light %.3f\n",
		cases, scaleSources, scaleLabels, workers, took.Seconds(), used.Maxrss>>10, result.Report.Figures[0].Accuracy, result.Report.Figures[2].Accuracy)
	return err
}

func invented(r *rand.Rand, cases int) []docket.Entry {
	labels := make([]string, scaleLabels)
	for i := range labels {
		labels[i] = fmt.Sprintf("label-%02d", i)
	}
	list := make([]docket.Entry, cases)
	for i := range list {
		truth := r.IntN(scaleLabels)
		says := func(right float64) string {
			if r.Float64() < right {
				return labels[truth]
			}
			return labels[r.IntN(scaleLabels)]
		}
		c := abi.Case{ID: fmt.Sprint("case-", i), Subject: "an invented case", Labels: labels, Light: &abi.LightAnswer{Classification: says(0.3), Confidence: 0.5 + 0.3*r.Float64(), Reasoning: "invented"}}
		for s := range scaleSources {
			if r.IntN(2) == 0 {
				c.Evidence = append(c.Evidence, abi.Evidence{SourceRef: fmt.Sprintf("source-%02d:1", s), Content: "says so", RelevanceConfidence: 0.3 + 0.6*r.Float64(), Supports: says(float64(s) / 200)})
			}
		}
		var text strings.Builder
		for range scaleLength {
			word := r.IntN(scaleWords)
			if r.IntN(6) == 0 {
				word = word - word%scaleLabels + truth
			}
			fmt.Fprintf(&text, "w%04d ", word)
		}
		c.Documents = []abi.Document{{Name: "text", Text: text.String()}}
		list[i] = docket.Entry{Case: c, Truth: &trial.Truth{Classification: labels[truth]}}
	}
	return list
}
