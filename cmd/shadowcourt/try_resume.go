package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// resumeSuffix names the file beside the results of a run that was
// interrupted, which says what they depend on.
const resumeSuffix = ".resume"

// maxResumeBytes is the largest file beside results that is read.
const maxResumeBytes = 1 << 20

// resumption is what a run needs to be gone on with: its configuration, and
// what was tried before.
type resumption struct {
	path  string // of the results; empty where a run can't be resumed by them
	from  string // names what holds the results so far, the same file or a record
	parts []host.Part
	keep  bool // the file beside the results stays when the run is complete

	before   []byte                   // the results so far
	tried    []verdict                // that stand in them
	reached  tally                    // by the earlier run
	tally    tally                    // of both runs
	recorded map[string]record.Digest // cases by id, where the results are those of a record
}

// verdict is what a line of results says. The id is that of the results, where it may be redacted.
type verdict struct {
	id    string
	final docket.Final
	audit *docket.Audit // only what a gate asks of it
}

// sidecar is the content of the file beside the results.
type sidecar struct {
	Configuration []host.Part `json:"configuration"`
	tally
}

// checkResume holds --resume against the other flags.
func (o *tryOptions) checkResume() error {
	switch {
	case !o.resume:
		return nil
	case (o.output == "" || o.format != "jsonl") && o.record.file == "":
		return errors.New("--resume needs --output FILE and --format jsonl, the results to go on with, or --record FILE and --format jsonl")
	case len(o.reports) > 0 || o.explain != "":
		return errors.New("--resume can't tell a story of cases that were tried before: leave out --report and --explain")
	case len(o.canary.modules) > 0:
		return errors.New("--resume can't compare cases that were tried before: leave out --canary")
	}
	return nil
}

// resumption reads what an earlier run left. parts are the configuration.
func (o *tryOptions) resumption(parts []host.Part, recording *recording) (*resumption, error) {
	r := &resumption{}
	if recording.resumes() {
		r.from, r.recorded = o.record.file, recording.cases
		if err := r.read(recording.before); err != nil {
			return nil, fmt.Errorf("--resume: %w", err)
		}
		return r, nil
	}
	if o.format != "jsonl" || o.output == "" || o.explain != "" {
		return r, nil
	}
	if info, err := os.Stat(o.output); err == nil && !info.Mode().IsRegular() {
		return r, nil
	}
	r.path, r.from, r.parts, r.keep = o.output, o.output, parts, o.resume
	if !o.resume {
		return r, nil
	}
	before, err := os.ReadFile(o.output)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil // there is nothing to go on with: a first run
	}
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	if err := r.compare(); err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	if err := r.read(before); err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	if len(r.tried) != r.tally.Cases {
		return nil, fmt.Errorf("--resume: %s has %s, and %s tells of %d", r.path, count(len(r.tried), "result", "results"), r.path+resumeSuffix, r.tally.Cases)
	}
	return r, nil
}

// compare refuses results of another configuration, and says what is another.
func (r *resumption) compare() error {
	f, err := os.Open(r.path + resumeSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not of a run that was interrupted: there is no %s", r.path, r.path+resumeSuffix)
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxResumeBytes))
	if err != nil {
		return err
	}
	var old sidecar
	if err := json.Unmarshal(data, &old); err != nil {
		return fmt.Errorf("%s: %w", r.path+resumeSuffix, err)
	}
	if other := differing(old.Configuration, r.parts); len(other) > 0 {
		return fmt.Errorf("%s is of another configuration: another %s", r.path, strings.Join(other, ", another "))
	}
	r.reached, r.tally = old.tally, old.tally
	return nil
}

// differing names the parts that are not the same, or only in one list.
func differing(a, b []host.Part) []string {
	var names []string
	for _, list := range [][2][]host.Part{{a, b}, {b, a}} {
		for _, p := range list[0] {
			if !slices.Contains(list[1], p) && !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// read takes the results of the earlier run.
func (r *resumption) read(before []byte) error {
	number := 0
	for line := range bytes.Lines(before) {
		number++
		var result struct {
			ID    string `json:"id"`
			Final struct {
				Status         docket.Status `json:"status"`
				Classification *string       `json:"classification"`
				Confidence     float64       `json:"confidence"`
			} `json:"final"`
			Audit *struct {
				SecurityViolationFound bool `json:"security_violation_found"`
				Degraded               bool `json:"degraded"`
			} `json:"audit"`
		}
		if err := json.Unmarshal(line, &result); err != nil || result.ID == "" || result.Final.Status == "" || line[len(line)-1] != '\n' {
			return fmt.Errorf("%s:%d is no result", r.from, number)
		}
		final := docket.Final{Status: result.Final.Status, Confidence: result.Final.Confidence}
		if c := result.Final.Classification; c != nil {
			final.Classification = *c
		}
		v := verdict{id: result.ID, final: final}
		if a := result.Audit; a != nil {
			v.audit = &docket.Audit{SecurityViolationFound: a.SecurityViolationFound, Degraded: a.Degraded}
		}
		r.tried = append(r.tried, v)
	}
	r.before = before
	return nil
}

// sayRecorded says of results on the standard output which ones are not among
// them: nobody knows how many of the last ones in the record were given.
func (o *tryOptions) sayRecorded(stderr io.Writer, r *resumption) {
	if o.output == "" && r.recorded != nil && len(r.tried) > 0 {
		fmt.Fprintf(stderr, "%s has %s of an earlier run, not given again here; the last may never have been given: --output FILE gives all\n",
			inertLine(r.from), count(len(r.tried), "result", "results"))
	}
}

// end leaves beside the results what they depend on, if the run can be gone on
// with, and else nothing.
func (r *resumption) end(interrupted bool) error {
	if r.path == "" {
		return nil
	}
	name := r.path + resumeSuffix
	if !interrupted && !r.keep {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.MarshalIndent(sidecar{r.parts, r.tally}, "", " ")
	if err != nil {
		return err
	}
	return writeFile(name, append(data, '\n'))
}
