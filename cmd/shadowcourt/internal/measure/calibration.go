package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// calibration is one run: what was read and tried so far.
type calibration struct {
	reading
	options *calibrateOptions

	fittingEntries []docket.Entry
	fitting        []*calibrate.BaselineCase
	// fittedIDs and fittedGroups tell what stands in both halves.
	fittedIDs, fittedGroups map[string]bool
	sharedGroups            map[string]bool
	tested                  []calibrate.Observation
	peers                   *calibrate.Asker // nil without --peers
	coverage                *profile.Coverage
	rules                   *calibrate.RuleSet // nil without --rules
	matched                 []docket.Entry     // cases in which a rule matched

	untold int // tested cases without truth
}

// readFitting reads the dockets of --fitted-on.
func (c *calibration) readFitting(ctx context.Context, stdin io.Reader) error {
	c.fittedIDs, c.fittedGroups, c.sharedGroups = map[string]bool{}, map[string]bool{}, map[string]bool{}
	if len(c.options.fittedOn) == 0 {
		return nil
	}
	inputs, err := run.OpenDockets(ctx, stdin, c.options.fittedOn, run.JSONL)
	if err != nil {
		return cli.InputError(fmt.Errorf("--fitted-on: %w", err))
	}
	defer inputs.Close()
	for entry, err := range inputs.Entries("") {
		if err != nil {
			if err := c.fault(entry, err); err != nil {
				return err
			}
			continue
		}
		if entry.Truth == nil || entry.Truth.Classification == "" {
			continue
		}
		c.fittingEntries = append(c.fittingEntries, entry)
		c.fittedIDs[entry.Case.ID] = true
		if entry.Case.Group != "" {
			c.fittedGroups[entry.Case.Group] = true
		}
	}
	return nil
}

// learn reduces the cases of --fitted-on to what the baselines learn from. Where
// a Light is asked, it is asked about them too, as the court asks it.
func (c *calibration) learn(ctx context.Context, s cli.Streams, config *host.Config) error {
	entries := c.fittingEntries
	c.fittingEntries = nil // the documents are not needed any more
	if open.HasLight(config) && len(entries) > 0 {
		var err error
		light := &open.LightRunner{Flags: &c.options.Flags, Workers: c.options.workers, Streams: s, Config: config, Progress: c.progress, Doing: "asking Light about --fitted-on"}
		defer light.Close(ctx)
		if entries, err = light.Run(ctx, config.Profile, entries); err != nil {
			return err
		}
	}
	for i := range entries {
		if entries[i].Case.Light == nil {
			continue
		}
		fitted := calibrate.NewBaselineCase(&entries[i].Case, entries[i].Truth.Classification)
		c.fitting = append(c.fitting, &fitted)
	}
	if len(c.options.fittedOn) > 0 && len(c.fitting) == 0 {
		return cli.InputError(errors.New("--fitted-on: no case states its truth and Light's answer, so that nothing can be learnt"))
	}
	return nil
}

// try tries the cases of the dockets whose truth is known.
func (c *calibration) try(ctx context.Context, h *host.Host, inputs *run.Dockets) error {
	var both error
	c.peers = c.options.asker(ctx, h)
	for t := range h.TryAll(ctx, c.withTruth(inputs.Entries(""), &both), c.options.Workers(c.options.workers)) {
		if t.Trial == nil && ctx.Err() != nil {
			break
		}
		if t.Err != nil {
			if err := c.fault(t.Entry, t.Err); err != nil {
				return err
			}
			continue
		}
		c.tested = append(c.tested, calibrate.Observe(t.Trial))
		if r := t.Trial.Result.Rules; r != nil && len(r.Matches) > 0 {
			c.matched = append(c.matched, t.Entry)
		}
		c.coverage.Add(&t.Trial.Case)
		c.light.Add(t.Trial)
		c.peers.Ask(ctx, t.Trial)
		c.done++
		c.progress.Tried(c.done, c.faults)
	}
	c.progress.Say("asking the models without a court")
	failed := c.peers.Wait()
	c.progress.Clear()
	switch {
	case failed != nil && ctx.Err() == nil:
		return failed
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted after %s; nothing is measured", cli.Count(c.done, "case", "cases"))
	case both != nil:
		return cli.InputError(both)
	case len(c.tested) == 0:
		return cli.InputError(errors.New("no case of the dockets states its truth (\"truth\":{\"classification\":...}): there is nothing to measure against"))
	}
	return nil
}

// tryWithoutRules tries the cases in which a rule matched before the same court without the rules. In all others they change nothing.
func (c *calibration) tryWithoutRules(ctx context.Context, s cli.Streams, config *host.Config, labels []pipeline.Label) error {
	if config.Rules == nil {
		return nil
	}
	set := config.Rules.For(labels)
	c.rules = &calibrate.RuleSet{File: set.File, Digest: set.Digest, Without: map[string]string{}}
	for i := range set.Rules {
		r := &set.Rules[i]
		c.rules.Rules = append(c.rules.Rules, calibrate.UserRule{Name: r.Name, Label: r.Label, Owner: r.Owner})
	}
	if len(c.matched) == 0 {
		return nil
	}
	plain := *config
	plain.Rules = nil
	h, err := c.options.Host(ctx, s, &plain)
	if err != nil {
		return c.options.Error(err)
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	defer c.progress.Clear()
	for t := range h.TryAll(ctx, run.Each(c.matched), c.options.Workers(c.options.workers)) {
		if t.Err != nil {
			return t.Err
		}
		o := calibrate.Observe(t.Trial)
		c.rules.Without[o.Case.ID] = o.Answer()
		c.progress.Say(fmt.Sprintf("without the rules: %d of %d", len(c.rules.Without), len(c.matched)))
	}
	return nil
}

// withTruth passes on the cases with truth, and stops at one that was fitted on.
func (c *calibration) withTruth(entries iter.Seq2[docket.Entry, error], both *error) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		for entry, err := range entries {
			if err == nil {
				if entry.Truth == nil {
					c.untold++
					continue
				}
				if c.fittedIDs[entry.Case.ID] {
					*both = fmt.Errorf("%s:%d: the case %q is in --fitted-on too: what was learnt from can't be measured on",
						entry.Source, entry.Line, entry.Case.ID)
					return
				}
				if c.fittedGroups[entry.Case.Group] {
					c.sharedGroups[entry.Case.Group] = true
				}
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// conclude says what the figures leave out, and gives the exit code.
func (c *calibration) conclude() error {
	if c.untold > 0 {
		fmt.Fprintf(c.stderr, "note: %s no truth and was not tried\n", cli.Count(c.untold, "case states", "cases state"))
	}
	if n := len(c.sharedGroups); n > 0 {
		fmt.Fprintf(c.stderr, "warning: %s cases in both halves, so that the fitted baselines may know them\n", cli.Count(n, "group has", "groups have"))
	}
	open.WarnOfProfile(c.stderr, c.coverage)
	return c.end("measured")
}
