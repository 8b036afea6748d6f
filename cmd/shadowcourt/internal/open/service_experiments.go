package open

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// maxServiceBudget leaves time for the trials of a batch, which may take 50 minutes.
const maxServiceBudget = 30 * time.Minute

// ServiceFlags are those of the service that let dockets of one repository run its tests.
func (o *Flags) ServiceFlags(cmd *cobra.Command) {
	o.command = cmd
	o.ExperimentFlags(cmd, experimentsOff)
	f := cmd.Flags()
	f.StringVar(&o.source, "source", "", "with --experiments: folder with the source, in a git repository that has the revisions of dockets")
	f.StringVar(&o.since, "since", "", "with --experiments all: the git revision at which the tests passed")
	f.StringVar(&o.repository, "repository", "", "with --experiments: the repository whose dockets may run tests; others run none")
	f.Lookup("experiments").Usage = "with --source: what personas may run to settle a case: off, reruns (the tests of the docket's revision), or all " +
		"(with files of the revision of --since, too)"
	f.Lookup("budget").Usage = "with --experiments: how long those of one docket may run in one process, at most " + maxServiceBudget.String()
}

// Laboratories run what the flags allow; nil for nothing. cache is the folder for compiled modules, or none.
func (o *Flags) Laboratories(ctx context.Context, cache string) (*work.Laboratories, error) {
	faults := []error{o.CheckExperiments()}
	switch e := &o.experiments; {
	case !o.Experiments():
		faults = append(faults, o.ChangedWithout("--experiments reruns or all", "source", "since", "repository"))
	case o.repository == "":
		faults = append(faults, errors.New("--experiments needs --repository, whose dockets may run tests"))
	case e.budget > maxServiceBudget:
		faults = append(faults, fmt.Errorf("--budget %s: use at most %s", e.budget, maxServiceBudget))
	}
	runners, err := o.experiments.loadRunners()
	if err := errors.Join(append(faults, err)...); err != nil || !o.Experiments() {
		return nil, err
	}
	if err := o.checkGreen(ctx); err != nil {
		return nil, err
	}
	if cache == "none" {
		cache = ""
	}
	return &work.Laboratories{Repository: o.repository, Open: func(ctx context.Context, revision string) (work.Laboratory, error) {
		config := o.laboratoryConfig(runners, cache)
		config.Commit = revision
		return experiment.Open(ctx, config)
	}}, nil
}

// checkGreen says whether the source has the revision of --since: otherwise every docket would go without its experiments.
func (o *Flags) checkGreen(ctx context.Context) error {
	if o.since == "" {
		return nil
	}
	repository, err := tree.Open(ctx, o.source)
	if err == nil {
		_, err = repository.At(ctx, o.since)
	}
	if err != nil {
		return fmt.Errorf("--source %s, --since: %w", o.source, err)
	}
	return nil
}
