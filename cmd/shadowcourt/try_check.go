package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// goTestProfile is the shipped profile for failures of Go tests.
const goTestProfile = "go-test"

// check reports all faults of the flags at once.
func (o *tryOptions) check(dockets []string) (*failOn, *docket.Redactor, error) {
	var faults []error
	oneOf := func(flag, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			faults = append(faults, fmt.Errorf("--%s %q: use %s", flag, value, orList(allowed)))
		}
	}
	oneOf("from", o.from, formats()...)
	faults = append(faults, o.checkLight(), o.checkResume(), o.checkWatch(), o.checkRecord(), o.canary.check(), o.audit.check())
	oneOf("format", o.format, "table", "json", "jsonl")
	for _, name := range o.reports {
		if ext := strings.ToLower(filepath.Ext(name)); ext != ".html" && ext != ".md" {
			faults = append(faults, fmt.Errorf("--report %q: use a name that ends in .html or .md", name))
		}
	}
	if o.workers < 0 {
		faults = append(faults, fmt.Errorf("--workers %d: use 0 or more", o.workers))
	}
	if o.cases != "" && len(o.redact) > 0 {
		faults = append(faults, errors.New("--cases writes the cases as they are: leave out --redact"))
	}
	match, err := parseFailOn(o.failOn, o.audit.on, o.knownLabels())
	faults = append(faults, err)
	redactor, err := docket.NewRedactor(o.redact)
	if err != nil {
		faults = append(faults, fmt.Errorf("--redact: %w", err))
	}
	return match, redactor, errors.Join(append(faults, o.checkFiles(dockets))...)
}

// knownLabels are those of the pipeline, and those that the readers of test reports give.
func (o *tryOptions) knownLabels() []string {
	labels := gotest.Labels()
	if def, err := loadPipeline(o.pipeline); err == nil { // what is wrong with it is told when it is used
		for i := range def.Labels {
			labels = append(labels, def.Labels[i].ID)
		}
	}
	return labels
}

// checkFiles rejects an output that is also an input, and two outputs to one file.
func (o *tryOptions) checkFiles(dockets []string) error {
	inputs := []namedFile{
		{"--pipeline", o.pipeline},
		{"--profile", o.profile},
		{"--casebook", o.casebook},
		{"--key", o.record.key},
		{"--rubric", o.audit.rubric},
	}
	for _, d := range dockets {
		if d != "-" {
			inputs = append(inputs, namedFile{"the docket", d})
		}
	}
	var outputs []namedFile
	if o.output != "" {
		outputs = append(outputs, namedFile{"--output", o.output})
	}
	for _, name := range o.reports {
		outputs = append(outputs, namedFile{"--report", name})
	}
	if o.cases != "" {
		outputs = append(outputs, namedFile{"--cases", o.cases})
	}
	if o.canary.output != "" {
		outputs = append(outputs, namedFile{"--canary-output", o.canary.output})
	}
	if o.record.file != "" {
		outputs = append(outputs, namedFile{"--record", o.record.file})
	}
	if name := o.journalName(); name != "" {
		outputs = append(outputs, namedFile{"the journal of this run", name})
	}
	return checkOverwrites(inputs, outputs)
}

// orList joins words as "a, b or c".
func orList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// loadProfile reads the profile: a file, a shipped one by its name, or none.
func (o *tryOptions) loadProfile(inputs *inputs) (*abi.Profile, error) {
	name := o.profile
	if name == "" && inputs.only(formatGoTest) {
		name = goTestProfile
	}
	if name == "" || name == "none" {
		return nil, nil //nolint:nilnil // no profile is asked for
	}
	if !strings.ContainsAny(name, `./\`) {
		file := "profiles/" + name + ".yaml"
		if data, err := fs.ReadFile(pipelines.FS, file); err == nil {
			return profile.Parse(file, data)
		}
	}
	profile, err := profile.Load(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, `./\`) {
		return nil, fmt.Errorf("--profile %q is neither a file nor a shipped profile (%s)", name, goTestProfile)
	}
	return profile, err
}
