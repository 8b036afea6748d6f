package open

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/repo"
)

// ServiceHosts opens hosts for dockets that were uploaded, as `try` does for files of their format. No model is asked and no source
// read; experiments are run where the operator allows them, as `try --experiments` does.
type ServiceHosts struct {
	Cache  string // folder for compiled modules, or none
	Record bool   // record trials
}

// Open opens one.
func (s ServiceHosts) Open(ctx context.Context, o *work.Opening, observe func(host.CallRecord)) (*host.Host, error) {
	config := &host.Config{Modules: o.Modules, Signed: o.Signed, Now: time.Now, Observe: observe}
	if s.Record {
		config.Record = record.ContentsReplay
	}
	if s.Cache != "none" {
		config.CacheDir = s.Cache
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
	h, err := host.Open(ctx, *config)
	var cache *host.CacheError
	if errors.As(err, &cache) && s.Cache == defaultCache() {
		config.CacheDir = ""
		h, err = host.Open(ctx, *config)
	}
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

// Laboratories run what the flags allow; nil for nothing. cache is the folder for compiled modules, or none.
func (o *Flags) Laboratories(ctx context.Context, cache string) (*work.Laboratories, error) {
	faults := []error{o.CheckExperiments()}
	switch e := &o.experiments; {
	case !o.Experiments():
		faults = append(faults, o.ChangedWithout("--experiments reruns or all", "source", "since", "repository"))
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
	if cache == "none" {
		cache = ""
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
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %s is in use at %s: another service may run there; stop it, or use --listen %s for any free port", port, address, net.JoinHostPort(host, "0"))
	}
	if err != nil {
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
