package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// goTestProfile is the shipped profile for failures of Go tests.
const goTestProfile = "go-test"

// check holds the flags against what they may be; all faults come at once.
func (o *tryOptions) check() (*failOn, error) {
	var faults []error
	oneOf := func(flag, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			faults = append(faults, fmt.Errorf("--%s %q: use %s", flag, value, strings.Join(allowed, ", ")))
		}
	}
	oneOf("from", o.from, formatAuto, formatJSONL, formatGoTest)
	oneOf("light", o.light, "docket")
	oneOf("format", o.format, "table", "json", "jsonl")
	if o.report != "" {
		oneOf("report", strings.ToLower(path.Ext(o.report)), ".html", ".md")
	}
	if o.workers < 0 {
		faults = append(faults, fmt.Errorf("--workers %d: use 0 or more", o.workers))
	}
	match, err := parseFailOn(o.failOn)
	return match, errors.Join(append(faults, err)...)
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
			return host.ParseProfile(file, data)
		}
	}
	return host.LoadProfile(name)
}

// failOn says for which results the command ends with its own exit code.
type failOn struct {
	statuses []docket.Status
	labels   []string
}

func parseFailOn(list []string) (*failOn, error) {
	f := &failOn{}
	var faults []error
	for _, word := range list {
		word = strings.TrimSpace(word)
		if label, ok := strings.CutPrefix(word, "label:"); ok && label != "" {
			f.labels = append(f.labels, label)
			continue
		}
		if !slices.Contains(docket.Statuses(), docket.Status(word)) {
			faults = append(faults, fmt.Errorf("--fail-on %q: use a status (%s) or label:ID", word, join(docket.Statuses())))
			continue
		}
		f.statuses = append(f.statuses, docket.Status(word))
	}
	return f, errors.Join(faults...)
}

func (f *failOn) matches(r *docket.Result) bool {
	return slices.Contains(f.statuses, r.Final.Status) ||
		r.Final.Classification != "" && slices.Contains(f.labels, r.Final.Classification)
}
