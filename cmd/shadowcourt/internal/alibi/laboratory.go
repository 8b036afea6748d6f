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
