// Package open reads what the flags of commands name (pipelines, profiles, rubrics, modules, keys), and opens hosts and auditors on it.
package open

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/rules"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
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
	err := Cached(s.Err, o.Cache, &config.CacheDir, func() (err error) {
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

// Cached does what needs a folder for compiled modules, which a flag named, and again without it where the default one can't be used.
func Cached(stderr io.Writer, flag string, dir *string, do func() error) error {
	err := do()
	if _, unusable := errors.AsType[*host.CacheError](err); !unusable || flag != defaultCache() {
		return err
	}
	fmt.Fprintf(stderr, "warning: compiled modules can't be kept: %s\n", sanitize.Line(err.Error()))
	*dir = ""
	return do()
}

// AlibiCourt opens courts of alibis, for [investigate.Config.Open].
func (o *Flags) AlibiCourt(s cli.Streams) func(context.Context, host.Config, float64) (*alibi.Court, error) {
	return func(ctx context.Context, config host.Config, maxFalse float64) (court *alibi.Court, err error) {
		err = Cached(s.Err, o.Cache, &config.CacheDir, func() (err error) {
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
	return o.config(func() (*abi.Profile, error) { return o.loadProfile(inputs) })
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
	config := &host.Config{Now: time.Now}
	var faults []error
	var err error
	if config.Pipeline, err = Pipeline(o.Pipeline); err != nil {
		faults = append(faults, err)
	}
	if config.Profile, err = loadProfile(); err != nil {
		faults = append(faults, err)
	}
	if o.rules != "" {
		if config.Rules, err = rules.Load(o.rules); err != nil {
			faults = append(faults, err)
		}
	}
	if o.Modules != "" {
		if config.Modules, err = Modules(o.Modules); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return nil, cli.InputError(errors.Join(faults...))
	}
	if o.Cache != "none" {
		config.CacheDir = o.Cache
	}
	if o.NoCourt {
		config.Court = func(c *pipeline.Court) { c.Enabled = false }
	}
	return config, nil
}

// CacheFlag adds --cache. Its help does not name a folder of the user who built the manual.
func CacheFlag(f *pflag.FlagSet, dir *string, usage string) {
	f.StringVar(dir, "cache", defaultCache(), usage+" (default: the variable "+CacheVariable+", or else shadowcourt/modules in the user's cache folder)")
	f.Lookup("cache").DefValue = ""
}

// CacheVariable has the folder for compiled modules, or none.
const CacheVariable = "SHADOWCOURT_CACHE"

// defaultCache is that of the variable, or the user's own folder for compiled modules.
func defaultCache() string {
	if dir := os.Getenv(CacheVariable); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "none"
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
