package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/host/lab/experiments/cases"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// The files of labelled cases, for `shadowcourt fit CASES --outcomes RESULTS`.
const (
	labelledCases   = "cases.jsonl"
	labelledResults = "results.jsonl"
)

// writeLabelled writes the cases that were tried, with their truth and with what all experiments showed. Cases of one module are
// one group.
func writeLabelled(work, folder string) error {
	done, err := readJSON(work)
	if err != nil {
		return err
	}
	list, err := cases.Read(work)
	if err != nil {
		return err
	}
	made := map[string]*cases.Case{}
	for _, c := range list {
		made[c.ID] = c
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var set disk.Set
	if err := writeFiles(&set, folder, done, made); err != nil {
		set.Discard()
		return err
	}
	return set.Commit()
}

func writeFiles(set *disk.Set, folder string, done []tried, made map[string]*cases.Case) error {
	entries, err := set.Create(filepath.Join(folder, labelledCases))
	if err != nil {
		return err
	}
	results, err := set.Create(filepath.Join(folder, labelledResults))
	if err != nil {
		return err
	}
	docket, lines := render.NewCases(entries), json.NewEncoder(results)
	for i := range done {
		c := made[done[i].Case.ID]
		if c == nil {
			continue
		}
		entry, err := c.Entry()
		if err != nil {
			return err
		}
		entry.Case.ID, entry.Case.Group = c.ID, c.Pair.Module
		line := trial.Result{ID: c.ID}
		for j := range done[i].Results {
			line.Experiments = append(line.Experiments, trial.NewExperiment("", "", &done[i].Results[j]))
		}
		if err := errors.Join(docket.Write(&trial.Trial{Case: entry.Case, Truth: entry.Truth}), lines.Encode(line)); err != nil {
			return err
		}
	}
	return nil
}
