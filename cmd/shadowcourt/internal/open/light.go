package open

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/execlight"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/repo"
)

// Who answers for Light.
const (
	LightDocket = "docket"
	LightRCA    = "rca"
	lightExec   = "exec:" // and a command
)

// autoSince has the revision found: see [repo.Repository.FindBase].
const autoSince = "auto"

// LightFlags are those of the commands that try cases.
func (o *Flags) LightFlags(cmd *cobra.Command, byDefault string) {
	f := cmd.Flags()
	o.command = cmd
	o.lightTimeout = execlight.DefaultTimeout
	cli.OptionVar(f, &o.Light, "light", "classifier to use: "+LightDocket+" (the classification that the case brings), "+LightRCA+
		" (the Light path), or "+lightExec+"COMMAND (a program that gets a JSON request a line, and answers a line); "+byDefault,
		cli.DurationOption(&o.lightTimeout, "timeout", "behind "+lightExec+"COMMAND: how long one answer may take, the start of the program included (default "+
			execlight.DefaultTimeout.String()+")"))
	f.StringVar(&o.Source, "source", "", "folder with the source of the module under test, for the Light path to look into")
	f.StringVar(&o.Since, "since", "", "with --source: the git revision since which changes count, or "+autoSince+" for where the change begins")
	f.StringVar(&o.casebook, "casebook", "", "file with earlier cases, for the Light path to look into")
	f.StringVar(&o.rules, "rules", "", "YAML file with your own rules (pattern, label, reason, owner): what they match is evidence of the case")
}

// CheckLight rejects flags of Light that contradict each other.
func (o *Flags) CheckLight() error {
	command, isExec := strings.CutPrefix(o.Light, lightExec)
	unknown := !isExec && !slices.Contains([]string{"", LightDocket, LightRCA}, o.Light)
	return errors.Join(
		cli.Fault(isExec && strings.TrimSpace(command) == "", "--light %s: name a command behind it", o.Light),
		cli.Fault(unknown, "--light %q: use %s, %s or %sCOMMAND", o.Light, LightDocket, LightRCA, lightExec),
		cli.Fault(!isExec && len(cli.Given(o.command.Flags().Lookup("light"))) > 0, "--light: timeout needs %sCOMMAND before it", lightExec),
		cli.Fault(o.models.file == "" && o.models.cassette != "", "--models: name the file of models before its options"),
		o.CheckSource(),
		cli.Fault(o.Remember && o.casebook == "", "--remember needs --casebook, the file to remember in"),
	)
}

// CheckSource validates the flags of what the Light path looks into.
func (o *Flags) CheckSource() error {
	var faults []error
	for _, name := range []string{"source", "since", "casebook", "rules"} {
		f := o.command.Flags().Lookup(name) // some commands lack some
		faults = append(faults, cli.Fault(f != nil && f.Changed && f.Value.String() == "", "--%s is empty: name one, or leave it out", name))
	}
	return errors.Join(append(faults, cli.Fault(o.Since != "" && o.Source == "", "--since needs --source, the folder whose changes count"))...)
}

// Changed are the names of the flags that were given.
func (o *Flags) Changed() []string {
	var names []string
	o.command.Flags().Visit(func(f *pflag.Flag) {
		if !cli.IsAlias(f) { // it changes the flag that it stands for
			names = append(names, f.Name)
		}
	})
	return names
}

// LightFor is the classifier: what the flag says, or the Light path for
// reports of tests. Cases of a JSONL docket and findings bring their own answers.
func (o *Flags) LightFor(inputs *run.Dockets) string {
	switch {
	case o.Light != "":
		return o.Light
	case !inputs.OfTests():
		return LightDocket
	}
	return LightRCA
}

// Connected is what a host is opened on and does not close itself.
type Connected struct {
	Book    *casebook.Book // nil unless verdicts are remembered
	closers []func() error
}

// Close closes them in the reverse order.
func (h *Connected) Close() {
	for _, c := range slices.Backward(h.closers) {
		_ = c() // nothing was written
	}
}

// Connect sets the classifier, and opens what the Light path looks into.
func (o *Flags) Connect(ctx context.Context, config *host.Config, inputs *run.Dockets) (*Connected, error) {
	h := &Connected{}
	err := o.helpWith(ctx, h, config, inputs)
	if err != nil {
		h.Close()
		return nil, cli.FileError(err)
	}
	return h, nil
}

func (o *Flags) helpWith(ctx context.Context, h *Connected, config *host.Config, inputs *run.Dockets) error {
	if err := o.findSince(ctx); err != nil {
		return err
	}
	switch light := o.LightFor(inputs); {
	case light == LightRCA:
		def, err := Pipeline(ShippedLight)
		if err != nil {
			return err
		}
		config.LightPath = def
	case strings.HasPrefix(light, lightExec):
		keys, err := o.models.keyVariables()
		if err != nil {
			return err
		}
		program := execlight.New(strings.TrimPrefix(light, lightExec), execlight.Config{Timeout: o.lightTimeout, Without: keys})
		h.closers = append(h.closers, func() error {
			err := program.Close()
			if n := program.Unasked(); n > 0 {
				fmt.Fprintf(o.command.ErrOrStderr(), "--light %s: %s ended for writing more than an answer for a case\n",
					lightExec, cli.Count(n, "program was", "programs were"))
			}
			return err
		})
		config.Light, config.Reclassify = program, true
	}
	if err := o.look(ctx, h, config); err != nil {
		return err
	}
	if err := o.openModels(h, config); err != nil {
		return err
	}
	if o.casebook == "" {
		return nil
	}
	var snapshot *casebook.Snapshot
	var err error
	if !o.Remember {
		snapshot, err = casebook.OpenReadOnly(ctx, o.casebook, casebook.Options{})
	} else if h.Book, err = casebook.Open(ctx, o.casebook, casebook.Options{Now: time.Now}); err == nil {
		h.closers = append(h.closers, h.Book.Close)
		snapshot, err = h.Book.Snapshot(ctx)
	}
	if errors.Is(err, fs.ErrNotExist) && !o.Remember {
		return fmt.Errorf("--casebook %s: there is none; --remember makes one", o.casebook)
	}
	if err != nil {
		return fmt.Errorf("--casebook: %w", err)
	}
	h.closers = append(h.closers, snapshot.Close)
	config.Casebook = run.Casebook(snapshot)
	return nil
}

// look opens the source, and lets the court run experiments, where the flags say so.
func (o *Flags) look(ctx context.Context, h *Connected, config *host.Config) error {
	if o.Source == "" {
		return nil
	}
	opened, err := o.openSource(ctx)
	if err != nil {
		return err
	}
	h.closers = append(h.closers, opened.Close)
	if opened.Compares() && len(opened.Changed()) == 0 {
		fmt.Fprintf(o.command.ErrOrStderr(), "warning: no file changed since %s, which speaks for a flaky test or the environment; "+
			"--since needs a revision at which the tests passed\n", sanitize.Line(o.Since))
	}
	if began, ahead := opened.Fork(); began != "" {
		fmt.Fprintf(o.command.ErrOrStderr(), "warning: %s has %s that this tree lacks, and what changed there counts as changed here; "+
			"--since %.12s names where this tree began\n", sanitize.Line(o.Since), cli.Count(ahead, "commit", "commits"), began)
	}
	if config.Source, err = run.Source(ctx, opened); err != nil {
		return fmt.Errorf("--source: %w", err)
	}
	o.looked = &lookedAt{of: config.Source}
	config.Source = o.looked
	if p := config.Profile; p != nil && len(p.Sources) > 0 && config.LightPath != nil && odds.Source(p, diffSource) == nil {
		fmt.Fprintf(o.command.ErrOrStderr(), "note: the profile %s was fitted without --source: what the diff shows counts little, and decides nothing\n",
			sanitize.Line(p.Name))
	}
	return o.openLaboratory(ctx, h, config)
}

// findSince finds the revision that is to be found, and says which it is.
func (o *Flags) findSince(ctx context.Context) error {
	if o.Since != autoSince {
		return nil
	}
	var base repo.Base
	repository, err := repo.Open(ctx, o.Source)
	if err == nil {
		base, err = repository.FindBase(ctx, os.Getenv)
	}
	if err != nil {
		return fmt.Errorf("--since %s: %w", autoSince, err)
	}
	o.Since = base.Commit
	fmt.Fprintf(o.command.ErrOrStderr(), "base: %.12s, %s\n", base.Commit, sanitize.Line(base.Why))
	return nil
}

// diffSource is the source of items of the Light path about the diff.
const diffSource = "seeker-source"

// openSource opens the source with the changes since the revision. With experiments, which tell by themselves what they lack, a repository
// that can't be read is no error: the files are read without it.
func (o *Flags) openSource(ctx context.Context) (*repo.Source, error) {
	opened, err := repo.OpenSource(ctx, o.Source, o.Since)
	if err == nil {
		return opened, nil
	}
	flag := "--source"
	if errors.Is(err, repo.ErrRevision) || errors.Is(err, repo.ErrAmbiguous) {
		flag = "--since"
	} else if o.Experiments() && o.Since != "" && ctx.Err() == nil {
		if plain, without := repo.OpenSource(ctx, o.Source, ""); without == nil {
			fmt.Fprintf(o.command.ErrOrStderr(), "warning: --since %s: what changed is not read: %s\n", sanitize.Line(o.Since), sanitize.Line(err.Error()))
			return plain, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", flag, err)
}

// LightRunner has Light answer cases outside of the court.
type LightRunner struct {
	Flags    *Flags
	Streams  cli.Streams
	Config   *host.Config
	Progress *cli.Progress
	Workers  int
	// Doing is said on the terminal before the number of cases.
	Doing string

	last   *host.Host
	warned bool
}

// LightFailures counts the cases that Light failed on. Nothing else tells of them where only figures are shown.
type LightFailures struct {
	cases, failed int
	first         string
}

// Add counts a case.
func (f *LightFailures) Add(t *trial.Trial) {
	f.cases++
	if e := t.Result.Error; e != nil && t.Result.Light == nil {
		f.failed++
		f.first = cmp.Or(f.first, e.Message)
	}
}

// Warn tells of the failures, and says whether there are any.
func (f *LightFailures) Warn(stderr io.Writer, redactor *render.Redactor) bool {
	if f.failed > 0 {
		fmt.Fprintf(stderr, "warning: Light failed on %d of %s; the first failure: %s\n", f.failed, cli.Count(f.cases, "case", "cases"), sanitize.Line(redactor.Text(f.first)))
	}
	return f.failed > 0
}

// Close closes the last host.
func (r *LightRunner) Close(ctx context.Context) {
	if r.last != nil {
		_ = r.last.Close(context.WithoutCancel(ctx))
	}
}

// Run asks Light about all entries; a Light path gets the profile.
func (r *LightRunner) Run(ctx context.Context, profile *abi.Profile, entries []docket.Entry) ([]docket.Entry, error) {
	config := run.LightConfig(*r.Config)
	config.Profile = profile
	h, err := r.Flags.Host(ctx, r.Streams, &config)
	if err != nil {
		return nil, r.Flags.Error(err)
	}
	r.Close(ctx) // only now: the hosts of a process share the modules that they compiled
	r.last = h
	var failures LightFailures
	lit, err := run.Light(ctx, h, entries, r.Workers, func(t *trial.Trial) {
		failures.Add(t)
		r.Progress.Say(fmt.Sprintf("%s: %d of %d", r.Doing, failures.cases, len(entries)))
	})
	r.Progress.Clear()
	if err == nil && !r.warned { // a fit asks Light about the same cases again and again
		r.warned = failures.Warn(r.Streams.Err, nil)
	}
	return lit, err
}

type models struct {
	file, cassette string
	concurrency    int               // of all providers together; 0 without models
	definition     *model.Definition // nil until it is read
}

// noModelCache says what keeps answers now.
const noModelCache = "use --models FILE,cassette=FILE, which records answers in a new file and plays them from an existing one"

// ModelFlags adds the flags of language models.
func (o *Flags) ModelFlags(cmd *cobra.Command) {
	m := &o.models
	cassette := cli.TextOption(&m.cassette, "cassette", "FILE", "play the models' answers from this file and ask nobody, or where there is none, record them in it")
	cli.OptionVar(cmd.Flags(), &m.file, "models", "file that says which language models answer to the names in the pipeline, and what they may cost",
		cassette, cli.RemovedOption("cache", noModelCache))
	cli.Alias(cmd.Flags(), "cassette", "models", "cassette")
	cli.RemovedFlags(cmd.Flags(), noModelCache, "model-cache")
}

// Workers is how many trials are tried at once where the user does not say: trials that wait for a model take no processor.
func (o *Flags) Workers(wanted int) int {
	if wanted > 0 || o.models.concurrency == 0 {
		return wanted
	}
	return max(runtime.GOMAXPROCS(0), o.models.concurrency)
}

func (o *Flags) openModels(h *Connected, config *host.Config) error {
	m := &o.models
	names := ModelNames(config.Pipeline)
	if m.file == "" {
		if len(names) > 0 && o.command.Flags().Lookup("models") != nil {
			fmt.Fprintf(o.command.ErrOrStderr(), "note: the pipeline %s names language models (%s); without --models nobody is asked\n",
				sanitize.Line(config.Pipeline.Pipeline), sanitize.Line(cli.OrList(names)))
		}
		return nil
	}
	definition, err := m.load()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		fmt.Fprintf(o.command.ErrOrStderr(), "warning: --models: no persona of the pipeline %s asks a model\n", sanitize.Line(config.Pipeline.Pipeline))
	}
	o.Unbound = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return definition.Models[name] != nil })
	if len(o.Unbound) > 0 {
		fmt.Fprintf(o.command.ErrOrStderr(), "warning: --models: %s has no model %s, as the pipeline names it: its personas ask nobody; the file has %s\n",
			sanitize.Line(m.file), sanitize.Line(strings.Join(o.Unbound, ", ")), sanitize.Line(strings.Join(definition.Names(), ", ")))
	}
	c := model.Config{Definition: definition}
	if m.cassette != "" {
		open := model.RecordCassette
		if disk.Exists(m.cassette) {
			open = model.PlayCassette
		}
		if c.Cassette, err = open(m.cassette); err != nil {
			return cli.InputError(fmt.Errorf("--models cassette=%s: %w", m.cassette, err))
		}
	}
	set, err := model.Open(c)
	if err != nil {
		return cli.InputError(fmt.Errorf("--models: %w", err))
	}
	h.closers = append(h.closers, set.Close)
	for _, note := range set.Notes() {
		fmt.Fprintf(o.command.ErrOrStderr(), "note: --models: %s\n", sanitize.Line(note))
	}
	for _, warning := range set.Warnings() {
		fmt.Fprintf(o.command.ErrOrStderr(), "warning: --models: %s\n", sanitize.Line(warning))
	}
	for _, p := range definition.Providers {
		m.concurrency += p.Concurrency
	}
	config.Models = set
	return nil
}

func (m *models) load() (*model.Definition, error) {
	if m.file == "" || m.definition != nil {
		return m.definition, nil
	}
	var err error
	if m.definition, err = model.Load(m.file); err != nil {
		return nil, cli.InputError(fmt.Errorf("--models: %w", err))
	}
	return m.definition, nil
}

// keyVariables are those that hold the keys of providers.
func (m *models) keyVariables() ([]string, error) {
	definition, err := m.load()
	if definition == nil {
		return nil, err
	}
	var names []string
	for _, p := range definition.Providers {
		if p.KeyEnv != "" {
			names = append(names, p.KeyEnv)
		}
	}
	return names, nil
}

// ModelNames are the names of models that personas of a pipeline ask, each once.
func ModelNames(def *pipeline.Definition) []string {
	var names []string
	for i := range def.Personas {
		for _, name := range def.Personas[i].Models {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
