// Package try is the command that tries dockets.
package try

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

type tryOptions struct {
	open.Flags
	from            string
	format, output  string
	explain         string
	reports         []string
	redact, failOn  []string
	workers         int
	timings, resume bool
	noGroups        bool
	settle          bool // one case, with experiments
	dockets         []string
	cases           string
	truthFromReport bool
	audit           tryAudit
	record          recordOptions
	watch           bool
	remote          remoteOptions
	program         string // with its version, as a service's log names it
}

const profileUsage = "profile file, the name of a shipped one, or none (default: go-test for gotest input; for JUnit reports and with --experiments " +
	"its tables of experiments alone; else none)"

// New is the command `try` of the program's version.
func New(s cli.Streams, version string) *cobra.Command {
	o := &tryOptions{program: "shadowcourt/" + version}
	cmd := &cobra.Command{
		Use:   "try [DOCKET...|-]",
		Short: "Try every case of the dockets",
		Long: `Try every case of the dockets, or of the standard input. Results go to the standard
output in docket order, as a table for people or as JSON for programs; progress and
faults go to the standard error. A line that is wrong is named with file and line, and
so is a file of a format that try does not read; the other lines and files are tried.
The table is as wide as the terminal; elsewhere the variable COLUMNS gives its width.
A docket may be a pattern, as in 'reports/**/*.xml', and gzip.
Options of a flag follow its value behind commas, as in --experiments all,budget=2m.
With --experiments, --explain runs what tells most about its case, however sure Light is.
With --server https://court.example a docket service tries them, and the output is the
same; with --experiments, too, they are tried here, and the service gets the results.
` + "`shadowcourt login`" + ` keeps a token for it.

Exit codes: 0 done; 1 something failed while running; 2 the command line or an input is
wrong (the rest was still tried); 3 done, and --fail-on matched.`,
		Example: `  shadowcourt try examples/dockets/go-failures.jsonl
  shadowcourt try --from gotest --report report.html < examples/dockets/godotenv.gotest.json
  shadowcourt try examples/dockets/inputs/surefire.xml
  shadowcourt try examples/dockets/go-failures.jsonl --format jsonl --fail-on mistrial,label:si001`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args)
		},
	}
	f := cmd.Flags()
	o.from, o.format = run.Auto, "table"
	cli.OptionVar(f, &o.from, "from", "input format: "+cli.OrList(run.Formats()),
		cli.BoolOption(&o.noGroups, "no-groups", "of reports of tests: try each failure by itself, not once for all that failed in the same way"),
		cli.BoolOption(&o.truthFromReport, "truth", "of reportportal: use the defect types that people set as the ground truth, and compare with it"))
	o.LightFlags(cmd, "default: "+open.LightRCA+" for reports of tests, else "+open.LightDocket)
	f.BoolVar(&o.Remember, "remember", false, "with --casebook: add the verdicts to it, after the docket")
	o.PipelineFlag(cmd)
	f.StringVar(&o.Profile, "profile", "", profileUsage)
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "")
	f.StringVar(&o.format, "format", "table", "table, json or jsonl")
	f.StringVar(&o.output, "output", "", "file for the results (default: standard output)")
	f.BoolVar(&o.resume, "resume", false, "with --output FILE, --report FILE or --record FILE: go on where a run that did not end stopped")
	f.StringArrayVar(&o.reports, "report", nil, "also write a report, FILE.html or FILE.md, or the cases as a docket, FILE.jsonl, ready for adding the truth; may be repeated")
	f.StringVar(&o.cases, "cases", "", "")
	f.StringVar(&o.explain, "explain", "", "try only the case of this id, or whose id ends with this name, and tell its trial as a story")
	f.StringArrayVar(&o.redact, "redact", nil, "regular expression whose matches are blacked out in every output; may be repeated")
	f.StringSliceVar(&o.failOn, "fail-on", nil, "exit with 3 on a status (acquitted, mistrial, ...), a label (pb001; label:ID where the pipeline does not name it), or with --audit audit:security or audit:degraded")
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor; with --models as many as may ask at the same time)")
	f.BoolVar(&o.timings, "timings", false, "add times to the results, which then differ from run to run")
	o.ExperimentFlags(cmd, "off")
	o.ModelFlags(cmd)
	f.BoolVar(&o.watch, "watch", false, "with --modules: continue with newer modules when the folder has them; each result names its own")
	f.StringVar(&o.audit.rubric, "audit", "", "audit the opinion of every verdict by the `RUBRIC`, a file or the name of a shipped one, and --record the audit "+
		"with its trial, see 'shadowcourt audit --help'")
	f.Lookup("audit").NoOptDefVal = open.ShippedRubric
	f.StringVar(&o.audit.named, "rubric", "", "") // the earlier spelling of the value
	cli.OptionVar(f, &o.record.file, "record", "file for a signed record of every trial, which 'shadowcourt record verify' and 'shadowcourt record replay' read",
		cli.BoolOption(&o.record.bytes, "bytes", "keep what every call got and gave, too"),
		cli.BoolOption(&o.record.digestsOnly, "digests", "keep no text of cases, modules and answers; a replay then needs the docket"),
		cli.TextOption(&o.record.store, "store", "DIR", "folder that keeps each module under its digest, for a replay"))
	cli.Alias(f, "store", "record", "store")
	open.KeyFlag(cmd, &o.record.key, "with --record: the key that signs")
	cli.OptionVar(f, &o.remote.server, "server", "submit the dockets to the service at this `URL`, such as https://court.example, and show its results; shadowcourt login keeps its token",
		cli.ListOption(&o.remote.ids, "docket", "ID", "show the results of a docket submitted earlier; may be repeated"),
		cli.TextOption(&o.remote.key, "key", "TEXT", "the same key and dockets are submitted once (default: made of the report and the service's modules)"),
		cli.TextOption(&o.remote.repository, "repository", "NAME", "the repository of the code under test, for the service's inbox"),
		cli.TextOption(&o.remote.revision, "revision", "REVISION", "the revision of the code under test"))
	for _, option := range []string{"docket", "repository", "revision"} {
		cli.Alias(f, option, "server", option)
	}
	cmd.InitDefaultHelpFlag()
	for _, name := range []string{"cache", "cases", "rubric", "help"} {
		f.Lookup(name).Hidden = true
	}
	return cmd
}

func (o *tryOptions) run(ctx context.Context, s cli.Streams, args []string) error {
	args, err := run.Expand(ctx, args)
	if err != nil {
		return cli.InputError(err)
	}
	o.dockets = args
	match, redactor, err := o.check(args)
	if err != nil {
		return cli.InputError(err)
	}
	if o.settle = o.explain != "" && o.Experiments(); o.settle {
		o.TryAll = true
	}
	if o.remote.server != "" && !o.pushes() {
		return o.runRemote(ctx, s, args, match)
	}
	if o.pushes() {
		if o.remote.results, err = open.NewResults(ctx, s.Err, o.remote.server, o.program); err != nil {
			return err
		}
	}
	if o.record.file != "" {
		open.WarnOfKey(s.Err, o.record.key)
	}
	if len(args) == 0 && cli.TerminalFile(s.In) != nil {
		fmt.Fprintln(s.Err, "reading a docket from the keyboard, a case a line; end it with Ctrl-D, or see `shadowcourt try --help`")
	}
	reading, stopReading := context.WithCancel(ctx)
	defer stopReading()
	inputs, err := run.OpenDockets(reading, s.In, args, o.from)
	if err != nil {
		return cli.InputError(err)
	}
	defer inputs.Close()
	inputs.Truth = o.truthFromReport
	if ctx.Err() != nil {
		return cli.ErrInterrupted
	}
	config, err := o.Config(inputs)
	if err != nil {
		return err
	}
	o.record.configure(config)
	p := cli.NewProgress(s.Err)
	inputs.Read = func(name string, bytes int64) { p.Say(fmt.Sprintf("read %d MB of %s", bytes>>20, sanitize.Line(name))) }
	o.Progress = func(now experiment.Progress) {
		if text := open.SayExperiments(now); text != "" {
			p.Say(text)
		}
	}
	help, err := o.Connect(ctx, config, inputs)
	if err != nil {
		return err
	}
	defer help.Close()
	p.Say("loading modules")
	h, err := o.Host(ctx, s, config)
	p.Clear()
	if err != nil {
		return o.Error(err)
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	own := os.DirFS(o.Modules)
	defer o.follow(ctx, s.Err, own, h.Follow, "the modules before go on", o.Error)()
	if o.audit.rubric != "" {
		o.audit.auditor, err = open.Auditor(ctx, s, open.AuditorFlags{
			Trust: &o.Trust, Beside: o.Pipeline,
			Rubric: o.audit.rubric, Pipeline: open.ShippedAudit, Modules: o.Modules, Cache: o.Cache, Store: o.record.store,
		})
		if err != nil {
			return err
		}
		defer func() { _ = o.audit.auditor.Close(context.WithoutCancel(ctx)) }()
		all, err := open.WithEmbedded(own)
		if err != nil {
			return err
		}
		rejected := func(err error) error { return open.AuditorError(err, o.Modules) }
		defer o.follow(ctx, s.Err, all, o.audit.auditor.Follow, "audits keep the current modules", rejected)()
	}
	r := &tryRun{options: o, stderr: s.Err, progress: p, match: match, redactor: redactor, coverage: module.NewProfileCoverage(config.Profile)}
	if err := r.try(ctx, s, h, inputs, stopReading, help.Book); err != nil {
		return err
	}
	err = r.end(ctx, inputs)
	if o.remote.results != nil && ctx.Err() == nil {
		sent := &wire.Submission{Name: "stdin", Repository: o.remote.repository, Revision: o.remote.revision, Key: o.remote.key}
		if len(args) > 0 && args[0] != "-" {
			sent.Name = filepath.Base(args[0])
		}
		err = errors.Join(o.remote.results.Send(ctx, s.Err, sent, wire.Push{}, nil), err)
	}
	r.advise(s.Out)
	r.proposals.say(o, s.Err, redactor)
	return err
}

func (o *tryOptions) outputs(s cli.Streams, config *run.Config) (err error) {
	files := &disk.Set{}
	config.Files = files
	defer func() {
		if err != nil {
			files.Discard()
		}
	}()
	add := func(flag, name string, begin func(io.Writer) render.Writer) {
		if err != nil || name == "" {
			return
		}
		f, failed := files.Create(name)
		if failed != nil {
			err = fmt.Errorf("%s: %w", flag, failed)
			return
		}
		config.Writers = append(config.Writers, begin(f))
	}
	add("--output", o.output, o.mainWriter)
	switch {
	case o.output != "":
	case len(o.reports) > 0 || o.cases != "":
		config.Writers = append(config.Writers, o.mainWriter(&cli.UntilGone{W: s.Out}))
	default:
		config.Writers = append(config.Writers, o.mainWriter(s.Out))
	}
	if o.remote.results != nil {
		config.Writers = append(config.Writers, o.remote.results)
	}
	for _, name := range o.reports {
		report := render.NewHTML
		if strings.EqualFold(filepath.Ext(name), ".md") {
			report = render.NewMarkdown
		}
		add("--report", name, report)
	}
	add("--report", o.cases, render.NewCases)
	if err != nil {
		return err
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

// sayUnread names the lines of test streams that are no events.
func (r *tryRun) sayUnread(inputs *run.Dockets) {
	for _, u := range inputs.Unread {
		var numbers []string
		for _, line := range u.Lines.Lines {
			numbers = append(numbers, strconv.Itoa(line))
		}
		places := cli.Plural(len(numbers), "line", "lines") + " " + strings.Join(numbers, ", ")
		if u.Lines.Count > len(numbers) {
			places += ", ..."
		}
		fmt.Fprintf(r.stderr, "note: %s of go test -json, kept as output (%s)\n",
			sanitize.Line(u.Stream+": "+cli.Count(u.Lines.Count, "line is no event", "lines are no events")), places)
	}
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
	if e, ok := errors.AsType[*run.RecordError](err); ok {
		return recordError(e)
	}
	if e, ok := errors.AsType[*run.JournalError](err); ok {
		switch {
		case errors.Is(e.Err, run.ErrNotInterrupted):
			return fmt.Errorf("--resume: %s is not of a run that was interrupted: there is no %s", strings.TrimSuffix(e.File, run.JournalSuffix), e.File)
		case e.Resuming:
			return fmt.Errorf("--resume: %s: %w", e.File, e.Err)
		}
		return fmt.Errorf("%s: %w", e.File, e.Err)
	}
	if e, ok := errors.AsType[*run.CasebookError](err); ok {
		return fmt.Errorf("--remember: %w", e.Err)
	}
	if _, ok := errors.AsType[*run.ResumeError](err); ok {
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

func (o *tryOptions) check(dockets []string) (*failOn, *render.Redactor, error) {
	faults := []error{o.checkAudit(dockets), o.checkReports()}
	err := run.CheckFormat(o.from)
	faults = append(faults, cli.Fault(err != nil, "--from %w", err), o.checkRemote(dockets))
	if o.remote.server == "" || o.pushes() {
		faults = append(faults, o.checkLocal())
	}
	match, err := parseFailOn(o.failOn, o.audit.rubric != "", o.knownLabels())
	faults = append(faults, cli.OneOf("--format", o.format, "table", "json", "jsonl"), err)
	redactor, err := render.NewRedactor(o.redact)
	return match, redactor, errors.Join(append(faults, cli.Fault(err != nil, "--redact: %w", err), o.checkFiles(dockets))...)
}

// checkLocal validates the flags of trials on this machine.
func (o *tryOptions) checkLocal() error {
	one, redacts := o.explain != "", len(o.redact) > 0
	return errors.Join(
		o.CheckLight(), o.CheckExperiments(),
		cli.Fault(o.Remember && one, "--remember keeps whole runs: leave out --explain, which tries one case"),
		cli.Fault(o.Remember && !one && redacts, "--remember keeps the text of the cases as it is: leave out --redact"),
		cli.Fault(o.resume && one, "--resume continues with whole runs: leave out --explain, which tries one case"),
		cli.Fault(o.resume && !one && o.journalName() == "", "--resume needs the file of an earlier run to continue with: --output FILE, --report FILE or --record FILE"),
		cli.Fault(o.watch && o.Modules == "", "--watch needs --modules, the folder to look at"),
		cli.Fault(o.watch && o.Modules != "" && o.Trust.Locked, "--watch takes modules that change, and --locked rejects them: leave one out"),
		o.checkRecord(),
		cli.Fault(o.workers < 0, "--workers %d: use 0 or more", o.workers),
		cli.Fault(o.cases != "" && redacts, "--report FILE.jsonl writes the cases as they are: leave out --redact"),
	)
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

type recordOptions struct {
	file, key, store   string
	bytes, digestsOnly bool
}

// checkRecord rejects flags of the record that contradict each other.
func (o *tryOptions) checkRecord() error {
	r := &o.record
	switch {
	case r.file == "" && (r.key != "" || r.bytes || r.digestsOnly || r.store != ""):
		return errors.New("--key, and the options bytes, digests and store, need --record FILE, the file to write")
	case r.file == "":
		return nil
	case r.bytes && r.digestsOnly:
		return errors.New("--record: bytes and digests exclude each other")
	case len(o.redact) > 0 && !r.digestsOnly:
		return errors.New("a record holds the cases as they are: with --redact use --record FILE,digests")
	case o.explain != "":
		return errors.New("--record keeps whole runs: leave out --explain, which tries one case")
	}
	_, err := open.Key(r.key)
	return err
}

// configure has the host note what is recorded.
func (o *recordOptions) configure(config *host.Config) {
	if o.store != "" {
		config.Store = record.OpenStore(o.store)
	}
	if o.file == "" {
		return
	}
	switch config.Record = record.ContentsReplay; {
	case o.bytes:
		config.Record = record.ContentsBytes
	case o.digestsOnly:
		config.Record = record.ContentsDigests
	}
}

// journal is that of the run: beside --output, or else beside the first --report or the record. A run keeps none whose outputs are devices or
// pipes, which can't be resumed.
func (o *tryOptions) journal() run.Journal {
	j := run.Journal{
		Whole:     o.format == "table" || len(o.reports) > 0 || o.cases != "",
		Documents: o.cases != "",
		Outputs:   "--format or --report",
	}
	if o.explain != "" {
		return j
	}
	for _, name := range slices.Concat([]string{o.output}, o.reports, []string{o.record.file}) {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			continue
		}
		j.Output = name
		break
	}
	return j
}

func (o *tryOptions) journalName() string {
	j := o.journal()
	return j.Name()
}

// settings are the flags that results depend on.
func (o *tryOptions) settings(inputs *run.Dockets) []record.Part {
	var parts []record.Part
	add := func(name, value string) {
		parts = append(parts, record.Part{Name: name, Digest: record.DigestOf([]byte(value))})
	}
	if o.watch {
		add("--watch", "true")
	}
	if o.noGroups {
		add("--from no-groups", "true")
	}
	add("--light", o.LightFor(inputs))
	add("--redact", strings.Join(o.redact, "\x00"))
	add("--timings", strconv.FormatBool(o.timings))
	return parts
}

// failOn says for which results the command ends with its own exit code.
type failOn struct {
	statuses []trial.Status
	labels   []string
	audits   []string // of auditFailures
	// unknown are labels that no case had so far, of those that were read.
	unknown []string
	cases   bool // there was one
}

// parseFailOn reads the words of --fail-on. Labels that are known before the cases are read need no "label:", and may be given by
// their names, as the table shows them; a status of the same name comes first.
func parseFailOn(list []string, audited bool, names map[string]string) (*failOn, error) {
	labels := slices.Sorted(maps.Keys(names))
	called, both := make([]string, len(labels)), make([]string, len(labels))
	for i, label := range labels {
		called[i], both[i] = trial.LabelName(names, label), label
		if called[i] != label {
			both[i] = strconv.Quote(called[i]) + " or " + label
		}
	}
	f := &failOn{}
	var faults []error
	for _, word := range list {
		word = strings.TrimSpace(word)
		label, isLabel := strings.CutPrefix(word, "label:")
		audit, isAudit := strings.CutPrefix(word, "audit:")
		switch {
		case isLabel && label != "":
			f.labels = append(f.labels, label)
		case isAudit && !audited:
			faults = append(faults, fmt.Errorf("--fail-on %q needs --audit", word))
		case isAudit && slices.Contains(open.AuditFailures, audit):
			f.audits = append(f.audits, audit)
		case slices.Contains(trial.Statuses(), trial.Status(word)):
			f.statuses = append(f.statuses, trial.Status(word))
		case slices.Contains(labels, word):
			f.labels = append(f.labels, word)
		case slices.Contains(called, word):
			f.labels = append(f.labels, labels[slices.Index(called, word)])
		default:
			faults = append(faults, fmt.Errorf("--fail-on %q: use a status (%s), a label (%s; label:ID for others), or with --audit audit:%s",
				word, cli.Join(trial.Statuses()), strings.Join(both, ", "), strings.Join(open.AuditFailures, " or audit:")))
		}
	}
	return f, errors.Join(faults...)
}

func (f *failOn) matches(r *trial.Result) bool {
	return slices.Contains(f.statuses, r.Final.Status) ||
		r.Final.Classification != "" && slices.Contains(f.labels, r.Final.Classification) ||
		r.Audit != nil && slices.ContainsFunc(f.audits, func(word string) bool { return open.AuditFails(r.Audit, word) })
}

// watch notes which of the labels of --fail-on the cases have that pass by.
func (f *failOn) watch(entries iter.Seq2[docket.Entry, error]) iter.Seq2[docket.Entry, error] {
	f.begin()
	if len(f.labels) == 0 {
		return entries
	}
	return func(yield func(docket.Entry, error) bool) {
		for entry, err := range entries {
			if err == nil {
				f.see(entry.Case.Labels)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

func (f *failOn) begin() { f.unknown = slices.Clone(f.labels) }

func (f *failOn) see(labels []string) {
	f.cases = true
	f.unknown = slices.DeleteFunc(f.unknown, func(label string) bool { return slices.Contains(labels, label) })
}

// warn tells of labels that no case has: whoever mistypes one has a gate that never closes.
func (f *failOn) warn(ctx context.Context, w io.Writer) {
	if !f.cases || ctx.Err() != nil {
		return // not all cases were read
	}
	for _, label := range f.unknown {
		fmt.Fprintf(w, "warning: --fail-on label:%s: no case has this label\n", sanitize.Line(label))
	}
}
