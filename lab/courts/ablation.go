package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/internal/measure"
)

// ablation has a table for each pair of dockets.
func ablation(ctx context.Context, bench *study.Bench, pairs []pair) ([]study.Table, error) {
	var list []study.Table
	for i := range pairs {
		text, err := ablate(ctx, bench, &pairs[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pairs[i].name, err)
		}
		list = append(list, study.Table{Name: pairs[i].name, Text: text})
	}
	return list, nil
}

// ablate is the table of one pair of dockets.
func ablate(ctx context.Context, bench *study.Bench, p *pair) (string, error) {
	fitted, err := measure.Fit(ctx, p.fitted, measure.FitConfig{Name: "ablation", Seed: 1})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString("| court | right in the band | gained | lost | names a label | ECE | Brier | calls a trial | fuel a trial |\n")
	out.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	var whole []measure.Observation
	for _, m := range mechanisms() {
		config := host.Config{Profile: fitted.Profile}
		if m.without {
			config.Profile = nil
		}
		if config.Pipeline, err = m.definition(); err != nil {
			return "", fmt.Errorf("%s: %w", m.name, err)
		}
		list, err := bench.Observe(ctx, config, p.tried)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.name, err)
		}
		if whole == nil {
			whole = list
		}
		ablationRow(&out, m.name, list, whole)
	}
	return out.String(), nil
}

// ablationRow gives one line: against the whole court, cases that are right only
// here are gained, those that are right only there are lost.
func ablationRow(out io.Writer, name string, list, whole []measure.Observation) {
	band, right, named, gained, lost := 0, 0, 0, 0, 0
	calls, fuel := 0, uint64(0)
	for i := range list {
		o, w := &list[i], &whole[i]
		if !o.Activated {
			continue
		}
		band++
		calls += o.Calls
		if o.Fuel != nil {
			fuel += *o.Fuel
		}
		if o.Final.Classification != "" {
			named++
		}
		here, there := o.Answer() == o.Truth, w.Answer() == w.Truth
		switch {
		case here && !there:
			gained++
		case there && !here:
			lost++
		}
		if here {
			right++
		}
	}
	court := certainty(list)
	n := float64(max(band, 1))
	fmt.Fprintf(out, "| %s | %.3f | %d | %d | %.2f | %s | %s | %.1f | %.2f M |\n", name, float64(right)/n, gained, lost,
		float64(named)/n, figure(court.ECE), figure(court.Brier), float64(calls)/n, float64(fuel)/n/1e6)
}

// certainty is the reliability of the court's confidence where it named a label.
func certainty(list []measure.Observation) reliability {
	var answers []stated
	for i := range list {
		if o := &list[i]; o.Activated && o.Truth != "" && o.Final.Classification != "" {
			answers = append(answers, stated{Confidence: o.Final.Confidence, Right: o.Final.Classification == o.Truth})
		}
	}
	return reliabilityOf(answers, 0, nil)
}

func figure(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.3f", *v)
}
