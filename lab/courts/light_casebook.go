package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	runs "github.com/shadowcourt/shadowcourt/internal/run"
)

// casebooks launches twice: what came of the first launch is remembered, as it
// came out or corrected by the truth or by a wrong label, and the second launch
// looks it up. The docket does not say which cases are of one fault, so that once
// the second launch has the same failures, and once the first has every other case
// of each module and the second the rest. At last the casebook has failures of
// other modules alone: the cases that the profile was fitted on.
func (s *lightStudy) casebooks(ctx context.Context, p *part, config host.Config, fitting, tested []docket.Entry) error {
	half, rest := halves(tested)
	first := p.runs[pathFitted]
	p.runs[firstLaunch] = pick(first, rest)
	others := make(launch, len(fitting))
	for i := range fitting {
		others[i] = tried{entry: fitting[i]}
	}
	for _, v := range []struct {
		variant variant
		seen    launch
		second  []docket.Entry
		correct func(*docket.Entry) *trial.Truth
	}{
		{sameAgain, first, tested, asItCameOut},
		{sameCorrected, first, tested, truth},
		{sameWrong, first, tested, wrong},
		{otherFailures, pick(first, half), entriesAt(tested, rest), asItCameOut},
		{otherCorrected, pick(first, half), entriesAt(tested, rest), truth},
		{otherWrong, pick(first, half), entriesAt(tested, rest), wrong},
		{otherModules, others, tested, truth},
	} {
		var err error
		if p.runs[v.variant], err = s.remembering(ctx, config, v.seen, v.second, v.correct); err != nil {
			return err
		}
	}
	return nil
}

func asItCameOut(*docket.Entry) *trial.Truth { return nil }

func truth(e *docket.Entry) *trial.Truth { return e.Truth }

// wrong is the label after the right one.
func wrong(e *docket.Entry) *trial.Truth {
	labels := e.Case.Labels
	return &trial.Truth{Classification: labels[(slices.Index(labels, e.Truth.Classification)+1)%len(labels)]}
}

// remembering tries cases with a casebook that knows a launch.
func (s *lightStudy) remembering(ctx context.Context, config host.Config, seen launch, entries []docket.Entry, correct func(*docket.Entry) *trial.Truth) (list launch, err error) {
	dir, err := os.MkdirTemp("", "shadowcourt-casebook-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	book, err := casebook.Open(ctx, filepath.Join(dir, "casebook.db"), casebook.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	run := casebook.Run{Entries: make([]casebook.Entry, 0, len(seen))}
	for i := range seen {
		t := &seen[i]
		run.Entries = append(run.Entries, runs.Entry(&t.entry.Case, correct(&t.entry), &t.result.Final))
	}
	if _, err := book.Remember(ctx, run); err != nil {
		return nil, err
	}
	snapshot, err := book.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	config.Casebook = runs.Casebook(snapshot)
	return s.launch(ctx, config, entries, 0)
}

// halves splits the places of cases: every other one of each group.
func halves(entries []docket.Entry) (half, rest []int) {
	seen := make(map[string]int)
	for i := range entries {
		group := entries[i].Case.Group
		if seen[group]%2 == 0 {
			half = append(half, i)
		} else {
			rest = append(rest, i)
		}
		seen[group]++
	}
	return half, rest
}

func pick(list launch, at []int) launch {
	out := make(launch, 0, len(at))
	for _, i := range at {
		out = append(out, list[i])
	}
	return out
}

func entriesAt(list []docket.Entry, at []int) []docket.Entry {
	out := make([]docket.Entry, 0, len(at))
	for _, i := range at {
		out = append(out, list[i])
	}
	return out
}
