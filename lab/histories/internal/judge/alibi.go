package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// holdAlibi gives all cases to the shipped alibi court. Its experiments are answered from their cells.
func holdAlibi(ctx context.Context, bench *study.Bench, list []Judged) error {
	if len(list) == 0 {
		return nil
	}
	cells := client{}
	config, light, err := alibiConfig(cells)
	if err != nil {
		return err
	}
	entries := make([]docket.Entry, len(list))
	for i := range list {
		c := list[i].Case
		if entries[i], err = c.Failure.Entry(); err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		entries[i] = alibi.Entry(entries[i])
		entries[i].Case.ID = c.ID
		cells[c.ID] = spend(c)
	}
	next := 0
	var faults []error
	err = bench.Try(ctx, *config, entries, 0, func(t *trial.Trial) {
		j, asked := &list[next], t.Result.Experiments
		next++
		_, err := light.Settle(ctx, t)
		faults = append(faults, err)
		f := t.Result.Final
		t.Result.Experiments = append(asked, slices.DeleteFunc(t.Result.Experiments, func(e trial.Experiment) bool { return e.Persona != "" || e.Node != "" })...)
		j.Alibi = Trial{lightOf(t), f.Classification, f.Confidence, t.Result.Activated, t.Result.Experiments, t.Conclusion().Finding}
		a := history.Open
		if f.Classification != "" {
			a = history.Attribution(f.Classification)
		}
		if _, merged := j.Case.Trees[history.Merge]; merged && a == history.Caused {
			a = history.InMerge // head is the merge here, and the base its target
		}
		j.Answers[Alibi] = cells[j.Case.ID].says(a)
	})
	return errors.Join(append(faults, err)...)
}

func alibiConfig(cells client) (*host.Config, *alibi.Light, error) {
	known, err := alibi.Profile()
	if err != nil {
		return nil, nil, err
	}
	def, err := alibi.Pipeline()
	if err != nil {
		return nil, nil, err
	}
	runs := alibi.Once(cells)
	light, err := alibi.NewLight(runs, known, 0)
	return &host.Config{
		Pipeline: def, Profile: known, Light: light, Experiments: runs,
		Now: func() time.Time { return time.Unix(0, 0) }, // so that no trial ends for want of time
	}, light, err
}
