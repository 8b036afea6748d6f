package open

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/repo"
)

// experimentsOff is the value of --experiments with which nothing is run.
const experimentsOff = "off"

// DefaultBudget is the budget of all experiments of a run.
const DefaultBudget = 10 * time.Minute

type experiments struct {
	mode            string
	budget, perCase time.Duration
	network, home   bool
	runners         []string
	laboratory      *laboratory
}

// ExperimentFlags are those of the commands that can run tests again. The mode is that without the flag.
func (o *Flags) ExperimentFlags(cmd *cobra.Command, mode string) {
	f, e := cmd.Flags(), &o.experiments
	e.mode, e.budget, e.perCase = mode, DefaultBudget, experiment.DefaultPerCase
	cli.OptionVar(f, &e.mode, "experiments", "with --source: what personas may run to settle a case: off, reruns (the tests of the tree as it is), "+
		"or all (with files of the revision of --since, too)",
		cli.DurationOption(&e.budget, "budget", "how long all experiments together may run (default "+DefaultBudget.String()+")"),
		cli.DurationOption(&e.perCase, "case-budget", "how long those of one case may run (default "+experiment.DefaultPerCase.String()+")"),
		cli.BoolOption(&e.network, "network", "leave the network on for the tests"),
		cli.BoolOption(&e.home, "home", "let the tests read your home folder, as their HOME, and all else that you can read"),
		cli.ListOption(&e.runners, "runner", "FILE.yaml", "what runs the tests, or a shipped one ("+strings.Join(experiment.RunnerNames(), " ")+"); may be repeated (default: what the project has)"),
		cli.BoolOption(&o.Strict, "strict", "exit with 2 where the report is of another repository, or experiments can't be run as asked, for want of git, of --since, or of the test in the source"))
	for old, option := range map[string]string{"budget": "budget", "experiment-home": "home", "runner": "runner"} {
		cli.Alias(f, old, "experiments", option)
	}
}

// experimentModes are the values of --experiments.
func experimentModes() []string {
	return []string{experimentsOff, string(experiment.Reruns), string(experiment.All)}
}

// ExperimentsHere says whether --experiments asks for runs on this machine, in a mode that there is.
func (o *Flags) ExperimentsHere() bool {
	return o.Experiments() && slices.Contains(experimentModes(), o.experiments.mode)
}

// Experiments says whether personas may run tests.
func (o *Flags) Experiments() bool {
	return o.experiments.mode != "" && o.experiments.mode != experimentsOff
}

// CheckExperiments rejects flags of experiments that contradict each other.
func (o *Flags) CheckExperiments() error {
	given, runs := cli.Given(o.command.Flags().Lookup("experiments")), o.Experiments()
	strict := slices.Equal(given, []string{"strict"})
	return errors.Join(
		cli.OneOf("--experiments", o.experiments.mode, experimentModes()...),
		cli.Fault(runs && o.Source == "", "--experiments needs --source, the folder whose tests may run"),
		cli.Fault(!runs && len(given) > 0 && !strict, "--experiments %s: say what may run: reruns or all", strings.Join(given, ",")),
		cli.Fault(!runs && strict && o.Source == "", "--experiments strict needs --source"),
		cli.Fault(runs && o.NoCourt, "--experiments with --pipeline no-court: it is the court that asks for experiments"),
	)
}

// ExperimentCache is the folder for results of experiments, beside that for compiled modules; empty where there is none.
func ExperimentCache(modules string) string {
	if modules == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(modules), "experiments")
}

// RunsApart is how long the runs of a step of experiments take at least; zero for the default. Tests of this program set it, since most
// of them wait for nothing else.
func RunsApart() time.Duration {
	apart, _ := time.ParseDuration(os.Getenv("SHADOWCOURT_RUNS_APART"))
	return apart
}

// sureWithExperiments is the confidence from which Light needs no trial where the court can run experiments.
const sureWithExperiments = 0.95

// tryMore has the court try what Light is hopeless about, and what it is nearly sure of: experiments settle what reading can't, and a
// text alone is never as sure as a run.
func (o *Flags) tryMore(c *pipeline.Court) {
	c.RejectionThreshold, c.ActivationThreshold = 0, max(c.ActivationThreshold, sureWithExperiments)
	if o.TryAll {
		c.ActivationThreshold = 1
	}
}

// openLaboratory lets the court run experiments.
func (o *Flags) openLaboratory(ctx context.Context, h *Connected, config *host.Config) error {
	if !o.Experiments() {
		return nil
	}
	e := &o.experiments
	runners, err := Runners(runnerOption, e.runners)
	if err != nil {
		return cli.InputError(err)
	}
	lab, err := experiment.Open(ctx, o.laboratoryConfig(runners, config.CacheDir))
	if err != nil {
		return fmt.Errorf("--experiments: %w", err)
	}
	h.closers = append(h.closers, lab.Close)
	switch why := lab.Why(nil); {
	case why != "" && o.Strict:
		return cli.InputError(fmt.Errorf("strict: experiments can't be run as asked: %s", why))
	case !lab.Able():
		fmt.Fprintf(o.command.ErrOrStderr(), "warning: no experiments: %s\n", sanitize.Line(why))
	case o.Since == "" && why != "":
		fmt.Fprintln(o.command.ErrOrStderr(), "warning: experiments on this tree alone: --since names the revision at which the tests passed")
	case why != "":
		fmt.Fprintf(o.command.ErrOrStderr(), "warning: experiments on this tree alone: %s\n", sanitize.Line(why))
	}
	if lab.Able() && !e.home && !isolate.HidesFiles() {
		fmt.Fprintln(o.command.ErrOrStderr(), "warning: tests in experiments can read all that you can read: this system has neither user namespaces nor Landlock to hide it")
	}
	e.laboratory = &laboratory{Lab: lab}
	config.Experiments = e.laboratory
	config.Court = o.tryMore
	return nil
}

// laboratoryConfig is what the flags say. cache is the folder for compiled modules, empty for none.
func (o *Flags) laboratoryConfig(runners []*experiment.Definition, cache string) experiment.Config {
	e := &o.experiments
	return experiment.Config{
		Source: o.Source, Base: o.Since, Mode: experiment.Mode(e.mode), Budget: e.budget, PerCase: e.perCase, Apart: RunsApart(), CacheDir: ExperimentCache(cache),
		Network: e.network, Home: e.home, Runners: runners, Progress: o.Progress,
	}
}

// runnerOption names a runner in an error.
const runnerOption = "--experiments runner="

// Runners reads definitions of runners by their names or files; nil where none is named. flag begins each error.
func Runners(flag string, names []string) ([]*experiment.Definition, error) {
	var runners []*experiment.Definition
	var faults []error
	for _, name := range names {
		d, err := experiment.LoadDefinition(name)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s%s: %w", flag, name, err))
		}
		runners = append(runners, d)
	}
	return runners, errors.Join(faults...)
}

// OutOfBudget says whether an experiment of a case was not run because a budget was used up.
func (o *Flags) OutOfBudget(c *abi.Case) bool {
	l := o.experiments.laboratory
	return l != nil && l.Able() && l.OutOfBudget(c)
}

// settling are the flags that say how a case is tried, for the command line that settles one.
var settling = []string{"light", "source", "since", "casebook", "rules", "pipeline", "profile", "cache", "models"}

// ExperimentCommand is the command line that runs an experiment of a case, with the values of the flags of settling. Empty where the command would do the same as this run. more says that a larger budget would run more.
func (o *Flags) ExperimentCommand(docket, id string, p *trial.Proposal, more bool) string {
	green := p.Product == abi.Base || p.Tests == abi.Base
	offered := !green || o.experiments.mode == string(experiment.All) && o.Since != ""
	if o.Experiments() && offered && p.Allow == "" && !more {
		return ""
	}
	words := []string{"shadowcourt try"}
	last := strings.HasPrefix(docket, "-") // it looks like a flag
	if !last {
		words = append(words, quoted(docket))
	}
	if strings.HasPrefix(id, "-") {
		words = append(words, "--explain="+quoted(id))
	} else {
		words = append(words, "--explain", quoted(id))
	}
	words = append(words, "--experiments", quoted(runOptions(o.command.Flags().Lookup("experiments"), p)))
	o.command.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(settling, f.Name) {
			words = append(words, "--"+f.Name, quoted(f.Value.String()))
		}
	})
	if o.Source == "" {
		words = append(words, "--source DIR")
	}
	if o.Since == "" && (green || o.Source == "") { // whoever has to name the source anyway gets the most of it with the revision
		words = append(words, "--since REVISION")
	}
	if last {
		words = append(words, "--", quoted(docket))
	}
	return strings.Join(words, " ")
}

// runOptions are the value of --experiments that runs all that may be run: with the options that were given but for budgets, and with what the
// proposal gives the tests.
func runOptions(f *pflag.Flag, p *trial.Proposal) string {
	options := slices.DeleteFunc(slices.Clone(cli.Given(f)), func(word string) bool {
		name, value, _ := strings.Cut(word, "=")
		return strings.HasSuffix(name, "budget") || name == p.Allow || value == "false"
	})
	if p.Allow != "" {
		options = append(options, p.Allow)
	}
	return strings.Join(append([]string{string(experiment.All)}, options...), ",")
}

// plain is a word that no shell changes.
var plain = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// quoted is a word for a shell. What can't be shown, and blanks that Markdown would join, are escaped as shells such as bash and zsh read it.
func quoted(word string) string {
	hidden := func(r rune) bool { return r == utf8.RuneError || !sanitize.Visible(r) }
	switch {
	case plain.MatchString(word):
		return word
	case !strings.ContainsFunc(word, hidden) && !strings.Contains(word, "  "):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for i, r := range word {
		_, size := utf8.DecodeRuneInString(word[i:])
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case hidden(r) || r == ' ' && strings.HasPrefix(word[i:], "  "):
			for _, c := range []byte(word[i : i+size]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteRune(r)
		}
	}
	return "$'" + b.String() + "'"
}

// SayExperiments is what a progress line says of experiments.
func SayExperiments(p experiment.Progress) string {
	if len(p.Running) == 0 {
		return ""
	}
	text := "running " + sanitize.Line(strings.Join(p.Running, ", "))
	if p.Waiting > 0 {
		text += fmt.Sprintf(" and %d more", p.Waiting)
	}
	// What people look for first stands first: a terminal may be narrow.
	return fmt.Sprintf("about %s to go, %s; %s of the budget left", p.Expected.Round(time.Second), text, p.Budget.Round(time.Second))
}

// laboratory notes of which cases nothing can be run, and why.
type laboratory struct {
	*experiment.Lab

	mu    sync.Mutex
	cases map[string]map[string]bool // ids by reason
}

const maxReasons = 1000

// Offers are those of the Lab.
func (l *laboratory) Offers(ctx context.Context, c *abi.Case) ([]abi.ExperimentOffer, error) {
	offers, err := l.Lab.Offers(ctx, c)
	if len(offers) == 0 && err == nil {
		l.note(c.ID, l.Why(c))
	}
	return offers, err
}

func (l *laboratory) note(id, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cases == nil {
		l.cases = map[string]map[string]bool{}
	}
	ids := l.cases[why]
	if ids == nil && len(l.cases) < maxReasons {
		ids = map[string]bool{}
		l.cases[why] = ids
	}
	if ids != nil && len(ids) < maxReasons {
		ids[id] = true
	}
}

const maxReasonLines = 10

// NotRun says in a line why nothing could be run for some cases, or for all; empty where experiments were not wanted, or could be run.
func (o *Flags) NotRun() string {
	l := o.experiments.laboratory
	switch {
	case l == nil:
		return ""
	case !l.Able():
		return "nothing could be run, and all cases were decided by reading alone: " + l.Why(nil)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []string
	reasons := slices.Sorted(maps.Keys(l.cases))
	for _, why := range reasons[:min(len(reasons), 3)] {
		parts = append(parts, cli.Count(len(l.cases[why]), "case was", "cases were")+" decided by reading alone: "+why)
	}
	return strings.Join(parts, "; ")
}

// SayNotRun tells of which cases nothing can be run, and why, unless a warning said so at the start. They were decided by reading
// alone. It says whether there are any.
func (o *Flags) SayNotRun(w io.Writer) bool {
	l := o.experiments.laboratory
	if l == nil || !l.Able() {
		return l != nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	reasons := slices.Sorted(maps.Keys(l.cases))
	for _, why := range reasons[:min(len(reasons), maxReasonLines)] {
		ids := slices.Sorted(maps.Keys(l.cases[why]))
		more := ""
		if len(ids) > 1 {
			more = " and " + cli.Count(len(ids)-1, "other case", "other cases")
		}
		fmt.Fprintf(w, "note: no experiments for %s%s: %s\n", sanitize.Line(ids[0]), more, sanitize.Line(why))
	}
	if more := len(reasons) - maxReasonLines; more > 0 {
		fmt.Fprintf(w, "note: no experiments for cases of %s\n", cli.Count(more, "further reason", "further reasons"))
	}
	return len(reasons) > 0
}

// lookedAt is the source, with how many questions named files, and how many of those found one of them.
type lookedAt struct {
	of host.Source

	mu           sync.Mutex
	named, found int
}

// place is a line of a file, as compilers, runtimes and test frameworks name it.
var place = regexp.MustCompile(`\.[A-Za-z]{1,4}:\d+|\.py", line \d+`)

// Digest is that of the source.
func (l *lookedAt) Digest() string { return l.of.Digest() }

// Source gives the answer of the source.
func (l *lookedAt) Source(ctx context.Context, query abi.SourceQuery) (abi.SourceAnswer, error) {
	answer, err := l.of.Source(ctx, query)
	if err == nil && place.MatchString(query.Text) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.named++
		if len(answer.Frames) > 0 || len(answer.Tests) > 0 {
			l.found++
		}
	}
	return answer, err
}

// Elsewhere says so where no file that the failures name is in the source: then it is hardly theirs. It is empty where one is.
func (o *Flags) Elsewhere() string {
	l := o.looked
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.named == 0 || l.found > 0 {
		return ""
	}
	return "no file that the failures name is in --source " + o.Source + "; is the report of another repository?"
}

// ServiceHosts opens hosts for dockets that were uploaded, as `try` does for files of their format. No model is asked and no source
// read; experiments are run where the operator allows them, as `try --experiments` does.
type ServiceHosts struct {
	Cache  string // folder for compiled modules; empty for none
	Record bool   // record trials
}

// Open opens one.
func (s ServiceHosts) Open(ctx context.Context, o *work.Opening, observe func(host.CallRecord)) (*host.Host, error) {
	config := &host.Config{Modules: o.Modules, Signed: o.Signed, CacheDir: s.Cache, Now: time.Now, Observe: observe}
	if s.Record {
		config.Record = record.ContentsReplay
	}
	if len(o.Canary) > 0 {
		config.Candidate = &host.Candidate{Modules: o.Canary, Share: o.Share}
	}
	var err error
	if config.Pipeline, err = service.Pipeline(o.Files, service.PipelineFile); err != nil {
		return nil, err
	}
	if run.OfTests(o.Format) && !o.Answered {
		if config.LightPath, err = service.Pipeline(o.Files, service.LightPathFile); err != nil {
			return nil, err
		}
	}
	if config.Profile, err = profileOf(o); err != nil {
		return nil, err
	}
	if o.Experiments != nil {
		config.Experiments, config.Court = o.Experiments, new(Flags).tryMore
	}
	var h *host.Host
	err = Cached(io.Discard, &config.CacheDir, func() (err error) {
		h, err = host.Open(ctx, *config)
		return err
	})
	return h, err
}

// profileOf is the profile of the generation for the format, or the shipped one that `try` takes.
func profileOf(o *work.Opening) (*abi.Profile, error) {
	name := service.ProfileFile(o.Format)
	if text, ok := o.Files[name]; ok {
		p, err := module.ParseProfile(name, text)
		if err != nil {
			return nil, fmt.Errorf("file %s of the generation: %w", name, err)
		}
		return p, nil
	}
	switch {
	case o.Format == run.GoTest:
		return shippedProfile(GoTestProfile)
	case run.OfRunners(o.Format), o.Experiments != nil:
		return ExperimentProfile()
	}
	return nil, nil //nolint:nilnil // none
}

// maxServiceBudget leaves time for a trial, which may take 50 minutes.
const maxServiceBudget = 30 * time.Minute

// ServiceFlags are those of the service that let dockets of one repository run its tests.
func (o *Flags) ServiceFlags(cmd *cobra.Command) {
	o.command = cmd
	o.ExperimentFlags(cmd, experimentsOff)
	f := cmd.Flags()
	f.StringVar(&o.Source, "source", "", "with --experiments: folder with the source, in a git repository that has the revisions of dockets")
	f.StringVar(&o.Since, "since", "", "with --experiments all: the git revision at which the tests passed")
	f.StringVar(&o.repository, "repository", "", "with --experiments: the repository whose dockets may run tests; others run none")
	usage := &f.Lookup("experiments").Usage
	*usage = strings.NewReplacer("the tests of the tree as it is", "the tests of the docket's revision",
		"all experiments together may run", "those of one docket may run in one process, at most "+maxServiceBudget.String()).Replace(*usage)
}

// Laboratories run what the flags allow; nil for nothing. cache is the folder for compiled modules, empty for none.
func (o *Flags) Laboratories(ctx context.Context, cache string) (*work.Laboratories, error) {
	faults := []error{o.CheckExperiments()}
	switch e := &o.experiments; {
	case !o.Experiments():
		for _, name := range []string{"source", "since", "repository"} {
			faults = append(faults, cli.Fault(o.command.Flags().Changed(name), "--%s needs --experiments reruns or all", name))
		}
	case o.repository == "":
		faults = append(faults, errors.New("--experiments needs --repository, whose dockets may run tests"))
	case e.budget > maxServiceBudget:
		faults = append(faults, fmt.Errorf("--experiments budget=%s: use at most %s", e.budget, maxServiceBudget))
	}
	runners, err := Runners(runnerOption, o.experiments.runners)
	if err := errors.Join(append(faults, err)...); err != nil || !o.Experiments() {
		return nil, err
	}
	if err := o.checkGreen(ctx); err != nil {
		return nil, err
	}
	return &work.Laboratories{Repository: o.repository, Open: func(ctx context.Context, revision string) (work.Laboratory, error) {
		config := o.laboratoryConfig(runners, cache)
		config.Commit = revision
		return experiment.Open(ctx, config)
	}}, nil
}

// Listen listens at an address, or at a port alone, which is one of this machine. An error says what to write.
func Listen(ctx context.Context, text string) (net.Listener, error) {
	address := text
	if text != "" && strings.Trim(text, "0123456789") == "" {
		address = net.JoinHostPort("127.0.0.1", text)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--listen %q: use a host and a port, such as 127.0.0.1:8712, or a port alone: %w", text, err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %s is in use at %s: another service may run there; stop it, or use --listen %s for any free port", port, address, net.JoinHostPort(host, "0"))
	case err != nil:
		return nil, fmt.Errorf("--listen %q: %w", text, err)
	}
	return l, nil
}

// checkGreen says whether the source has the revision of --since: otherwise every docket would go without its experiments.
func (o *Flags) checkGreen(ctx context.Context) error {
	if o.Since == "" {
		return nil
	}
	repository, err := repo.Open(ctx, o.Source)
	if err == nil {
		_, err = repository.At(ctx, o.Since)
	}
	if err != nil {
		return fmt.Errorf("--source %s, --since: %w", o.Source, err)
	}
	return nil
}

// AgentFlags are those of the command that serves agents: the folders in which they may name files, and what they may have run there.
func (o *Flags) AgentFlags(cmd *cobra.Command, folders *[]string) {
	o.command = cmd
	f := cmd.Flags()
	f.StringArrayVar(folders, "source", nil, "folder of a project: agents may name reports and projects in it, and the Light path looks into the first one; may be repeated")
	f.StringVar(&o.Since, "since", "", "with --source: the git revision since which changes count, or "+autoSince+"; the base of alibis, whose default is "+autoSince)
	o.ExperimentFlags(cmd, experimentsOff)
}

// CheckAgents validates the flags of AgentFlags.
func (o *Flags) CheckAgents(ctx context.Context, folders []string) error {
	if slices.Contains(folders, "") {
		return errors.New("--source is empty: name a folder, or leave it out")
	}
	if len(folders) > 0 {
		o.Source = folders[0]
	}
	if err := errors.Join(o.CheckSource(), o.CheckExperiments()); err != nil || o.Since == "" || o.Since == autoSince {
		return err
	}
	return o.checkGreen(ctx)
}

// Look opens the source as it is now, and lets the court run experiments there, for one use of a host.
func (o *Flags) Look(ctx context.Context, config *host.Config) (*Connected, error) {
	own, h := *o, &Connected{}
	if err := own.findSince(ctx); err != nil {
		return nil, err
	}
	if err := own.look(ctx, h, config); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// AgentLaboratory is what agents may have run for an alibi; nil where that is nothing, or not on other trees than the one under test. cache
// is the folder for compiled modules, empty for none.
func (o *Flags) AgentLaboratory(cache string) (*experiment.Config, error) {
	if o.experiments.mode != string(experiment.All) {
		return nil, nil //nolint:nilnil // nothing is allowed
	}
	runners, err := Runners(runnerOption, o.experiments.runners)
	if err != nil {
		return nil, cli.InputError(fmt.Errorf("--experiments: %w", err))
	}
	config := o.laboratoryConfig(runners, cache)
	return &config, nil
}
