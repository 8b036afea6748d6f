package try

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/render/sanitize"
	"github.com/shadowcourt/shadowcourt/host/run/journal"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// journalSuffix names the file beside an output that keeps the trials of a run until it ends.
const JournalSuffix = ".resume"

// checkResume validates --resume with the other flags.
func (o *tryOptions) checkResume() error {
	switch {
	case !o.resume:
		return nil
	case o.explain != "":
		return errors.New("--resume continues with whole runs: leave out --explain, which tries one case")
	case o.record.file == "" && o.journalName() == "":
		return errors.New("--resume needs the file of an earlier run to continue with: --output FILE, --report FILE or --record FILE")
	case o.record.file == "":
		return nil
	case len(o.reports) > 0 || o.cases != "" || len(o.Candidate.Modules) > 0 || o.output != "" && o.format == "table":
		return errors.New("--resume with --record has the results of earlier cases, and not their trials: use --format jsonl or json, and leave out --report, --cases and --canary")
	}
	return nil
}

// journalName is where the journal of a run is: beside --output, or beside the first --report. It is empty for a run that
// keeps none: a record does that already, and a device or a pipe can't be resumed.
func (o *tryOptions) journalName() string {
	if o.record.file != "" || o.explain != "" {
		return ""
	}
	for _, name := range slices.Concat([]string{o.output}, o.reports) {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			continue
		}
		return name + JournalSuffix
	}
	return ""
}

// journal opens the journal of the run, or that of an earlier run; nil where there is none.
func (o *tryOptions) journal(parts []record.Part, stderr io.Writer) (*journal.Journal, error) {
	name := o.journalName()
	if name == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	config := journal.Config{
		Whole:     o.format == "table" || len(o.reports) > 0 || o.cases != "" || len(o.Candidate.Modules) > 0,
		Documents: o.cases != "",
		Now:       time.Now,
	}
	for _, p := range parts {
		config.Parts = append(config.Parts, journal.Part{Name: p.Name, Digest: string(p.Digest)})
	}
	config.Parts = append(config.Parts, journal.Part{Name: "--format, --report, --cases or --canary", Digest: keeps(&config)})
	if o.resume {
		j, err := journal.Resume(name, config)
		if !errors.Is(err, fs.ErrNotExist) {
			return j, named(name, "--resume: ", err)
		}
		if output := name[:len(name)-len(JournalSuffix)]; fileExists(output) {
			return nil, fmt.Errorf("--resume: %s is not of a run that was interrupted: there is no %s", output, name)
		}
	}
	j, left, err := journal.Create(name, config)
	if left {
		fmt.Fprintf(stderr, "warning: %s has trials of an earlier run, and this run tries them again; --resume continues with them\n", sanitize.Line(name))
	}
	return j, named(name, "", err)
}

// keeps says what a journal has of each trial. A run whose outputs need more than that can't continue with it.
func keeps(config *journal.Config) string {
	switch {
	case config.Documents:
		return "trials and documents"
	case config.Whole:
		return "trials"
	}
	return "results"
}

func named(name, flag string, err error) error {
	if err == nil {
		return nil
	}
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("%s%s: %w", flag, name, err)
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// earlierRun is what an earlier run left, see [journal.Journal].
type earlierRun interface {
	Left() bool
	Passed(entry *docket.Entry) (trial *trial.Trial, failed string, err error)
}

// earlier gives what this run continues with, and the file that has it.
func (r *tryRun) earlier() (earlierRun, string) {
	if r.recording.resumes() {
		return r.recording, r.options.record.file
	}
	if r.journal != nil {
		return r.journal, r.journal.Name()
	}
	return nil, ""
}

// passEarlier hands on what came of the cases that were tried before, which the docket has to begin with.
func (r *tryRun) passEarlier(ended func() bool, next func() (docket.Entry, error, bool)) error {
	before, from := r.earlier()
	if before == nil {
		return nil
	}
	cases := 0
	for before.Left() {
		entry, err, more := next()
		switch {
		case ended():
			return nil // the run says that it was interrupted
		case !more:
			return otherDocket(from, errors.New("it ends after "+cli.Count(cases, "case", "cases")))
		case err != nil:
			r.fault(&host.Tried{Entry: entry, Err: err})
			continue
		}
		trial, failed, err := before.Passed(&entry)
		var fault *journal.FaultError
		var other *journal.DocketError
		switch {
		case errors.As(err, &fault):
			return cli.InputError(fmt.Errorf("--resume: %s: %w; nothing was changed: to continue with what is before it, keep a copy and cut the file: head -n %d", from, err, fault.Line-1))
		case errors.As(err, &other):
			other.ID = r.redactor.Text(other.ID)
			return otherDocket(from, other)
		case err != nil:
			return cli.InputError(fmt.Errorf("--resume: %s: %w", from, err))
		}
		cases++
		if err := r.pass(&entry, trial, failed); err != nil {
			return err
		}
	}
	return nil
}

// onlyRemembered sees to it that there is no further case: those of the earlier run are in the casebook, which later cases would
// be tried with.
func (r *tryRun) onlyRemembered(ended func() bool, next func() (docket.Entry, error, bool)) error {
	for {
		entry, err, more := next()
		switch {
		case ended() || !more:
			return nil // an interrupted run says so
		case err == nil:
			return cli.InputError(fmt.Errorf("--resume: %s: the run ended and its verdicts are in the casebook, so case %q can't continue with it: try the new cases in a run without --resume",
				r.journal.Name(), r.redactor.Text(entry.Case.ID)))
		}
		r.fault(&host.Tried{Entry: entry, Err: err})
	}
}

func otherDocket(from string, why error) error {
	return cli.InputError(fmt.Errorf("--resume: the docket does not begin with the cases of %s: %w", from, why))
}

// pass takes note of a case that was tried before, and writes its result.
func (r *tryRun) pass(entry *docket.Entry, trial *trial.Trial, failed string) error {
	tried := &host.Tried{Entry: *entry, Trial: trial}
	if trial == nil {
		tried.Err = errors.New(failed)
		r.fault(tried)
		r.remember(tried)
		return nil
	}
	r.note(trial)
	r.remember(tried)
	if r.recording != nil && r.options.output == "" {
		return nil // nobody knows whether it was given, see sayRecorded
	}
	return r.out.write(trial)
}

// sayRecorded says of results on the standard output which ones are not among
// them: nobody knows how many of the last ones in the record were given.
func (o *tryOptions) sayRecorded(stderr io.Writer, r *recording) {
	if o.output == "" && r.resumes() && len(r.before) > 0 {
		fmt.Fprintf(stderr, "%s has %s of an earlier run, not given again here; the last may never have been given: --output FILE gives all\n",
			sanitize.Line(o.record.file), cli.Count(len(r.before), "result", "results"))
	}
}

// kept adds to an error which results are there all the same, and how to continue with them.
func (r *tryRun) kept(err error) error {
	if _, ok := errors.AsType[*cli.ExitError](err); ok {
		return err
	}
	file, trials := "", 0
	switch {
	case r.journal != nil:
		file, trials = r.journal.Name(), r.journal.Trials()
	case r.recorded():
		file, trials = r.options.record.file, r.recording.trials()
	}
	if trials == 0 {
		return err
	}
	return fmt.Errorf("%w\n%s has %s; %s continues from there", err, file, cli.Count(trials, "result", "results"), r.sameCommand())
}
