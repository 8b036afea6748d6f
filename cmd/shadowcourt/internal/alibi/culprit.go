package alibi

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// culpritOptions are the flags of the command culprit.
type culpritOptions struct {
	laboratory
	since, until string
}

// NewCulprit is the command culprit.
func NewCulprit(s cli.Streams) *cobra.Command {
	o := &culpritOptions{}
	cmd := &cobra.Command{
		Use:   "culprit TEST --since REV",
		Short: "Find the commit that a test began to fail with, by running it again",
		Long: `Find the commit that a test began to fail with. TEST is its name as reports have it, such as
example.com/shop/cart.TestTotal; TestTotal alone will do where one package has it. The test has
to fail here and to pass at REV, which is checked first. No report is needed.

The search keeps a probability for each commit between, along first parents, so that a merge is
one commit. It runs the test where that tells most per second, expects flaky outcomes and commits
that do not build, and runs culprit and parent again to confirm them.

The tests run in scratch copies of the sources, isolated from the network and from your files.
The checkout is not changed.

Exit codes: 0 the commit is found and confirmed; 4 open: it is not found or not confirmed, or
the test does not fail here, or fails at REV, too; 1 something failed while running; 2 the command
line or an input is wrong.`,
		Example: `  shadowcourt culprit TestTotal --since v1.2.0
  shadowcourt culprit tests.test_cart.test_total --since HEAD~50 --until main --format md`,
		Args: cli.ExactArgs(1, "the name of one test"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, s, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "", "revision at which the test passed")
	f.StringVar(&o.until, "until", "", "revision at which it fails (default: the checkout, with changes that are not committed)")
	o.flags(f)
	return cmd
}

func (o *culpritOptions) run(cmd *cobra.Command, s cli.Streams, test string) error {
	ctx := cmd.Context()
	err := errors.Join(o.check(), notEmpty(cmd, "until"))
	if o.since == "" {
		err = errors.Join(err, errors.New("--since REV is missing: name a revision at which the test passed"))
	}
	config, faults := o.config()
	if err = errors.Join(err, faults); err != nil {
		return cli.InputError(err)
	}
	search := investigate.Search{Test: test, Source: o.source, Since: o.since, Until: o.until, Lab: config, Now: time.Now}
	p := cli.NewProgress(s.Err)
	p.Say("reading the commits")
	found, err := search.Find(ctx, func(now investigate.Step) { p.Say(searching(test, now)) })
	p.Clear()
	switch {
	case errors.Is(err, investigate.ErrNothingRuns), errors.Is(err, investigate.ErrNoCommits), errors.Is(err, experiment.ErrName):
		return cli.OrInterrupted(ctx, cli.InputError(err))
	case err != nil:
		return cli.OrInterrupted(ctx, err)
	}
	if err := render.WriteBeginning(s.Out, o.format, found, o.since, o.until, cli.Terminal(s.Out)); err != nil {
		return err
	}
	if !found.Confirmed() {
		return &cli.ExitError{Code: exitOpen}
	}
	return nil
}
