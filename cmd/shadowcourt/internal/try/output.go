package try

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// outputs begins every output that the flags ask for.
func (o *tryOptions) outputs(s cli.Streams, config *run.Config) (err error) {
	files := &disk.Set{}
	config.Files = files
	defer func() {
		if err != nil {
			files.Discard()
		}
	}()
	main := s.Out
	if len(o.reports) > 0 || o.cases != "" {
		main = &cli.UntilGone{W: s.Out}
	}
	if o.output != "" {
		f, err := files.Create(o.output)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		main = f
	}
	config.Writers = []render.Writer{o.mainWriter(main)}
	if o.remote.results != nil {
		config.Writers = append(config.Writers, o.remote.results)
	}
	for _, name := range o.reports {
		f, err := files.Create(name)
		if err != nil {
			return fmt.Errorf("--report: %w", err)
		}
		config.Writers = append(config.Writers, cli.ReportWriter(name, f))
	}
	if o.cases != "" {
		f, err := files.Create(o.cases)
		if err != nil {
			return fmt.Errorf("--report: %w", err)
		}
		config.Writers = append(config.Writers, render.NewCases(f))
	}
	for _, w := range config.Writers {
		if s, ok := w.(render.Summarizer); ok {
			s.Summary().Unbound(o.Unbound)
			s.Summary().Unable(o.NotRun, o.Elsewhere)
		}
	}
	return nil
}

func (o *tryOptions) mainWriter(w io.Writer) render.Writer {
	switch {
	case o.format == "jsonl":
		return render.NewJSONL(w)
	case o.format == "json":
		return render.NewJSON(w)
	case o.explain != "":
		return cli.NewExplainer(w)
	default:
		return render.NewTable(w, cli.Terminal(w))
	}
}

// unreadNote names the lines of a stream that are no events.
func unreadNote(stream string, lines gotest.Unread) string {
	numbers := make([]string, len(lines.Lines))
	for n, line := range lines.Lines {
		numbers[n] = strconv.Itoa(line)
	}
	places, more := strings.Join(numbers, ", "), ""
	if lines.Count > len(numbers) {
		more = ", ..."
	}
	return stream + ": " + cli.Count(lines.Count, "line is no event", "lines are no events") + " of go test -json, kept as output (" +
		cli.Plural(len(numbers), "line", "lines") + " " + places + more + ")"
}

// sayUnread tells of the lines of test streams that are no events.
func (r *tryRun) sayUnread(inputs *run.Dockets) {
	for _, u := range inputs.Unread {
		fmt.Fprintln(r.stderr, "note: "+sanitize.Line(unreadNote(u.Stream, u.Lines)))
	}
}

// sayPassed says of reports of tests why nothing was tried.
func (r *tryRun) sayPassed(ctx context.Context, inputs *run.Dockets) {
	o := r.options
	if r.sum.Tried+r.sum.Faults+r.sum.Unread > 0 || ctx.Err() != nil || o.explain != "" || !inputs.Only(run.GoTest) && !inputs.OfRunners() {
		return
	}
	fmt.Fprintf(r.stderr, "no failure in %s\n", cli.Count(inputs.Tests, "test", "tests"))
}

// openError names the flag that a run can't be opened for. Files that can't be used are faults of the command line.
func openError(err error) error {
	_, ofRecord := errors.AsType[*run.RecordError](err)
	_, ofJournal := errors.AsType[*run.JournalError](err)
	if ofRecord || ofJournal {
		return cli.FileError(runError(err))
	}
	return err
}

// runError names the flags that the errors of a run concern.
func runError(err error) error {
	if list, ok := err.(interface{ Unwrap() []error }); ok { // only errors.Join itself, none that is wrapped
		var all []error
		for _, e := range list.Unwrap() {
			all = append(all, runError(e))
		}
		return errors.Join(all...)
	}
	var ofRecord *run.RecordError
	var ofJournal *run.JournalError
	var ofCasebook *run.CasebookError
	var ofResume *run.ResumeError
	switch {
	case errors.As(err, &ofRecord):
		return recordError(ofRecord)
	case errors.As(err, &ofJournal):
		return journalError(ofJournal)
	case errors.As(err, &ofCasebook):
		return fmt.Errorf("--remember: %w", ofCasebook.Err)
	case errors.As(err, &ofResume):
		return cli.InputError(fmt.Errorf("--resume: %w", err))
	}
	return err
}

func recordError(e *run.RecordError) error {
	var fault *record.FaultError
	switch {
	case e.Case != "":
		return fmt.Errorf("--record: the trial of %q: %w; use --record FILE, or --record FILE,digests", e.Case, e.Err)
	case e.File == "":
		return fmt.Errorf("--record: %w", e.Err)
	case errors.Is(e.Err, fs.ErrExist):
		return fmt.Errorf("--record %s is there already, and a record is never written over; --resume continues with it", e.File)
	case errors.As(e.Err, &fault) && fault.Entry > 0 && !errors.Is(e.Err, record.ErrOtherKey):
		return fmt.Errorf("--record %s: %w; to continue after the last valid entry, keep a copy and cut the file: head -c %d", e.File, e.Err, fault.Offset)
	case errors.As(e.Err, &fault):
		return fmt.Errorf("--record %s: %w; the file was left as it is", e.File, e.Err)
	}
	return fmt.Errorf("--record %s: %w", e.File, e.Err)
}

func journalError(e *run.JournalError) error {
	switch {
	case errors.Is(e.Err, run.ErrNotInterrupted):
		return fmt.Errorf("--resume: %s is not of a run that was interrupted: there is no %s", strings.TrimSuffix(e.File, run.JournalSuffix), e.File)
	case e.Resuming:
		return fmt.Errorf("--resume: %s: %w", e.File, e.Err)
	}
	return fmt.Errorf("%s: %w", e.File, e.Err)
}

// kept adds to an error which results are there all the same, and how to continue with them.
func (r *tryRun) kept(err error) error {
	if _, ok := errors.AsType[*cli.ExitError](err); ok || err == nil {
		return err
	}
	file, results := r.run.Kept()
	if results == 0 {
		return err
	}
	return fmt.Errorf("%w\n%s has %s; the same command with --resume continues from there", err, file, cli.Count(results, "result", "results"))
}

// sayKept says that a journal stays although its run is complete.
func (r *tryRun) sayKept(ctx context.Context) {
	name := r.options.journalName()
	if name == "" || !r.options.resume || ctx.Err() != nil || r.sum.Unread > 0 || r.sum.Tried == 0 && r.sum.Faults > 0 {
		return // there is none, or it stays to be resumed
	}
	fmt.Fprintf(r.stderr, "note: %s stays, so that --resume can continue with a longer docket; delete it if there will be none\n", sanitize.Line(name))
}

// interrupted says how far an interrupted run came, and how to resume it.
func (o *tryOptions) interrupted(tried int, resumable bool) error {
	if tried == 0 {
		again := "the same command begins again"
		if o.record.file != "" && resumable { // the record is there, and is never written over
			again = "the same command with --resume begins again"
		}
		return errors.New("interrupted before the first case was tried; nothing was written: " + again)
	}
	text := "interrupted; " + cli.Count(tried, "case was", "cases were") + " tried and written"
	if resumable {
		text += "; the same command with --resume continues from there"
	}
	return errors.New(text)
}

// check reports all faults of the flags at once.
func (o *tryOptions) check(dockets []string) (*failOn, *render.Redactor, error) {
	faults := []error{o.checkAudit(dockets), o.checkReports()}
	oneOf := func(flag, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			faults = append(faults, fmt.Errorf("--%s %q: use %s", flag, value, cli.OrList(allowed)))
		}
	}
	if err := run.CheckFormat(o.from); err != nil {
		faults = append(faults, fmt.Errorf("--from %w", err))
	}
	faults = append(faults, o.checkRemote(dockets))
	if o.remote.server == "" || o.pushes() {
		faults = append(faults, o.checkLocal())
	}
	oneOf("format", o.format, "table", "json", "jsonl")
	match, err := parseFailOn(o.failOn, o.audit.rubric != "", o.knownLabels())
	faults = append(faults, err)
	redactor, err := render.NewRedactor(o.redact)
	if err != nil {
		faults = append(faults, fmt.Errorf("--redact: %w", err))
	}
	return match, redactor, errors.Join(append(faults, o.checkFiles(dockets))...)
}

// checkLocal validates the flags of trials on this machine.
func (o *tryOptions) checkLocal() error {
	faults := []error{o.CheckLight(), o.CheckExperiments(), o.checkRemember(), o.checkResume(), o.checkWatch(), o.checkRecord()}
	if o.workers < 0 {
		faults = append(faults, fmt.Errorf("--workers %d: use 0 or more", o.workers))
	}
	if o.cases != "" && len(o.redact) > 0 {
		faults = append(faults, errors.New("--report FILE.jsonl writes the cases as they are: leave out --redact"))
	}
	return errors.Join(faults...)
}

// checkReports takes the docket of the cases out of the reports.
func (o *tryOptions) checkReports() error {
	var faults []error
	o.reports = slices.DeleteFunc(o.reports, func(name string) bool {
		switch strings.ToLower(filepath.Ext(name)) {
		case ".html", ".md":
			return false
		case ".jsonl":
			if o.cases == "" {
				o.cases = name
				return true
			}
			faults = append(faults, fmt.Errorf("--report %q: one docket of the cases is enough", name))
		default:
			faults = append(faults, fmt.Errorf("--report %q: use a name that ends in .html, .md or .jsonl", name))
		}
		return false
	})
	return errors.Join(faults...)
}

// knownLabels are those of the pipeline with their names, and those that the readers of test reports give.
func (o *tryOptions) knownLabels() map[string]string {
	labels := make(map[string]string)
	for _, label := range gotest.Labels() {
		labels[label] = ""
	}
	if def, err := open.Pipeline(o.Pipeline); err == nil { // what is wrong with it is told when it is used
		for i := range def.Labels {
			labels[def.Labels[i].ID] = def.Labels[i].Name
		}
	}
	return labels
}

// checkFiles rejects an output that is also an input, and two outputs to one file.
func (o *tryOptions) checkFiles(dockets []string) error {
	inputs := append(o.InputFiles(dockets), cli.File("--key", o.record.key), open.RubricFile(cmp.Or(o.audit.rubric, open.ShippedRubric)))
	if o.record.key != "" {
		inputs = append(inputs, cli.File("the public key beside --key", o.record.key+".pub"))
	}
	outputs := []cli.NamedFile{cli.File("--output", o.output)}
	for _, name := range o.reports {
		outputs = append(outputs, cli.File("--report", name))
	}
	outputs = append(outputs, cli.File("--report", o.cases), cli.File("--record", o.record.file), cli.File("the journal of this run", o.journalName()))
	return cli.CheckOverwrites(inputs, outputs)
}
