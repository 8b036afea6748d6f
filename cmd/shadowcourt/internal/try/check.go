package try

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

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
	} else {
		faults = append(faults, o.CheckSource())
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
