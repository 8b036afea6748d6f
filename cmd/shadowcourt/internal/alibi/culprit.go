package alibi

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// laboratory are the flags about where and how tests are run, which alibi and culprit share.
type laboratory struct {
	source, format string
	budget         time.Duration
	network, home  bool
	runners, env   []string
	formats        []string
}

// formats are those of what both write.
var formats = []string{"table", "jsonl", "md"}

// flags defines the flags; more are further formats.
func (l *laboratory) flags(f *pflag.FlagSet, more ...string) {
	l.formats = append(slices.Clone(formats), more...)
	f.StringVar(&l.source, "source", ".", "folder of the project in its git repository")
	f.StringVar(&l.format, "format", "table", cli.OrList(l.formats))
	f.DurationVar(&l.budget, "budget", open.DefaultBudget, "how long all builds and runs together may take")
	f.BoolVar(&l.network, "network", false, "leave the network on for the tests")
	f.BoolVar(&l.home, "home", false, "let the tests read your home folder, and all else that you can read")
	f.StringArrayVar(&l.env, "env", nil, "NAME: let the tests see this variable of yours, too, but for those of a clean environment; may be repeated")
	f.StringArrayVar(&l.runners, "runner", nil, "FILE.yaml: what runs the tests, or a shipped one; may be repeated (default: what the project has)")
}

func (l *laboratory) check() error {
	var faults []error
	if l.format == "csv" {
		faults = append(faults, errors.New("--format csv: CSV is not written: use JSON lines (--format jsonl)"))
	} else if !slices.Contains(l.formats, l.format) {
		faults = append(faults, fmt.Errorf("--format %q: use %s", l.format, cli.OrList(l.formats)))
	}
	if l.budget <= 0 {
		faults = append(faults, errors.New("--budget: use a time above 0, such as 5m"))
	}
	return errors.Join(faults...)
}

// notEmpty rejects a revision that is given and empty, as a variable that is not set: without it, less would be run.
func notEmpty(cmd *cobra.Command, name string) error {
	if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
		return fmt.Errorf("--%s: the revision is empty", name)
	}
	return nil
}

// config are the limits of runs.
func (l *laboratory) config() (experiment.Config, error) {
	runners, err := open.Runners("--runner ", l.runners)
	env, faults := l.variables()
	return experiment.Config{Budget: l.budget, Network: l.network, Home: l.home, Runners: runners, Env: env, Apart: open.RunsApart()}, errors.Join(err, faults)
}

// variables are those that --env names.
func (l *laboratory) variables() ([]string, error) {
	var env []string
	var faults []error
	for _, name := range l.env {
		value, there := os.LookupEnv(name)
		err := experiment.CheckVariable(name)
		if err == nil && !there {
			err = fmt.Errorf("the variable %s is not set", name)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("--env: %w", err))
			continue
		}
		env = append(env, name+"="+value)
	}
	return env, errors.Join(faults...)
}

// searching is what a progress line says of the search for a commit: what runs, what it showed, how sure it is.
func searching(test string, now investigate.Step) string {
	at := fmt.Sprintf("%s: commit %d of %d, %s", sanitize.Line(test), now.Commit, now.Commits, sanitize.Line(short(now.ID)+" "+now.Title))
	if now.Commit == 0 {
		at = fmt.Sprintf("%s: before the first commit, %s", sanitize.Line(test), short(now.ID))
	}
	text := at + ": running it " + cli.Count(now.Runs, "time", "times")
	if now.Done {
		text = at + ": " + now.Showed.Words()
	}
	if now.Probability > 0 {
		text += fmt.Sprintf("; %s is most probable, at %.0f%%", short(now.Suspect), 100*now.Probability)
	}
	return text
}

// short is the beginning of a commit's id.
func short(id string) string { return cmp.Or(fmt.Sprintf("%.12s", id), "what is not committed") }

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
