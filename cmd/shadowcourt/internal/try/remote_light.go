package try

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
)

// answer has the Light path answer the cases of a report on this machine, where the source is, and gives them as a docket with its answers
// and findings: the service sees no source. Entries that can't be tried are reported here. Nil: there is nothing to submit.
func (r *remoteRun) answer(ctx context.Context, s cli.Streams, report *upload, sent *client.Submission) (*upload, error) {
	o := r.options
	body, err := report.open()
	if err != nil {
		return nil, err
	}
	inputs, err := run.One(report.name, body, o.from)
	if err != nil {
		return nil, cli.InputError(err)
	}
	if !inputs.OfTests() {
		return nil, cli.InputError(fmt.Errorf("%s: its cases bring the answers of a classifier, which reads no source; leave out --source", report.name))
	}
	inputs.Truth, sent.Truth = o.truthFromReport, false
	config, err := o.Config(inputs)
	if err != nil {
		return nil, err
	}
	help, err := o.Connect(ctx, config, inputs)
	if err != nil {
		return nil, err
	}
	defer help.Close()
	var entries []docket.Entry
	for entry, err := range inputs.Entries("") {
		if err != nil {
			r.unread(&entry, err)
			continue
		}
		entries = append(entries, entry)
	}
	sent.Format, sent.Report = "", inputs.Format()
	if len(entries) == 0 {
		fmt.Fprintf(r.stderr, "no failure in %s\n", sanitize.Line(report.name))
		return nil, ctx.Err()
	}
	light := open.LightRunner{Flags: &o.Flags, Streams: s, Config: config, Progress: r.progress, Doing: "reading the source"}
	defer light.Close(ctx)
	if entries, err = light.Run(ctx, config.Profile, entries); err != nil {
		return nil, err
	}
	return spoolCases(report.name, entries)
}

// spoolCases writes cases as a docket.
func spoolCases(name string, entries []docket.Entry) (*upload, error) {
	f, err := os.CreateTemp("", "shadowcourt-*.docket")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	answered := &upload{name: name, file: f, spooled: true}
	w := render.NewCases(f)
	for i := range entries {
		if err == nil {
			err = w.Write(&trial.Trial{Case: entries[i].Case, Truth: entries[i].Truth})
		}
	}
	info, statErr := f.Stat()
	if err == nil {
		err = statErr
	}
	if err != nil {
		answered.close()
		return nil, fmt.Errorf("keep the answers for %s: %w", name, err)
	}
	answered.size = info.Size()
	return answered, nil
}

// unread reports an entry that can't be tried, as a run on this machine does.
func (r *remoteRun) unread(entry *docket.Entry, err error) {
	local := tryRun{options: r.options, stderr: r.stderr, progress: r.progress}
	r.sum.Faults++
	local.fault(&host.Tried{Entry: *entry, Err: err}, run.Summary{Faults: r.sum.Faults})
	r.other = r.other || local.other
}

// explained finds the trial that --explain asks for, as it is found in dockets on this machine: by the id of a case, or else by its end,
// where only one case has it. A case that failed like another one is in that one's trial.
type explained struct {
	exact      bool
	ends       []*trial.Trial // whose id ends so: at most two
	passedOver []string
}

// wants says whether a trial is to be written. Without an id all are.
func (e *explained) wants(id string, t *trial.Trial) bool {
	if id == "" {
		return true
	}
	if t.Case.ID == id || slices.Contains(t.Result.Members, id) {
		e.exact = true
		return true
	}
	for _, own := range append([]string{t.Case.ID}, t.Result.Members...) {
		e.passedOver = run.PassOver(e.passedOver, own, id)
		if len(e.ends) < 2 && run.EndsWith(own, id) {
			e.ends = append(e.ends, t)
		}
	}
	return false
}

// short is the trial of the only case whose id ends as it was asked for; nil where there is none, or the id was found.
func (e *explained) short() *trial.Trial {
	if e.exact || len(e.ends) != 1 {
		return nil
	}
	return e.ends[0]
}
