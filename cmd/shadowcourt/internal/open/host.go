// Package open reads what the flags of commands name (pipelines, profiles, rubrics, modules, keys), and opens hosts and auditors on it.
package open

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/rules"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// Flags are the flags by which commands open a host.
type Flags struct {
	Trust             Trust
	command           *cobra.Command
	Pipeline, Profile string
	Modules, Cache    string
	Light             string
	lightTimeout      time.Duration
	Source, Since     string
	// Strict says that a run in which experiments can't be run as asked ends with an error, TryAll that the court tries, with experiments, what
	// Light is sure of, too.
	Strict, TryAll bool
	// Progress gets what runs; safe for concurrent use.
	Progress func(experiment.Progress)
	// Unbound are the names in the pipeline that no model of --models answers to; none without --models.
	Unbound         []string
	repository      string // of the service's dockets that may run experiments
	casebook, rules string
	Remember        bool
	NoCourt         bool
	grants          []string
	experiments     experiments
	looked          *lookedAt // nil without a source
	models          models
}

// Host opens the host. The default folder for compiled modules is only a help: where it can't be used, the modules are compiled again.
func (o *Flags) Host(ctx context.Context, s cli.Streams, config *host.Config) (*host.Host, error) {
	if err := o.Complete(ctx, config); err != nil {
		return nil, err
	}
	var h *host.Host
	err := Cached(s.Err, &config.CacheDir, func() (err error) {
		h, err = host.Open(ctx, *config)
		return err
	})
	if err != nil || config.Pipeline == nil || IsShipped(o.Pipeline) {
		return h, err
	}
	// A module that rejects its parameters would make every trial a mistrial.
	if err = cli.InputError(module.CheckParams(ctx, config.Pipeline, config.Modules, config.CacheDir)); err != nil {
		return nil, errors.Join(err, h.Close(context.WithoutCancel(ctx)))
	}
	return h, nil
}

// Cached does what needs a folder for compiled modules, and again without it where the default one can't be used.
func Cached(stderr io.Writer, dir *string, do func() error) error {
	err := do()
	if _, unusable := errors.AsType[*host.CacheError](err); !unusable || *dir != defaultCache() {
		return err
	}
	fmt.Fprintf(stderr, "warning: compiled modules can't be kept: %s\n", sanitize.Line(err.Error()))
	*dir = ""
	return do()
}

// AlibiCourt opens courts of alibis, for [investigate.Config.Open].
func (o *Flags) AlibiCourt(s cli.Streams) func(context.Context, host.Config, float64) (*alibi.Court, error) {
	return func(ctx context.Context, config host.Config, maxFalse float64) (court *alibi.Court, err error) {
		err = Cached(s.Err, &config.CacheDir, func() (err error) {
			court, err = alibi.Open(ctx, config, maxFalse)
			return err
		})
		return court, o.Error(err)
	}
}

// Error says whose fault it is that the host did not open.
func (o *Flags) Error(err error) error {
	from := "embedded modules"
	if o.Modules != "" {
		from = "--modules " + o.Modules
	}
	ofInput, missing, named := rejected(err, from)
	if _, candidate := errors.AsType[*host.CandidateError](err); !ofInput && !candidate {
		return err
	}
	if missing && o.Modules != "" {
		named = fmt.Errorf("%w\na folder of --modules has all modules that the pipeline names; `shadowcourt plugin export DIR` writes "+
			"the embedded ones: put yours beside them, or in the place of some", named)
	}
	return cli.InputError(named)
}

// rejected names the folder for compiled modules, or the place of modules that were rejected, in an error about them; others stay. It says
// whether it is one about them, and whether a module is missing.
func rejected(err error, from string) (ofInput, missing bool, named error) {
	if _, ok := errors.AsType[*host.CacheError](err); ok {
		return true, false, fmt.Errorf("--cache: %w", err)
	}
	modules, ok := errors.AsType[*host.RejectedError](err)
	if !ok {
		return false, false, err
	}
	var faults []error
	for _, fault := range modules.Faults {
		faults = append(faults, fmt.Errorf("%s: %s", from, fault))
		missing = missing || fault.Code == "missing_module"
	}
	return true, missing, errors.Join(faults...)
}

// Config gathers what the host is opened on.
func (o *Flags) Config(inputs *run.Dockets) (*host.Config, error) {
	return o.config(func() (*abi.Profile, error) {
		switch {
		case o.Profile == "" && inputs.Only(run.GoTest):
			return shippedProfile(GoTestProfile)
		case o.Profile == "" && (o.Experiments() || inputs.OfRunners()):
			return ExperimentProfile()
		}
		return namedProfile(o.Profile)
	})
}

// ConfigOf is Config for a host that gets its cases later: those of reports of tests, or others.
func (o *Flags) ConfigOf(reports bool) (*host.Config, error) {
	config, err := o.config(func() (*abi.Profile, error) {
		name := o.Profile
		if name == "" && reports {
			name = GoTestProfile
		}
		return namedProfile(name)
	})
	if err == nil && reports {
		config.LightPath, err = Pipeline(ShippedLight)
	}
	return config, err
}

func (o *Flags) config(loadProfile func() (*abi.Profile, error)) (*host.Config, error) {
	config := &host.Config{Now: time.Now, CacheDir: o.Cache}
	var faults [4]error
	config.Pipeline, faults[0] = Pipeline(o.Pipeline)
	config.Profile, faults[1] = loadProfile()
	if o.rules != "" {
		config.Rules, faults[2] = rules.Load(o.rules)
	}
	if o.Modules != "" {
		config.Modules, faults[3] = Modules(o.Modules)
	}
	if err := errors.Join(faults[:]...); err != nil {
		return nil, cli.InputError(err)
	}
	if o.NoCourt {
		config.Court = func(c *pipeline.Court) { c.Enabled = false }
	}
	return config, nil
}

// CacheFlag adds --cache. Its help does not name a folder of the user who built the manual.
func CacheFlag(f *pflag.FlagSet, dir *string, usage string) {
	*dir = defaultCache()
	usage += " (default: the variable " + CacheVariable + ", or else shadowcourt/modules in the user's cache folder)"
	f.VarPF((*cacheDir)(dir), "cache", "", usage).DefValue = ""
}

// cacheDir is the value of --cache: a folder, or empty for none.
type cacheDir string

func (*cacheDir) Type() string     { return "string" }
func (d *cacheDir) String() string { return cmp.Or(string(*d), "none") }

// Set takes the name of a folder, or none.
func (d *cacheDir) Set(name string) error {
	if *d = cacheDir(name); name == "none" {
		*d = ""
	}
	return nil
}

// CacheVariable has the folder for compiled modules, or none.
const CacheVariable = "SHADOWCOURT_CACHE"

// defaultCache is that of the variable, or the user's own folder for compiled modules; empty for none.
func defaultCache() string {
	dir, err := os.UserCacheDir()
	switch named := os.Getenv(CacheVariable); {
	case named == "none", named == "" && err != nil:
		return ""
	case named != "":
		return named
	}
	return filepath.Join(dir, "shadowcourt", "modules")
}

// GrantFlag adds those of the commands that open a host.
func (o *Flags) GrantFlag(cmd *cobra.Command) {
	o.Trust.Flags(cmd)
	cmd.Flags().StringArrayVar(&o.grants, "grant", nil, "PERSONA=CAPABILITY: grant what the pipeline does not ("+cli.Join(pipeline.Capabilities())+"); may be repeated")
}

// PipelineFlag is --pipeline with what changes the court that the file describes.
func (o *Flags) PipelineFlag(cmd *cobra.Command) {
	f := cmd.Flags()
	o.Pipeline = ShippedPipeline
	cli.OptionVar(f, &o.Pipeline, "pipeline", "pipeline file, or the name of the shipped one",
		cli.BoolOption(&o.NoCourt, "no-court", "hold no court: Light's answers stand"),
		cli.ListOption(&o.grants, "grant", "PERSONA=CAPABILITY", "grant what the pipeline does not ("+cli.Join(pipeline.Capabilities())+"); may be repeated"),
		cli.TextOption(&o.Trust.Policy, "trust", "FILE", trustUsage),
		cli.BoolOption(&o.Trust.Locked, "locked", lockedUsage))
	for _, option := range []string{"grant", "trust", "locked"} {
		cli.Alias(f, option, "pipeline", option)
	}
}

// Complete adds the grants of the command line to those of the pipelines, in whose configuration they then are, and fetches the modules that
// the pipelines name by references.
func (o *Flags) Complete(ctx context.Context, config *host.Config) error {
	if err := o.grant(config); err != nil {
		return err
	}
	if config.Candidate != nil {
		if err := o.Trust.local("--with"); err != nil {
			return err
		}
	}
	defs := []*pipeline.Definition{config.Pipeline, config.LightPath}
	if config.Rules != nil {
		def, err := pipeline.LoadFS(pipelines.FS, pipelines.Rules)
		if err != nil {
			return err
		}
		defs = append(defs, def)
	}
	fetched, err := o.Trust.Fetch(ctx, o.Pipeline, config.Modules, nil, defs...)
	if err != nil {
		return err
	}
	config.Modules, config.Signed = fetched.Modules, fetched.Signed
	return nil
}

func (o *Flags) grant(config *host.Config) error {
	var faults []error
	for _, word := range o.grants {
		id, capability, ok := strings.Cut(word, "=")
		if !ok || !slices.Contains(pipeline.Capabilities(), abi.Capability(capability)) {
			faults = append(faults, fmt.Errorf("--grant %q: use PERSONA=CAPABILITY, with %s", word, cli.OrList(cli.Words(pipeline.Capabilities()))))
			continue
		}
		found, known := false, []string(nil)
		for _, def := range []*pipeline.Definition{config.Pipeline, config.LightPath} {
			if def == nil {
				continue
			}
			for i := range def.Personas {
				known = append(known, def.Personas[i].ID)
			}
			if p, ok := def.Persona(id); ok {
				found = true
				if c := abi.Capability(capability); !slices.Contains(p.Grants, c) {
					p.Grants = append(slices.Clip(p.Grants), c)
				}
			}
		}
		if !found {
			faults = append(faults, fmt.Errorf("--grant %q: there is no persona %q: use %s", word, id, cli.OrList(known)))
		}
	}
	return cli.InputError(errors.Join(faults...))
}

const (
	// ShippedAudit is the name of the audit's pipeline.
	ShippedAudit = "audit"
	// ShippedAlibi is the name of the pipeline and of the profile of alibis.
	ShippedAlibi = "alibi"
	// ShippedRubric is the name of the rubric for opinions of courts.
	ShippedRubric = "court-opinions"
	// rubricFolder has the shipped rubrics.
	rubricFolder = "rubrics"
)

// ShippedPipeline is the name under which the embedded pipeline can be given in place of a file.
const ShippedPipeline = "defect-court"

// ShippedLight is the embedded Light path, by the same way of naming.
const ShippedLight = "rca-investigation"

// ShippedModels is the embedded pipeline in which every side of the court asks a language model.
const ShippedModels = "llm-court"

// shippedPipelines are the names of the embedded ones.
var shippedPipelines = []string{ShippedPipeline, ShippedAlibi, ShippedLight, ShippedAudit, ShippedModels, "llm-discovery"}

// IsShipped says whether a name is that of an embedded pipeline.
func IsShipped(name string) bool { return slices.Contains(shippedPipelines, name) }

// PipelineFile is the file of --pipeline; none where the pipeline is a shipped one.
func PipelineFile(name string) cli.NamedFile { return definitionFile("--pipeline", "", name) }

// Pipeline reads a pipeline file, or the embedded one by its name.
func Pipeline(path string) (*pipeline.Definition, error) {
	if IsShipped(path) {
		def, err := pipeline.LoadFS(pipelines.FS, path+".yaml")
		if err != nil {
			return nil, fmt.Errorf("the shipped pipeline: %w", err)
		}
		return def, nil
	}
	if isPlain(path) && !disk.Exists(path) {
		return nil, cli.InputError(fmt.Errorf("%q is neither a file nor a shipped pipeline (%s)", path, strings.Join(shippedPipelines, ", ")))
	}
	def, err := pipeline.Load(path)
	return def, cli.InputError(err)
}

// RubricFile is the file of --rubric; none where the rubric is a shipped one.
func RubricFile(name string) cli.NamedFile { return definitionFile("--rubric", rubricFolder, name) }

// Rubric reads a rubric file, or a shipped one by its name.
func Rubric(name string) (*audit.Rubric, error) {
	switch {
	case isShipped(rubricFolder, name):
		return audit.LoadFS(pipelines.FS, rubricFolder+"/"+name+".yaml")
	case isPlain(name) && !disk.Exists(name):
		return nil, fmt.Errorf("--rubric %q is neither a file nor a shipped rubric (%s)", name, ShippedRubric)
	}
	return audit.Load(name)
}

const (
	// GoTestProfile is the name of the shipped profile for failures of Go tests.
	GoTestProfile = "go-test"
	// noProfile is what --profile takes in place of a profile.
	noProfile = "none"
	// profileFolder has the shipped profiles.
	profileFolder = "profiles"
)

// namedProfile reads a file or a shipped profile; none without a name.
func namedProfile(name string) (*abi.Profile, error) {
	if name == "" || name == noProfile {
		return nil, nil //nolint:nilnil // no profile is asked for
	}
	if isShipped(profileFolder, name) {
		return shippedProfile(name)
	}
	profile, err := module.LoadProfile(name)
	if errors.Is(err, fs.ErrNotExist) && isPlain(name) {
		return nil, fmt.Errorf("--profile %q is neither a file nor a shipped profile (%s)", name, GoTestProfile)
	}
	return profile, err
}

func shippedProfile(name string) (*abi.Profile, error) {
	file := profileFolder + "/" + name + ".yaml"
	data, err := fs.ReadFile(pipelines.FS, file)
	if err != nil {
		return nil, err
	}
	return module.ParseProfile(file, data)
}

// ExperimentProfile is a profile that says what runs tell, whatever language the tests are in, and how common causes are, and nothing else.
func ExperimentProfile() (*abi.Profile, error) {
	p, err := shippedProfile(GoTestProfile)
	if err != nil {
		return nil, err
	}
	return &abi.Profile{Name: "experiments", BaseRates: p.BaseRates, Outcomes: p.Outcomes}, nil
}

// WarnOfProfile tells what a profile lacks that was made for other cases than those that were tried with it.
func WarnOfProfile(stderr io.Writer, c *module.ProfileCoverage) {
	for _, warning := range c.Warnings() {
		fmt.Fprintf(stderr, "warning: --profile: %s\n", sanitize.Line(warning))
	}
}

// File reads a module, or a manifest, which is smaller.
func File(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return module.Read(f, name)
}

// Module reads a file, or an embedded module when the name is none's.
func Module(name string) ([]byte, error) {
	wasm, err := File(name)
	if err == nil || filepath.Base(name) != name || strings.Contains(name, ".") {
		return wasm, cli.InputError(err)
	}
	modules, embedErr := bundle.FS()
	if embedErr != nil {
		return nil, embedErr
	}
	if wasm, embedErr = fs.ReadFile(modules, name+".wasm"); embedErr != nil {
		return nil, cli.InputError(fmt.Errorf("%s is neither a file nor an embedded module", name))
	}
	return wasm, nil
}

// Modules is a folder of modules; empty means the embedded ones.
func Modules(dir string) (fs.FS, error) {
	if dir == "" {
		return bundle.FS()
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, cli.InputError(fmt.Errorf("--modules: %w", err))
	}
	if !info.IsDir() {
		return nil, cli.InputError(fmt.Errorf("--modules: %s is no folder", dir))
	}
	return os.DirFS(dir), nil
}

// WithEmbedded has the files of a folder before those that are embedded, so that a judge needs no copy of all others beside it.
func WithEmbedded(own fs.FS) (fs.FS, error) {
	embedded, err := bundle.FS()
	return overlay{own, embedded}, err
}

type overlay struct{ own, embedded fs.FS }

// Open opens a file of the folder, or the embedded one.
func (o overlay) Open(name string) (fs.File, error) {
	f, err := o.own.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.embedded.Open(name)
	}
	return f, err
}

// NamedModules reads the files of NAME=FILE words. flag is for messages.
func NamedModules(flag string, words []string) (map[string][]byte, error) {
	modules := make(map[string][]byte, len(words))
	var faults []error
	for _, word := range words {
		switch name, file, ok := strings.Cut(word, "="); {
		case !ok || name == "" || file == "":
			faults = append(faults, fmt.Errorf("%s%q: use NAME=FILE", flag, word))
		case modules[name] != nil:
			faults = append(faults, fmt.Errorf("%s%s: two files for one name", flag, name))
		default:
			var err error
			if modules[name], err = File(file); err != nil {
				faults = append(faults, fmt.Errorf("%s%w", flag, err))
			}
		}
	}
	return modules, errors.Join(faults...)
}

// InputFiles are the files that a command with these flags reads.
func (o *Flags) InputFiles(dockets []string) []cli.NamedFile {
	profile := cli.File("--profile", "")
	if o.Profile != noProfile {
		profile = definitionFile("--profile", profileFolder, o.Profile)
	}
	own := []cli.NamedFile{PipelineFile(o.Pipeline), profile, cli.File("--casebook", o.casebook), cli.File("--rules", o.rules)}
	return slices.Concat(own, ModuleFiles(o.Modules), ArgumentFiles("the docket", dockets))
}

// definitionFile is the file of a flag that takes a pipeline, a profile or a rubric: none where the name is that of a shipped
// one, which stands in a folder of [pipelines.FS].
func definitionFile(flag, folder, name string) cli.NamedFile {
	if isShipped(folder, name) {
		name = ""
	}
	return cli.File(flag, name)
}

// isPlain says whether a name may be that of a shipped definition: it looks like no file.
func isPlain(name string) bool { return !strings.ContainsAny(name, `./\`) }

func isShipped(folder, name string) bool {
	_, err := fs.Stat(pipelines.FS, path.Join(folder, name+".yaml"))
	return err == nil && isPlain(name)
}

// ModuleFiles are the files of --modules.
func ModuleFiles(dir string) []cli.NamedFile {
	if dir == "" {
		return nil
	}
	var files []cli.NamedFile
	entries, _ := os.ReadDir(dir) // what is wrong with the folder is told when it is used
	for _, entry := range entries {
		files = append(files, cli.File("a module of --modules", filepath.Join(dir, entry.Name())))
	}
	return files
}

// ArgumentFiles are the files that arguments name, but for the standard input.
func ArgumentFiles(what string, args []string) []cli.NamedFile {
	var files []cli.NamedFile
	for _, name := range args {
		if name != "-" {
			files = append(files, cli.File(what, name))
		}
	}
	return files
}

// Results are what was found on this machine, for a docket service: they are collected while a run goes on, and sent at its end. It is a writer of trials. One goroutine uses it.
type Results struct {
	client *wire.Client
	lines  bytes.Buffer
	trials int
}

// NewResults connects to a service, and makes sure that results may be sent to it, before anything runs.
func NewResults(ctx context.Context, stderr io.Writer, server, program string) (*Results, error) {
	c, err := Client(stderr, server, wire.ClientConfig{Program: program})
	if err != nil {
		return nil, err
	}
	me, err := c.Me(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, cli.ErrInterrupted
	case err != nil:
		return nil, Rejection(err)
	case !me.Can("submit"):
		return nil, cli.InputError(fmt.Errorf("%s: the token of %s lacks the scope submit", c.Server(), me.Name))
	}
	return &Results{client: c}, nil
}

// Rejection is an error of the command line where the service rejects what was sent.
func Rejection(err error) error {
	if rejected, ok := errors.AsType[*wire.Error](err); ok && rejected.Rejected() {
		return cli.InputError(err)
	}
	return err
}

// Write adds a trial.
func (r *Results) Write(t *trial.Trial) error { return r.Add(t, nil, 0) }

// Close does nothing: see [Results.Send].
func (r *Results) Close() error { return nil }

// Add adds a trial with its answer of the alibi.
func (r *Results) Add(t *trial.Trial, a *alibi.Answer, took time.Duration) error {
	p, err := wire.NewPushed(t, a, took.Seconds())
	if err == nil {
		err = wire.WritePush(&r.lines, p)
	}
	if r.trials++; err == nil && (r.lines.Len() > wire.MaxPushBytes || r.trials > wire.MaxPushTrials) {
		err = fmt.Errorf("--server: the results are too many: %w", wire.ErrPushTooLarge)
	}
	return err
}

// Send sends the results behind their head, and record behind them, and says where they are. Without results it does nothing.
func (r *Results) Send(ctx context.Context, stderr io.Writer, s *wire.Submission, head wire.Push, record []byte) error {
	if r.trials == 0 {
		return nil
	}
	head.Format, head.Trials = wire.PushFormat, r.trials
	var first bytes.Buffer
	if err := wire.WritePush(&first, &head); err != nil {
		return err
	}
	body := slices.Concat(first.Bytes(), r.lines.Bytes(), record)
	if s.Format = "results"; s.Key == "" {
		sum := sha256.Sum256(body)
		s.Key = "push-" + hex.EncodeToString(sum[:])
	}
	d, _, err := r.client.Submit(ctx, s, body)
	if err != nil {
		return fmt.Errorf("the results were not sent: %w", Rejection(err))
	}
	fmt.Fprintf(stderr, "docket %d: %s\n", d.ID, sanitize.Line(fmt.Sprintf("%s/dockets/%d", r.client.Server(), d.ID)))
	return nil
}

// CheckServerText rejects what can't describe a docket.
func CheckServerText(option, text string) error {
	const most = 200
	if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return fmt.Errorf("--server %s: use no control characters", option)
	}
	return cli.Fault(utf8.RuneCountInString(text) > most, "--server %s: use at most %d characters", option, most)
}

// AuditorFlags are those by which an Auditor is opened.
type AuditorFlags struct {
	Trust                                   *Trust
	Rubric, Pipeline, Modules, Cache, Store string
	// Beside is the file beside which the lock file stands. Default: the pipeline, or the rubric where that is a shipped one.
	Beside string
}

// Auditor opens an Auditor. Errors that are the command line's fault say so.
func Auditor(ctx context.Context, s cli.Streams, f AuditorFlags) (*host.Auditor, error) {
	config := host.AuditConfig{Now: time.Now, CacheDir: f.Cache}
	var faults [3]error
	config.Rubric, faults[0] = Rubric(f.Rubric)
	config.Pipeline, faults[1] = Pipeline(f.Pipeline)
	if f.Modules != "" {
		var err error
		config.Modules, faults[2] = Modules(f.Modules)
		if config.Modules, err = WithEmbedded(config.Modules); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(faults[:]...); err != nil {
		return nil, cli.InputError(err)
	}
	beside := cmp.Or(f.Beside, f.Pipeline)
	if IsShipped(beside) {
		beside = f.Rubric
	}
	fetched, err := f.Trust.Fetch(ctx, beside, config.Modules, config.Rubric, config.Pipeline)
	if err != nil {
		return nil, err
	}
	config.Modules, config.Signed = fetched.Modules, fetched.Signed
	if f.Store != "" {
		config.Store = record.OpenStore(f.Store)
	}
	var a *host.Auditor
	err = Cached(s.Err, &config.CacheDir, func() (err error) {
		a, err = host.OpenAuditor(ctx, config)
		return err
	})
	if err != nil {
		return nil, AuditorError(err, f.Modules)
	}
	if err := a.Probe(ctx); err != nil {
		_ = a.Close(context.WithoutCancel(ctx))
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, cli.InputError(err)
	}
	return a, nil
}

// AuditorError says whose fault it is that an Auditor did not take modules.
func AuditorError(err error, modules string) error {
	from := "embedded modules"
	if modules != "" {
		from = "--modules " + modules + " and embedded"
	}
	_, _, err = rejected(err, from)
	return cli.InputError(err)
}

// What `audit --fail-on` matches.
const (
	failSecurity = "security"
	failDegraded = "degraded"
)

// AuditFailures are the words of `audit --fail-on`.
var AuditFailures = []string{failSecurity, failDegraded} //nolint:gochecknoglobals // constant

// AuditFails says whether an audit is one of AuditFailures.
func AuditFails(a *trial.Audit, word string) bool {
	return word == failSecurity && a.SecurityViolationFound || word == failDegraded && a.Degraded
}
