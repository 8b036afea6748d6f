package open

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// models are the flags of language models.
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

// checkModels rejects flags of models without models.
func (o *Flags) checkModels() error {
	if o.models.file != "" || o.models.cassette == "" {
		return nil
	}
	return errors.New("--models: name the file of models before its options")
}

// Workers is how many trials are tried at once where the user does not say: trials that wait for a model take no processor.
func (o *Flags) Workers(wanted int) int {
	if wanted > 0 || o.models.concurrency == 0 {
		return wanted
	}
	return max(runtime.GOMAXPROCS(0), o.models.concurrency)
}

// openModels opens the models of a file.
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

// load reads the file of models, once.
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
